package artifact

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/perfweir/perfweir/collect/result"
)

// Entries of an archive that are read: the results, and by Results the doubts of
// them that were measured again beside the base build, where there are some.
const (
	resultsFile = "results.json"
	againFile   = "confirm/results.json"
)

// notAsked is a failure of the way to GitHub. It says nothing about what was
// asked for: that may be there.
type notAsked struct{ error }

func (e notAsked) Unwrap() error { return e.error }

// CouldNotAsk reports whether the error of a candidate or a Result leaves open
// what GitHub has, and says nothing about the artifact.
func CouldNotAsk(err error) bool {
	var e notAsked
	return errors.As(err, &e)
}

// downloadTries is how often an archive is opened when its bytes stop coming, or
// are others than those that were stored: the client tries requests again, not
// bodies.
const downloadTries = 2

// download reads an archive into memory. Nothing is written to a file: there is
// no place then that a name could lead out of.
func download(ctx context.Context, gh GitHub, a Artifact, lim Limits) (data []byte, contentType string, err error) {
	if a.Size > lim.Archive {
		return nil, "", fmt.Errorf("is %d bytes large, limit %d", a.Size, lim.Archive)
	}
	for range downloadTries {
		var broken bool
		if data, contentType, broken, err = downloadOnce(ctx, gh, a, lim); !broken || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return nil, "", err
	}
	return data, contentType, nil
}

// otherBytes says that bytes are not those that GitHub lists the digest of.
// Servers that know another algorithm are taken at their word, as are those that
// know none.
func otherBytes(data []byte, digest string) error {
	want, ok := strings.CutPrefix(digest, "sha256:")
	if !ok {
		return nil
	}
	sum := sha256.Sum256(data)
	if got := hex.EncodeToString(sum[:]); !strings.EqualFold(got, want) {
		return fmt.Errorf("its digest is sha256:%s, GitHub lists %s", got, shorten(digest))
	}
	return nil
}

// downloadOnce asks once; broken is set when the body stopped in the middle or is
// another one.
func downloadOnce(ctx context.Context, gh GitHub, a Artifact, lim Limits) (data []byte, contentType string, broken bool, err error) {
	archive, err := gh.Archive(ctx, a.ID)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", false, fmt.Errorf("GitHub has it no more: %w", err)
	case err != nil:
		return nil, "", false, notAsked{err}
	}
	defer archive.Body.Close()
	if archive.Size > lim.Archive {
		return nil, "", false, fmt.Errorf("is %d bytes large, limit %d", archive.Size, lim.Archive)
	}
	data, err = io.ReadAll(io.LimitReader(archive.Body, lim.Archive+1))
	switch {
	case err != nil:
		return nil, "", true, notAsked{fmt.Errorf("stopped after %d bytes: %w", len(data), err)}
	case int64(len(data)) > lim.Archive:
		return nil, "", false, fmt.Errorf("is larger than %d bytes", lim.Archive)
	case int64(len(data)) < archive.Size:
		return nil, "", true, notAsked{fmt.Errorf("stopped after %d bytes of %d", len(data), archive.Size)}
	}
	if err := otherBytes(data, a.Digest); err != nil {
		// What was stored may be good: it did not come here.
		return nil, "", true, notAsked{err}
	}
	return data, archive.ContentType, false, nil
}

// Signatures in an archive.
const (
	zipEntry     = "PK\x03\x04"
	zipDirectory = "PK\x01\x02"
	zipEmpty     = "PK\x05\x06"
)

// readResults reads the results document out of an archive, and tells how many
// bytes it took there. Everything in it is hostile: the whole archive is refused
// when any entry of it looks made to do harm.
func readResults(data []byte, contentType string, lim Limits) (doc *result.Document, size int64, err error) {
	return readEntry(data, contentType, resultsFile, lim)
}

func readEntry(data []byte, contentType, name string, lim Limits) (doc *result.Document, size int64, err error) {
	if !bytes.HasPrefix(data, []byte(zipEntry)) && !bytes.HasPrefix(data, []byte(zipEmpty)) {
		return nil, 0, noZip(data, contentType)
	}
	// The reader keeps every entry that the directory has, whatever number the
	// archive states: they are counted before.
	if n := bytes.Count(data, []byte(zipDirectory)); n > lim.Entries {
		return nil, 0, fmt.Errorf("the archive has %d entries, limit %d", n, lim.Entries)
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, 0, fmt.Errorf("the archive cannot be read, it may be cut off: %w", err)
	}
	entry, err := findEntry(archive.File, name)
	if err != nil {
		return nil, 0, err
	}
	return decode(entry, lim)
}

// noZip says what an artifact is that is no archive.
func noZip(data []byte, contentType string) error {
	kind := fmt.Sprintf("content type %q", shorten(contentType))
	text := bytes.TrimLeft(data, " \t\r\n\ufeff")
	if len(text) > 0 && text[0] == '{' {
		return fmt.Errorf("is no zip archive but a file that was uploaded unzipped (%s): upload it with archive: true", kind)
	}
	return fmt.Errorf("is no zip archive (%s, it begins with %q)", kind, data[:min(len(data), 16)])
}

// noEntry says that an archive lacks what was looked for.
type noEntry struct{ text string }

func (e noEntry) Error() string { return e.text }

// tooLarge says that a document has more bytes than may be read.
type tooLarge struct {
	name  string
	size  uint64
	limit int64
}

func (e tooLarge) Error() string {
	return fmt.Sprintf("%s is %d bytes large, limit %d", e.name, e.size, e.limit)
}

// findEntry looks at every entry and returns the one of a name.
func findEntry(entries []*zip.File, name string) (*zip.File, error) {
	var found *zip.File
	seen := map[string]bool{}
	for _, f := range entries {
		if why := hostile(f); why != "" {
			return nil, fmt.Errorf("entry %q of the archive %s", shorten(f.Name), why)
		}
		if seen[f.Name] {
			return nil, fmt.Errorf("entry %q is in the archive twice", shorten(f.Name))
		}
		seen[f.Name] = true
		if f.Name == name {
			found = f
		}
	}
	if found == nil {
		return nil, noEntry{fmt.Sprintf("the archive has no %s (of %d entries)", name, len(entries))}
	}
	if !found.Mode().IsRegular() {
		return nil, fmt.Errorf("entry %q of the archive is no regular file", name)
	}
	return found, nil
}

// hostile says what is wrong with an entry that nothing of ours writes, though
// only results are read and nothing is extracted.
func hostile(f *zip.File) string {
	const encrypted = 1 << 0
	name := strings.TrimSuffix(f.Name, "/") // a folder
	switch {
	case name == "" || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "has no readable name"
	case strings.Contains(name, `\`):
		return "has a backslash in its name"
	case strings.HasPrefix(name, "/") || len(name) > 1 && name[1] == ':':
		return "has an absolute path"
	case name == ".." || strings.HasPrefix(name, "../") || strings.HasSuffix(name, "/..") || strings.Contains(name, "/../"):
		return "leads out of the archive"
	case path.Clean(name) != name:
		return "has two spellings"
	case f.Flags&encrypted != 0:
		return "is encrypted"
	case f.Mode()&fs.ModeSymlink != 0:
		return "is a symbolic link"
	case f.Mode()&fs.ModeType&^fs.ModeDir != 0:
		return "is a special file"
	}
	return ""
}

// An entry that inflates to more than maxRatio of its size is a bomb; results are
// long lists of numbers and stay below a tenth of that. Small ones may repeat
// themselves more, and do no harm.
const (
	maxRatio     = 200
	ratioMatters = 1 << 20 // bytes
)

// decode inflates an entry, in memory and bounded, and decodes it.
func decode(f *zip.File, lim Limits) (*result.Document, int64, error) {
	size := f.UncompressedSize64
	switch {
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return nil, 0, fmt.Errorf("%s is compressed by method %d, which is neither store nor deflate", f.Name, f.Method)
	case size > uint64(lim.Document):
		return nil, 0, tooLarge{f.Name, size, lim.Document}
	case size > ratioMatters && size/maxRatio > f.CompressedSize64:
		return nil, 0, fmt.Errorf("%s inflates to more than %d times its size", f.Name, maxRatio)
	}
	r, err := f.Open()
	if err != nil {
		return nil, 0, fmt.Errorf("%s cannot be read: %w", f.Name, err)
	}
	defer r.Close()
	// The reader ends with an error where the entry is larger than it says, or its
	// checksum is another.
	doc, err := result.Decode(r)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", f.Name, err)
	}
	return doc, int64(size), nil
}

// shorten bounds what a message repeats of a foreign text.
func shorten(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
