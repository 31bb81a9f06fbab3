package flow

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/config"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/durable"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/publish"
)

// prepared is everything that is found out before the first command of the suite
// runs, and that no command may change: whom the verdict is told to, what it is
// compared with, which budgets count. A step that measures holds no token; the
// step that judges afterwards takes this from the file that the first step wrote,
// and knows by the digest in the runner's memory that it is that file.
type prepared struct {
	preparedFile
	shard      string       // of the matrix that is judged; "": all of it
	all        bool         // sessions of every machine and shard are wanted: nothing is compared
	base       *config.File // suite file of the comparison commit; nil: there is none
	candidates []baseline.Candidate
}

// known reports whether anything was prepared: a step that is not told the digest
// of it knows nothing.
func (p *prepared) known() bool { return p.Mode != "" }

// preparedSchema is the tag of prepared.json. It is ours alone: no schema of it
// is published.
const preparedSchema = "perfweir.prepared/v1"

// preparedFile is prepared.json.
type preparedFile struct {
	Schema     string         `json:"schema"`
	Mode       string         `json:"mode"`
	Event      string         `json:"event"`
	Target     publish.Target `json:"target"`
	Comparison comparison     `json:"comparison"`
	Workflow   string         `json:"workflow,omitempty"` // file of the run that measured, where it is another's
	Branch     string         `json:"branch,omitempty"`   // that the change goes into, where the event does not say it
	Judged     judgedBy       `json:"judged"`
	Head       judgedBy       `json:"head,omitzero"` // suite file of what was measured, where that is not checked out
	Baseline   foundBaseline  `json:"baseline"`
	Anchor     string         `json:"anchor,omitempty"` // full hash of the rules' baseline.anchor; empty: none, or unknown
	CheckRun   int64          `json:"check_run,omitempty"`
	Proceed    bool           `json:"proceed"` // false: there is nothing left to do
	Why        string         `json:"why,omitempty"`
}

// judgedBy is the suite file of a commit.
type judgedBy struct {
	Path string `json:"path"`
	Text []byte `json:"text,omitempty"` // nil: the commit has none
	Why  string `json:"why,omitempty"`  // why it does not decide, where it does not
}

// foundBaseline is what the walk through earlier sessions found.
type foundBaseline struct {
	Origin     string           `json:"origin"`
	Failed     string           `json:"failed,omitempty"` // why it could not be asked for
	Warnings   []string         `json:"warnings,omitempty"`
	Candidates []foundCandidate `json:"candidates,omitempty"`
}

// foundCandidate is one of them: a file with its digest, or why it was not taken.
type foundCandidate struct {
	Label string `json:"label"`
	File  string `json:"file,omitempty"` // in the folder's baseline/
	SHA   string `json:"sha256,omitempty"`
	Why   string `json:"why,omitempty"`
	// Refresh is what should have left a session there.
	Refresh string `json:"refresh,omitempty"`
}

// files are the names of what was found, in baseline/.
func (f foundBaseline) files() (names []string) {
	for _, c := range f.Candidates {
		if c.File != "" {
			names = append(names, filepath.Base(c.File))
		}
	}
	return names
}

// preparedBytes bounds prepared.json; baselines are in files of their own.
const preparedBytes = 16 << 20

// save writes what was prepared into an output folder and returns its digest.
func (p *prepared) save(out *output) (digest string, err error) {
	if err := os.MkdirAll(out.path(durable.Baseline), 0o755); err != nil {
		return "", fmt.Errorf("keep the baseline: %w", err)
	}
	p.Schema = preparedSchema
	p.Baseline.Candidates = nil
	for i, c := range p.candidates {
		found := foundCandidate{Label: c.File, Refresh: c.Refresh}
		switch {
		case c.Err != nil:
			found.Why = c.Err.Error()
		default:
			found.File = fmt.Sprintf("%03d.json", i)
			if found.SHA, err = saveDocument(out, filepath.Join(durable.Baseline, found.File), c.Doc); err != nil {
				return "", fmt.Errorf("keep the baseline: %w", err)
			}
		}
		p.Baseline.Candidates = append(p.Baseline.Candidates, found)
	}
	data, err := json.MarshalIndent(p.preparedFile, "", "  ")
	if err != nil {
		return "", fmt.Errorf("write %s: %w", durable.Prepared, err)
	}
	data = append(data, '\n')
	if err := out.write(durable.Prepared, func(w io.Writer) error { _, err := w.Write(data); return err }); err != nil {
		return "", err
	}
	return digestOf(data), nil
}

func saveDocument(out *output, name string, doc *result.Document) (digest string, err error) {
	h := sha256.New()
	err = out.write(name, func(w io.Writer) error { return result.Encode(io.MultiWriter(w, h), doc) })
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), err
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// errChanged says that a file is not the one that an earlier step wrote.
var errChanged = errors.New("it is not what the preparing step wrote: something that was measured may have changed it")

// loadPrepared reads what an earlier step prepared, and nothing else: every file
// must have the digest that was written down before anything was measured.
func loadPrepared(out *output, digest string) (*prepared, error) {
	p, err := readPrepared(out, digest)
	if err != nil {
		return nil, err
	}
	return p, p.loadCandidates(out)
}

// readPrepared reads all of it but the stored sessions.
func readPrepared(out *output, digest string) (*prepared, error) {
	data, err := readBounded(out.path(durable.Prepared), preparedBytes)
	if err != nil {
		return nil, err
	}
	if digestOf(data) != digest {
		return nil, fmt.Errorf("%s: %w", out.path(durable.Prepared), errChanged)
	}
	p := &prepared{}
	if err := json.Unmarshal(data, &p.preparedFile); err != nil {
		return nil, fmt.Errorf("%s: %w", out.path(durable.Prepared), err)
	}
	if p.Schema != preparedSchema {
		return nil, fmt.Errorf("%s: schema %q, want %q: all steps of a job must run the same version", out.path(durable.Prepared), p.Schema, preparedSchema)
	}
	return p, p.parse()
}

// loadCandidates reads the stored sessions that were found.
func (p *prepared) loadCandidates(out *output) error {
	for _, f := range p.Baseline.Candidates {
		c, err := f.load(out)
		if err != nil {
			return err
		}
		p.candidates = append(p.candidates, c)
	}
	return nil
}

func (f foundCandidate) load(out *output) (baseline.Candidate, error) {
	c := baseline.Candidate{File: f.Label, Refresh: f.Refresh}
	if f.File == "" {
		c.Err = errors.New(f.Why)
		return c, nil
	}
	path := out.path(filepath.Join(durable.Baseline, filepath.Base(f.File)))
	file, err := durable.Open(path)
	if err != nil {
		return c, err
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	if err != nil {
		return c, fmt.Errorf("read %s: %w", path, err)
	}
	if digestOf(data) != f.SHA {
		return c, fmt.Errorf("%s: %w", path, errChanged)
	}
	if c.Doc, err = result.Decode(bytes.NewReader(data)); err != nil {
		return c, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// parse reads the comparison commit's suite file. One that cannot be read (it may
// need another version of perfweir) does not decide, which is said.
func (p *prepared) parse() error {
	if p.Judged.Text == nil {
		return nil
	}
	file, problems := config.Parse(p.Judged.Path, p.Judged.Text)
	if err := problems.Err(); err != nil {
		p.Judged.Why = fmt.Sprintf("the suite file of %.8s cannot be read by this version: %v", p.Comparison.Commit, err)
		return nil
	}
	p.base = file
	return nil
}

func readBounded(path string, most int64) ([]byte, error) {
	f, err := durable.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s has more than %d bytes", path, most)
	}
	return data, err
}
