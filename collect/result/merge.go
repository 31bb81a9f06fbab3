package result

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ErrMissing is the error of Merge when documents of some shards are not there.
var ErrMissing = errors.New("shards are missing")

// Merge joins the documents that several runners measured of one plan, each its
// shard, to the document of the whole plan: cells in the order of the suite,
// sessions one shard after the other. The order of docs does not matter. One
// document of a whole plan is returned as it is.
//
// Documents are refused that are not of one plan (suite, revision, definition of
// every cell) or not of one kind of machine, and so is a shard that is there
// twice or, with ErrMissing, not at all. The result shares memory with docs.
func Merge(docs []*Document) (*Document, error) {
	d, missing, err := MergePartial(docs)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("merge results: %w: %s", ErrMissing, missingInWords(docs[0].Dealt, missing))
	}
	return d, nil
}

// MergePartial is Merge where shards may be missing. It lists them, and their
// cells are in the document as planned and never run, so that a verdict about it
// is no pass.
func MergePartial(docs []*Document) (_ *Document, missing []Shard, err error) {
	if len(docs) == 1 && docs[0].Plan.Shard == "" {
		whole := *docs[0]
		return &whole, nil, nil
	}
	parts, err := sortParts(docs)
	if err == nil {
		err = joinable(parts)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("merge results: %w", err)
	}
	d, missing, err := join(parts)
	if err != nil {
		return nil, nil, fmt.Errorf("merge results: %w", err)
	}
	return d, missing, nil
}

// part is the document of one shard.
type part struct {
	shard Shard
	doc   *Document
}

// String names a part for people: they know their runners and files by machine
// and session.
func (p part) String() string {
	s := &p.doc.Sessions[0]
	return fmt.Sprintf("shard %s (session %q of %q)", p.shard, shorten(s.ID), shorten(s.Machine))
}

// sortParts orders documents by shard. Each has a session and no other's shard.
func sortParts(docs []*Document) ([]part, error) {
	if len(docs) == 0 {
		return nil, errors.New("there is no document")
	}
	parts := make([]part, len(docs))
	var errs []error
	for i, d := range docs {
		shard, err := ParseShard(d.Plan.Shard)
		parts[i] = part{shard, d}
		switch {
		case len(d.Sessions) == 0:
			errs = append(errs, fmt.Errorf("a document of shard %q has no session: nothing was measured", shorten(d.Plan.Shard)))
		case d.Plan.Shard == "":
			errs = append(errs, fmt.Errorf("the document of session %q of %q is of a whole plan: only shards can be joined", shorten(d.Sessions[0].ID), shorten(d.Sessions[0].Machine)))
		case err != nil:
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return nil, joined(errs)
	}
	slices.SortFunc(parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.shard.Of, b.shard.Of), cmp.Compare(a.shard.Index, b.shard.Index),
			strings.Compare(a.doc.Sessions[0].ID, b.doc.Sessions[0].ID))
	})
	for i := 1; i < len(parts); i++ {
		switch a, b := parts[i-1], parts[i]; {
		case a.shard.Of != b.shard.Of:
			errs = append(errs, fmt.Errorf("%s and %s: the plan was dealt to another number of shards", a, b))
		case a.shard == b.shard:
			errs = append(errs, fmt.Errorf("%s is there a second time: %s", a, b))
		}
	}
	return parts, errors.Join(errs...)
}

// joinable holds every part against its own plan and against the first part.
func joinable(parts []part) error {
	var errs []error
	for _, p := range parts {
		if err := p.check(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", p, err))
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	first := parts[0]
	for _, p := range parts {
		diff := planDifference(first.doc, p.doc)
		for i := range p.doc.Sessions {
			if diff == "" {
				diff = hostDifference(first.doc.Sessions[0].Host, p.doc.Sessions[i].Host)
			}
		}
		if diff != "" {
			errs = append(errs, fmt.Errorf("%s and %s: %s", first, p, diff))
		}
	}
	return errors.Join(errs...)
}

// check holds a part's cells against the list of the whole plan: it has those of
// its shard, all of them and in order. Every shard of the list has some. Behind them
// it may have a control cell, which every shard has of its own.
func (p part) check() error {
	dealt := p.doc.Dealt
	if p.shard.Of > len(dealt) {
		return fmt.Errorf("it lists %d cells of the whole plan, too few for %d shards", len(dealt), p.shard.Of)
	}
	has := make([]int, p.shard.Of) // cells, by shard
	known := make(map[ID]bool, len(dealt))
	cells, _ := p.cells()
	own := 0
	for i := range dealt {
		d := &dealt[i]
		switch {
		case d.Shard < 1 || d.Shard > p.shard.Of:
			return fmt.Errorf("cell %q is of shard %d, and there are %d", shorten(d.Name()), d.Shard, p.shard.Of)
		case known[d.ID()]:
			return fmt.Errorf("cell %q is twice in the whole plan", shorten(d.Name()))
		}
		known[d.ID()] = true
		has[d.Shard-1]++
		if d.Shard != p.shard.Index {
			continue
		}
		if own == len(cells) {
			return fmt.Errorf("cell %q of its plan is not in it", shorten(d.Name()))
		}
		if c := &cells[own]; c.ID() != d.ID() || c.Planned != d.Planned || c.Digest != d.Digest {
			return fmt.Errorf("cell %q is where its plan has %q, or was planned otherwise", shorten(c.Name), shorten(d.Name()))
		}
		own++
	}
	if own < len(cells) {
		return fmt.Errorf("cell %q is not in its plan", shorten(cells[own].Name))
	}
	if i := slices.Index(has, 0); i >= 0 {
		return fmt.Errorf("shard %d of %d has no cell", i+1, p.shard.Of)
	}
	return nil
}

// join makes one document of parts that fit.
func join(parts []part) (*Document, []Shard, error) {
	d := &Document{Header: parts[0].doc.Header}
	var missing []Shard
	var first map[int]int // of a shard's sessions, by shard
	var errMetrics, errBuilds error
	d.Dealt = nil
	d.Plan, missing = planOf(parts)
	d.Sessions, first = lineUp(parts)
	d.Metrics, errMetrics = uniteMetrics(parts)
	d.Builds, errBuilds = uniteBuilds(parts)
	if err := errors.Join(errMetrics, errBuilds); err != nil {
		return nil, nil, err
	}
	if err := checkHeader(&d.Header); err != nil {
		return nil, nil, err
	}
	rest := make(map[int][]Cell, len(parts)) // that are not joined yet, by shard
	for _, p := range parts {
		rest[p.shard.Index], _ = p.cells()
	}
	whole := parts[0].doc.Dealt
	d.Cells = make([]Cell, 0, len(whole))
	for i := range whole {
		cell, shard := unmeasured(&whole[i]), whole[i].Shard
		if cells, there := rest[shard]; there {
			cell, rest[shard] = cells[0], cells[1:]
			cell.Runs.Session = moveSessions(&cell.Runs, first[shard])
		} else if err := checkCell(&d.Header, &cell); err != nil {
			return nil, nil, fmt.Errorf("cell %q of the whole plan: %w", shorten(cell.Name), err)
		}
		d.Cells = append(d.Cells, cell)
	}
	if err := d.addControl(parts, first); err != nil {
		return nil, nil, err
	}
	return d, missing, nil
}

// unmeasured is a cell of a shard that is missing: planned, and never run.
func unmeasured(d *Dealt) Cell {
	return Cell{Name: d.Name(), Benchmark: d.Benchmark, Variant: d.Variant, Input: d.Input, Build: d.Build, Was: d.Was,
		Digest: d.Digest, Planned: d.Planned}
}

// moveSessions are the session indices of a run list whose document's sessions
// begin at first.
func moveSessions(r *Runs, first int) []int {
	if first == 0 || r.Len() == 0 {
		return r.Session
	}
	moved := make([]int, r.Len())
	for i := range moved {
		moved[i] = r.SessionAt(i) + first
	}
	return moved
}

// lineUp puts the sessions of all parts behind each other, those of the part that
// began first in front: a document's age is counted from its first session. It
// also returns where those of each shard begin. Inside a part they keep their
// order, which clocks that were set meanwhile cannot tell.
func lineUp(parts []part) ([]Session, map[int]int) {
	byStart := slices.Clone(parts)
	slices.SortStableFunc(byStart, func(a, b part) int {
		return a.doc.Sessions[0].StartedAt.Compare(b.doc.Sessions[0].StartedAt)
	})
	var all []Session
	first := make(map[int]int, len(parts))
	for _, p := range byStart {
		first[p.shard.Index] = len(all)
		all = append(all, p.doc.Sessions...)
	}
	return all, first
}

// planOf is the plan that the parts, which are sorted, are of.
func planOf(parts []part) (PlanRef, []Shard) {
	p := parts[0].doc.Plan
	whole := parts[0].doc.Dealt
	p.Digest, p.Seed, p.Shard, p.Whole = p.Whole, 0, "", ""
	p.Cells, p.Runs = len(whole), 0
	for i := range whole {
		p.Runs += whole[i].Planned
	}
	p.Shards, p.Reached = nil, reachedByAll(parts)
	var missing []Shard
	for s := (Shard{1, parts[0].shard.Of}); s.Index <= s.Of; s.Index++ {
		ref := ShardRef{Shard: s.String(), Missing: true}
		if len(parts) > 0 && parts[0].shard == s {
			ref = ShardRef{Shard: ref.Shard, Digest: parts[0].doc.Plan.Digest, Seed: parts[0].doc.Plan.Seed}
			parts = parts[1:]
		} else {
			missing = append(missing, s)
		}
		p.Shards = append(p.Shards, ref)
	}
	return p, missing
}

// reachedByAll is the last look that every part executed: what one of them left
// undecided for want of time is not to be judged at a look that it never had.
func reachedByAll(parts []part) int {
	least := 0
	for _, p := range parts {
		if r := p.doc.Plan.Reached; r > 0 && (least == 0 || r < least) {
			least = r
		}
	}
	return least
}

// missingInWords tells which shards of a plan are missing, and with them how many
// cells.
func missingInWords(whole []Dealt, missing []Shard) string {
	const most = 10
	var names []string
	for _, s := range missing[:min(most, len(missing))] {
		names = append(names, s.String())
	}
	if n := len(missing) - most; n > 0 {
		names = append(names, fmt.Sprintf("%d more", n))
	}
	n, first := 0, ""
	for i := range whole {
		if slices.ContainsFunc(missing, func(s Shard) bool { return s.Index == whole[i].Shard }) {
			n++
			first = cmp.Or(first, whole[i].Name())
		}
	}
	return fmt.Sprintf("%s, with %d of %d cells (%q is one)", strings.Join(names, ", "), n, len(whole), shorten(first))
}

// uniteMetrics is the table of all parts. Where they say the same but for source
// and step, the source of the first stands, as within a document, and the largest step:
// a resolution of one machine is not that of another.
func uniteMetrics(parts []part) (map[string]Metric, error) {
	type defined struct {
		Metric
		by part
	}
	all := map[string]defined{}
	var errs []error
	for _, p := range parts {
		for _, name := range slices.Sorted(maps.Keys(p.doc.Metrics)) {
			m := p.doc.Metrics[name]
			was, twice := all[name]
			switch {
			case !twice:
				all[name] = defined{m, p}
			case was.Unit != m.Unit || was.Per != m.Per || was.Better != m.Better || was.Class != m.Class:
				errs = append(errs, fmt.Errorf("metric %q is %s in %s, and %s in %s", shorten(name), was.inWords(), was.by, m.inWords(), p))
			default:
				was.Step = max(was.Step, m.Step)
				all[name] = was
			}
		}
	}
	out := make(map[string]Metric, len(all))
	for name, m := range all {
		out[name] = m.Metric
	}
	return out, errors.Join(errs...)
}

// inWords is a definition as far as a number depends on it.
func (m Metric) inWords() string {
	return fmt.Sprintf("unit %q per %q, better %q, class %q", shorten(m.Unit), shorten(m.Per), m.Better, m.Class)
}

// uniteBuilds is what every part built. Without a commit nothing but the programs
// says that it was the same; with one, builds on several runners may differ in a
// path or a date, and the digest is then of all of them: two merged documents
// ran the same programs when it is the same.
func uniteBuilds(parts []part) (map[string]Build, error) {
	all := map[string]Build{}
	digests := map[[2]string][]string{} // by build and program
	for _, p := range parts {
		for name, b := range p.doc.Builds {
			if _, there := all[name]; !there {
				programs := b.Programs
				b.Programs = nil
				if len(programs) > 0 {
					b.Programs = make(map[string]string, len(programs))
				}
				all[name] = b
			}
			for program, digest := range p.doc.Builds[name].Programs {
				key := [2]string{name, program}
				digests[key] = append(digests[key], digest)
			}
		}
	}
	var errs []error
	for key, list := range digests {
		name, program := key[0], key[1]
		slices.Sort(list)
		list = slices.Compact(list)
		b := all[name]
		if len(list) > 1 && b.Commit == "" {
			errs = append(errs, fmt.Errorf("program %q of build %q differs between shards, and no commit says that they are of one revision", shorten(program), shorten(name)))
		}
		if b.Programs == nil {
			b.Programs = map[string]string{}
			all[name] = b
		}
		b.Programs[program] = oneDigest(list)
	}
	return all, joined(errs)
}

// joined is errors that came in no order of their own.
func joined(errs []error) error {
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// oneDigest is a digest of different ones: of the list, in order.
func oneDigest(list []string) string {
	if len(list) == 1 {
		return list[0]
	}
	sum := sha256.Sum256([]byte(strings.Join(list, "\n")))
	return "sha256:" + hex.EncodeToString(sum[:])
}
