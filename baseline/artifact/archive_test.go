package artifact

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// hostileArchive is an archive, and exactly why it is refused.
type hostileArchive struct {
	name        string
	data        []byte
	contentType string
	why         string
}

var smallLimits = Limits{Document: 4 << 20, Entries: 10}.filled(1)

// stored makes an archive of one entry whose header says what it likes.
func stored(t testing.TB, body []byte, set func(*zip.FileHeader)) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	h := &zip.FileHeader{Name: resultsFile, Method: zip.Store, CRC32: crc32.ChecksumIEEE(body),
		CompressedSize64: uint64(len(body)), UncompressedSize64: uint64(len(body))}
	set(h)
	f, err := w.CreateRaw(h)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(h.Name, "/") { // a folder
		if _, err := f.Write(body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// deflated makes the body of an entry that inflates to n zeros.
func deflated(t testing.TB, n int) []byte {
	t.Helper()
	data := zipped(t, entry{name: "x", data: make([]byte, n)})
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	from, err := r.File[0].DataOffset()
	if err != nil {
		t.Fatal(err)
	}
	return data[from : from+int64(r.File[0].CompressedSize64)]
}

// manyEntries makes an archive whose directory has n entries and states one.
func manyEntries(t testing.TB, n int) []byte {
	t.Helper()
	var entries []entry
	for i := range n {
		entries = append(entries, entry{name: fmt.Sprint(i)})
	}
	data := zipped(t, entries...)
	end := bytes.LastIndex(data, []byte(zipEmpty))
	binary.LittleEndian.PutUint16(data[end+8:], 1)
	binary.LittleEndian.PutUint16(data[end+10:], 1)
	return data
}

func hostileArchives(t testing.TB) []hostileArchive {
	good := encode(t, goodDocument(goodRun(100), "perf-1"))
	archive := goodArchive(t, goodDocument(goodRun(100), "perf-1"))
	named := func(name string) []byte {
		return zipped(t, entry{name: resultsFile, data: good}, entry{name: name, data: []byte("x")})
	}
	mode := func(m fs.FileMode) func(*zip.FileHeader) { return func(h *zip.FileHeader) { h.SetMode(m) } }
	flipped := bytes.Clone(archive)
	flipped[60] ^= 1
	elsewhere := zipped(t, entry{name: "plan.json"}, entry{name: resultsFile, data: good})
	copy(elsewhere[bytes.LastIndex(elsewhere, []byte(zipEntry)):], "XXXX")
	const cutOff = "the archive cannot be read, it may be cut off: zip: not a valid zip file"
	return []hostileArchive{
		{"nothing", nil, "", `is no zip archive (content type "", it begins with "")`},
		{"cut off in the middle", archive[:len(archive)/2], "", cutOff},
		{"cut off at the end", archive[:len(archive)-1], "", cutOff},
		{"one bit", flipped, "", "results.json: "},
		{"a directory that leads to no entry", elsewhere, "", "results.json cannot be read: zip: not a valid zip file"},
		{"a long name", named(strings.Repeat("x", 300) + `\`), "", `entry "` + strings.Repeat("x", 80) + `..." of the archive has a backslash in its name`},
		{"unzipped", good, "application/json", `is no zip archive but a file that was uploaded unzipped (content type "application/json"): upload it with archive: true`},
		{"unzipped, with a space", append([]byte(" \n"), good...), "", `is no zip archive but a file that was uploaded unzipped (content type ""): upload it with archive: true`},
		{"a page", []byte("<html>sign in</html>"), "text/html; charset=utf-8", `is no zip archive (content type "text/html; charset=utf-8", it begins with "<html>sign in</h")`},
		{"an archive behind something else", append([]byte("#!/bin/sh\n"), archive...), "application/zip", `is no zip archive (content type "application/zip", it begins with "#!/bin/sh\nPK\x03\x04\x14\x00")`},
		{"empty archive", zipped(t), "", "the archive has no results.json (of 0 entries)"},
		{"other things", zipped(t, entry{name: "plan.json"}, entry{name: "sub/results.json", data: good}), "", "the archive has no results.json (of 2 entries)"},
		{"a folder of that name", zipped(t, entry{name: "results.json/"}), "", "the archive has no results.json (of 1 entries)"},
		{"leads up", named("../evil"), "", `entry "../evil" of the archive leads out of the archive`},
		{"leads up in the middle", named("a/../../evil"), "", `entry "a/../../evil" of the archive leads out of the archive`},
		{"leads up at the end", named("a/.."), "", `entry "a/.." of the archive leads out of the archive`},
		{"absolute", named("/etc/cron.d/x"), "", `entry "/etc/cron.d/x" of the archive has an absolute path`},
		{"absolute elsewhere", named("C:/x"), "", `entry "C:/x" of the archive has an absolute path`},
		{"backslash", named(`..\x`), "", `entry "..\\x" of the archive has a backslash in its name`},
		{"control character", named("x\x1b[2J"), "", `entry "x\x1b[2J" of the archive has no readable name`},
		{"no UTF-8", named("x\xff"), "", `entry "x\xff" of the archive has no readable name`},
		{"two spellings", named("./results.json"), "", `entry "./results.json" of the archive has two spellings`},
		{"twice", zipped(t, entry{name: resultsFile, data: good}, entry{name: resultsFile, data: []byte("{}")}), "", `entry "results.json" is in the archive twice`},
		{"the results a link", zipped(t, entry{resultsFile, []byte("/etc/passwd"), mode(fs.ModeSymlink | 0o777)}), "", `entry "results.json" of the archive is a symbolic link`},
		{"another link", zipped(t, entry{name: resultsFile, data: good}, entry{"x", []byte("/etc/passwd"), mode(fs.ModeSymlink | 0o777)}), "", `entry "x" of the archive is a symbolic link`},
		{"a device", zipped(t, entry{resultsFile, nil, mode(fs.ModeDevice | 0o666)}), "", `entry "results.json" of the archive is a special file`},
		{"a folder by its mode", zipped(t, entry{resultsFile, nil, mode(fs.ModeDir | 0o755)}), "", `entry "results.json" of the archive is no regular file`},
		{"encrypted", stored(t, good, func(h *zip.FileHeader) { h.Flags |= 1 }), "", `entry "results.json" of the archive is encrypted`},
		{"a method we do not know", stored(t, good, func(h *zip.FileHeader) { h.Method = 93 }), "", "results.json is compressed by method 93, which is neither store nor deflate"},
		{"too many entries, and says one", manyEntries(t, 11), "", "the archive has 11 entries, limit 10"},
		{"a bomb that says so", zipped(t, entry{name: resultsFile, data: make([]byte, 4<<20+1)}), "", "results.json is 4194305 bytes large, limit 4194304"},
		{"a bomb by its ratio", zipped(t, entry{name: resultsFile, data: make([]byte, 2<<20)}), "", "results.json inflates to more than 200 times its size"},
		{"a bomb that says little", stored(t, deflated(t, 8<<20), func(h *zip.FileHeader) { h.Method, h.UncompressedSize64 = zip.Deflate, 500 }), "",
			"zip: not a valid zip file"},
		{"more than it says", stored(t, append(bytes.Clone(good), "          "...), func(h *zip.FileHeader) { h.UncompressedSize64 -= 10 }), "", "zip: not a valid zip file"},
		{"less than it says", stored(t, good, func(h *zip.FileHeader) { h.UncompressedSize64 += 10 }), "", "unexpected EOF"},
		{"no document", zipped(t, entry{name: resultsFile, data: []byte("[]")}), "", "results.json: "},
	}
}

func TestHostileArchives(t *testing.T) {
	for _, tt := range hostileArchives(t) {
		t.Run(tt.name, func(t *testing.T) {
			doc, size, err := readResults(tt.data, tt.contentType, smallLimits)
			if doc != nil || size != 0 || err == nil {
				t.Fatalf("%v, %d, %v", doc, size, err)
			}
			// What the decoder says is its own; that it is said of the right file is ours.
			if got := err.Error(); got != tt.why && !strings.HasPrefix(got, "results.json") || !strings.Contains(got, tt.why) {
				t.Errorf("%s\nwant %s", got, tt.why)
			}
		})
	}
}

// Each of them is one candidate that is not taken, and the walk goes on.
func TestWalkGoesOnAfterHostileArchives(t *testing.T) {
	w := newWorld(t)
	w.q.Sessions, w.q.Limits = 1, smallLimits
	w.q.Limits.Listings, w.q.Limits.Downloads = 0, 100
	all := hostileArchives(t)
	w.q.Limits.Listings = len(all) + 1
	for i, a := range all {
		run := w.run(goodRun(int64(100 - i)))
		w.upload(run, Name("codec", "perf-1", "", 1), a.data)
		w.blobs[run.ID*100].contentType = a.contentType
	}
	last := int64(100 - len(all))
	w.good(last)
	found := w.find()
	if found.Fit != 1 || len(found.Candidates) != len(all)+1 {
		t.Errorf("%d fit\n%s", found.Fit, strings.Join(told(found), "\n"))
	}
	for _, c := range found.Candidates[:len(all)] {
		if c.Doc != nil || c.Err == nil || c.Refresh == "" {
			t.Errorf("%s: %v", c.File, c.Err)
		}
	}
}

func TestHarmlessArchives(t *testing.T) {
	good := encode(t, goodDocument(goodRun(100), "perf-1"))
	for name, data := range map[string][]byte{
		"as it is uploaded": goodArchive(t, goodDocument(goodRun(100), "perf-1")),
		"alone":             zipped(t, entry{name: resultsFile, data: good}),
		"not compressed":    stored(t, good, func(*zip.FileHeader) {}),
		"with others":       zipped(t, entry{name: "runs/"}, entry{name: "runs/..x/stdout.log"}, entry{name: resultsFile, data: good}, entry{name: "README.md"}),
	} {
		for _, contentType := range []string{"application/zip", "application/octet-stream", "text/plain", ""} {
			doc, size, err := readResults(data, contentType, smallLimits)
			if err != nil || size != int64(len(good)) {
				t.Fatalf("%s: %d bytes, %v", name, size, err)
			}
			if diff := cmp.Diff(good, encode(t, doc)); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
}

// FuzzArchive: whatever the bytes are, there is a document within the limits or a
// reason, and the document can be written again.
func FuzzArchive(f *testing.F) {
	for _, a := range hostileArchives(f) {
		f.Add(a.data, a.contentType)
	}
	f.Add(goodArchive(f, goodDocument(goodRun(100), "perf-1")), "application/zip")
	lim := Limits{Document: 1 << 20, Entries: 20}.filled(1)
	f.Fuzz(func(t *testing.T, data []byte, contentType string) {
		doc, size, err := readResults(data, contentType, lim)
		if (doc == nil) == (err == nil) || size > lim.Document {
			t.Fatalf("document %v, %d bytes, %v", doc != nil, size, err)
		}
		if err != nil && len(err.Error()) > 4096 {
			t.Fatalf("a reason of %d bytes", len(err.Error()))
		}
		if doc != nil {
			encode(t, doc)
		}
	})
}

// FuzzEntry: an entry of any name, kind and stated size beside the results makes
// the archive refused or is harmless; as the results it is read within the limits.
func FuzzEntry(f *testing.F) {
	good := encode(f, goodDocument(goodRun(100), "perf-1"))
	for _, name := range []string{resultsFile, "plan.json", "../x", "/x", "a//b", "a/./b", "C:x", `a\b`, "a/", "", "."} {
		f.Add(name, good, uint16(0), uint16(0), uint64(len(good)), uint32(0o644))
		f.Add(name, good, uint16(1), uint16(8), uint64(1)<<40, uint32(fs.ModeSymlink))
	}
	lim := Limits{Document: 1 << 20, Entries: 20}.filled(1)
	f.Fuzz(func(t *testing.T, name string, body []byte, flags, method uint16, size uint64, mode uint32) {
		name = name[:min(len(name), math.MaxUint16)] // longer ones have no place in an archive
		data := stored(t, body, func(h *zip.FileHeader) {
			h.SetMode(fs.FileMode(mode))
			h.Name, h.Flags, h.Method, h.UncompressedSize64 = name, flags, method, size
		})
		doc, _, err := readResults(data, "application/zip", lim)
		if (doc == nil) == (err == nil) || doc != nil && name != resultsFile {
			t.Fatalf("%q: document %v, %v", name, doc != nil, err)
		}
		r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil || len(r.File) != 1 {
			return
		}
		if read := r.File[0]; hostile(read) == "" {
			if path := strings.TrimSuffix(read.Name, "/"); !fs.ValidPath(path) || strings.Contains(path, `\`) {
				t.Fatalf("%q is taken for harmless", read.Name)
			}
		}
	})
}

// FuzzName: two inputs have two names, and each is read as what it is.
func FuzzName(f *testing.F) {
	for _, s := range nasty {
		f.Add(s, "a-b", "x", "y")
	}
	f.Fuzz(func(t *testing.T, suite, machine, suite2, machine2 string) {
		a, b := Name(suite, machine, "", 1), Name(suite2, machine2, "", 1)
		if (a == b) != (suite == suite2 && machine == machine2) {
			t.Fatalf("%q, %q and %q, %q: %s, %s", suite, machine, suite2, machine2, a, b)
		}
		if n, ok := parse(Artifact{Name: a}, suite); !ok || n.machine != machinePart(machine) {
			t.Fatalf("%q is read as %+v", a, n)
		}
		if _, ok := parse(Artifact{Name: a}, suite2); ok && suite != suite2 {
			t.Fatalf("%q of suite %q is read as of suite %q", a, suite, suite2)
		}
	})
}
