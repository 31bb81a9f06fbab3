package localdir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/baseline/sourcetest"
)

// folder is a folder under test.
type folder string

func (f folder) Put(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(string(f), name), data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func (f folder) Candidates() ([]baseline.Candidate, error) { return Candidates(string(f)) }

func TestFolderIsASource(t *testing.T) {
	sourcetest.Run(t, func(t *testing.T) sourcetest.Source { return folder(t.TempDir()) })
}

// file is a single file under test.
type file string

func (f *file) Put(t *testing.T, name string, data []byte) {
	t.Helper()
	if *f != "" {
		t.Skip("a file holds one document")
	}
	*f = file(filepath.Join(t.TempDir(), name))
	if err := os.WriteFile(string(*f), data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func (f *file) Candidates() ([]baseline.Candidate, error) { return Candidates(string(*f)) }

func TestFileIsASource(t *testing.T) {
	sourcetest.Run(t, func(*testing.T) sourcetest.Source { return new(file) })
}

// C24: a folder that is not there yet is no failure: there is none.
func TestMissingFolderHasNone(t *testing.T) {
	for _, path := range []string{"missing", "missing/below"} {
		got, err := Candidates(filepath.Join(t.TempDir(), path))
		if err != nil || len(got) != 0 {
			t.Errorf("%s: %v, %v", path, got, err)
		}
	}
}

// Only documents are candidates; what is named like one and is none is listed
// with why, and a pipe does not hang us.
func TestWhatIsNoDocument(t *testing.T) {
	dir := t.TempDir()
	f := folder(dir)
	f.Put(t, "notes.txt", []byte("x"))
	f.Put(t, ".01.json.123.tmp", []byte("half"))
	if err := os.MkdirAll(filepath.Join(dir, "folder.json", "below"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(dir, "dangling.json")); err != nil {
		t.Fatal(err)
	}
	got, err := f.Candidates()
	if err != nil || len(got) != 2 {
		t.Fatalf("%d candidates, %v", len(got), err)
	}
	for i, want := range []struct{ file, says string }{{"folder.json", "not a regular file"}, {"dangling.json", "no such file"}} {
		if got[i].File != want.file || got[i].Err == nil || !strings.Contains(got[i].Err.Error(), want.says) {
			t.Errorf("%+v, want %+v", got[i], want)
		}
	}
	if got, err := Candidates(os.DevNull); err != nil || len(got) != 1 || got[0].Err == nil {
		t.Errorf("a device: %v, %v", got, err)
	}
}

// "None there" and "could not ask" are different: an unreadable folder is an
// error, an unreadable file in it a candidate that is rejected.
func TestUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	f := folder(t.TempDir())
	f.Put(t, "01.json", nil)
	if err := os.Chmod(filepath.Join(string(f), "01.json"), 0); err != nil {
		t.Fatal(err)
	}
	if got, err := f.Candidates(); err != nil || len(got) != 1 || !os.IsPermission(got[0].Err) {
		t.Errorf("a file: %v, %v", got, err)
	}
	if err := os.Chmod(string(f), 0o300); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(string(f), 0o755) })
	if got, err := f.Candidates(); err == nil || len(got) != 0 {
		t.Errorf("a folder: %v, %v", got, err)
	}
}
