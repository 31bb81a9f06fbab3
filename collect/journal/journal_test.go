package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/perfweir/perfweir/collect/result"
)

// sample is a journal with every kind of record.
func sample() []Record {
	code := 3
	return []Record{
		{Open: &Opened{Schema: Schema, Plan: "sha256:41"}},
		{Session: &result.Session{
			ID: "01KB", Machine: "perf-1", StartedAt: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC), Origin: "run",
			Replicates: result.ReplicatesProcess, Host: result.Host{Strict: map[string]string{"cpu_model": "EPYC 7763"}},
		}},
		{Look: &Look{Look: 1, Cells: []int{0, 1}}},
		{Metrics: map[string]result.Metric{"frames": {Unit: "1", Better: result.Higher, Class: result.Noisy}}},
		{Run: &Run{
			Cell: 0, Repeat: 1, Attempt: 1, Look: 1, Slot: 1, Start: 0.25, Status: result.Success,
			Values: []Value{
				{Metric: result.WallTime, V: 1.5, Bound: 0.001},
				{Metric: "frames", Phase: "decode", Part: "gpu0", V: math.NaN(), Absent: "too_short"},
			},
		}},
		{Run: &Run{
			Cell: 1, Repeat: 1, Attempt: 1, Look: 1, Block: 1, Start: 2, Status: result.Failed,
			Detail: result.Detail{ExitCode: &code, StderrTail: "line one\nline two \u2028 </script>\x00", Warnings: []string{"w"}},
		}},
		{End: &End{Session: 0, Sources: []result.Source{{Name: "linuxproc", State: result.SourceOK}}, Interrupted: true}},
	}
}

func text(t *testing.T, records []Record) []byte {
	t.Helper()
	var buf bytes.Buffer
	for i := range records {
		if err := encode(&buf, &records[i]); err != nil {
			t.Fatal(err)
		}
	}
	return buf.Bytes()
}

func same(t *testing.T, what string, want, got []Record) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

// A process may be killed, and a machine lose power, after any byte.
func TestCutAtEveryByte(t *testing.T) {
	records := sample()
	whole := text(t, records)
	for n := range len(whole) + 1 {
		cut := whole[:n]
		complete := bytes.Count(cut, []byte("\n"))
		got, dropped, err := Read(bytes.NewReader(cut))
		if err != nil {
			t.Fatalf("cut after %d bytes: %v", n, err)
		}
		same(t, fmt.Sprintf("cut after %d bytes", n), records[:complete], got)
		if want := int64(n - 1 - bytes.LastIndexByte(cut, '\n')); dropped != want {
			t.Fatalf("cut after %d bytes: %d dropped, want %d", n, dropped, want)
		}
	}
}

func TestReadDamaged(t *testing.T) {
	lines := bytes.SplitAfter(text(t, sample()), []byte("\n"))
	join := func(parts ...[]byte) string { return string(bytes.Join(parts, nil)) }
	zeros := []byte(strings.Repeat("\x00", 64))
	for _, c := range []struct {
		name, text, want string
		records          int
		dropped          int64
	}{
		{name: "empty", text: ""},
		{name: "zero bytes at the end", text: join(lines[0], lines[1], zeros), records: 2, dropped: 64},
		{name: "zero bytes and a newline at the end", text: join(lines[0], zeros, []byte("\n")), records: 1, dropped: 65},
		{name: "broken last line, then half a record", text: join(lines[0], []byte("{\"run\":\n"), lines[1][:9]), records: 1, dropped: 17},
		{name: "only half a record", text: join(lines[0][:5]), dropped: 5},
		{name: "broken line in the middle", text: join(lines[0], []byte("{\"run\":\n"), lines[1]), want: "line 2: not a JSON record"},
		{name: "empty line in the middle", text: join(lines[0], []byte("\n"), lines[1]), want: "line 2: not a JSON record"},
		{name: "does not open", text: join(lines[1]), want: "line 1: the first record, and no other, opens"},
		{name: "opens twice", text: join(lines[0], lines[0]), want: "line 2: the first record, and no other, opens"},
		{name: "unknown kind", text: join(lines[0], []byte("{\"later\":1}\n")), want: "line 2: record has 0 known kinds"},
		{name: "two kinds", text: join(lines[0], []byte(`{"end":{"session":0},"metrics":{"a":{}}}`+"\n")), want: "line 2: record has 2 known kinds"},
		{name: "newer", text: `{"open":{"schema":"perfweir.journal/v2"}}` + "\n", want: "perfweir.journal/v2 is newer than this version reads (v1): use a newer perfweir"},
		{name: "another document", text: `{"open":{"schema":"perfweir.plan/v1"}}` + "\n", want: "not a perfweir journal document"},
		{name: "null without reason", text: join(lines[0], []byte(`{"run":{"attempt":1,"look":1,"values":[{"metric":"m","v":null}]}}`+"\n")), want: "absent without a reason"},
		{name: "value missing", text: join(lines[0], []byte(`{"run":{"attempt":1,"look":1,"values":[{"metric":"m"}]}}`+"\n")), want: "absent without a reason"},
		{name: "beyond float64", text: join(lines[0], []byte(`{"run":{"attempt":1,"look":1,"start":1e999}}`+"\n")), want: "line 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, dropped, err := Read(strings.NewReader(c.text))
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("error = %v, want one with %q", err, c.want)
				}
				return
			}
			if err != nil || len(got) != c.records || dropped != c.dropped {
				t.Errorf("%d records, %d dropped, %v; want %d, %d", len(got), dropped, err, c.records, c.dropped)
			}
		})
	}
	endless := io.MultiReader(bytes.NewReader(lines[0]), forever('x'))
	if _, _, err := Read(endless); err == nil || !strings.Contains(err.Error(), "line 2: record is longer") {
		t.Errorf("a line without end: %v", err)
	}
}

type forever byte

func (f forever) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(f)
	}
	return len(p), nil
}

func TestCreateAppendOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	records := sample()
	w, err := Create(path, "sha256:41")
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range records[1:4] {
		if err := w.Append(r); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path) // it is there before the next run starts
		if want := text(t, records[:i+2]); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("after record %d: %q (%v), want %q", i, got, err, want)
		}
	}
	// Killed here; the last record is torn.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, `{"run":{"cell`)
	f.Close()
	w.f.Close()

	if _, err := Create(path, "x"); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("Create over a journal: %v", err)
	}
	w, rec, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "recovered", records[:4], rec.Records)
	if rec.Dropped != 13 || rec.Records[0].Open.Plan != "sha256:41" {
		t.Errorf("dropped %d of plan %s", rec.Dropped, rec.Records[0].Open.Plan)
	}
	for _, r := range records[4:] {
		if err := w.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, text(t, records)) {
		t.Errorf("the journal holds %q (%v)", got, err)
	}
	if err := w.Append(records[5]); err == nil {
		t.Error("appended to a closed journal")
	}
}

func TestOpenNothing(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := Open(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no journal: %v", err)
	}
	path := filepath.Join(dir, "empty")
	if err := os.WriteFile(path, []byte(`{"open":`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(path); !errors.Is(err, ErrEmpty) || !strings.Contains(err.Error(), path) {
		t.Errorf("journal without a record: %v", err)
	}
	if err := os.WriteFile(path, []byte("x\n{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(path); err == nil || !strings.Contains(err.Error(), path+": line 1:") {
		t.Errorf("damaged journal: %v", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "x\n{}\n" {
		t.Errorf("a damaged journal was changed to %q", got)
	}
}

// A value that breaks a rule is refused and leaves the journal as it was.
func TestAppendRefuses(t *testing.T) {
	w, err := Create(filepath.Join(t.TempDir(), "j"), "d")
	if err != nil {
		t.Fatal(err)
	}
	run := func(edit func(*Run)) Record {
		r := Run{Attempt: 1, Look: 1, Values: []Value{{Metric: "m", V: 1}}}
		edit(&r)
		return Record{Run: &r}
	}
	size := w.size
	for name, r := range map[string]Record{
		"infinite":              run(func(r *Run) { r.Values[0].V = math.Inf(1) }),
		"absent without reason": run(func(r *Run) { r.Values[0].V = math.NaN() }),
		"reason with a value":   run(func(r *Run) { r.Values[0].Absent = "x" }),
		"infinite bound":        run(func(r *Run) { r.Values[0].Bound = math.Inf(1) }),
		"negative bound":        run(func(r *Run) { r.Values[0].Bound = -1 }),
		"start":                 run(func(r *Run) { r.Start = math.NaN() }),
		"attempt 0":             run(func(r *Run) { r.Attempt = 0 }),
		"cell":                  run(func(r *Run) { r.Cell = -1 }),
		"detail not finite":     run(func(r *Run) { r.Detail.Timeout = math.Inf(1) }),
		"no kind":               {},
		"two kinds":             {End: &End{}, Session: &result.Session{}},
		"no metrics":            {Metrics: map[string]result.Metric{}},
	} {
		if err := w.Append(r); err == nil {
			t.Errorf("%s: appended", name)
		}
	}
	if w.size != size {
		t.Errorf("size %d, want %d", w.size, size)
	}
	if err := w.Append(run(func(r *Run) { r.Values[0].Bound = math.NaN() })); err != nil {
		t.Errorf("after a refusal: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// faulty is a disk in memory that fails when it is told to.
type faulty struct {
	data        []byte
	room        int // bytes until it is full
	writes      int
	syncs       int
	syncErr     error
	truncateErr error
}

func (f *faulty) Write(p []byte) (int, error) {
	f.writes++
	n := min(len(p), f.room)
	f.data = append(f.data, p[:n]...)
	f.room -= n
	if n < len(p) {
		return n, &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	}
	return n, nil
}

func (f *faulty) Truncate(size int64) error {
	if f.truncateErr == nil {
		f.data = f.data[:size]
	}
	return f.truncateErr
}

func (f *faulty) Close() error { return nil }

func (f *faulty) sync() error {
	f.syncs++
	return f.syncErr
}

// DESIGN rule 21: a full disk is an error that names the file, and what was
// recorded stays readable.
func TestFullDisk(t *testing.T) {
	records := sample()
	whole := text(t, records)
	for room := range len(whole) {
		disk := &faulty{room: room}
		w := newWriter(disk, "out/journal.jsonl", 0)
		var first error
		written := 0
		for _, r := range records {
			err := w.Append(r)
			switch {
			case err == nil && first != nil:
				t.Fatalf("room %d: appended after %v", room, first)
			case err == nil:
				written++
			case first == nil:
				first = err
			}
		}
		if first == nil || !errors.Is(first, syscall.ENOSPC) || !strings.Contains(first.Error(), "out/journal.jsonl") {
			t.Fatalf("room %d: %v, want one that names the file and the full disk", room, first)
		}
		if err := w.Close(); err == nil {
			t.Fatalf("room %d: Close says that all is well", room)
		}
		if want := text(t, records[:written]); !bytes.Equal(disk.data, want) {
			t.Fatalf("room %d: the file holds %q, want %q", room, disk.data, want)
		}
	}
	disk := &faulty{room: 20, truncateErr: syscall.EIO}
	w := newWriter(disk, "j", 0)
	if err := w.Append(records[0]); !errors.Is(err, syscall.ENOSPC) || !errors.Is(err, syscall.EIO) {
		t.Errorf("error = %v, want both", err)
	}
}

func TestSyncsAtMostOnceASecond(t *testing.T) {
	now := time.Unix(100, 0)
	disk := &faulty{room: math.MaxInt}
	w := newWriter(disk, "j", 0)
	w.now = func() time.Time { return now }
	for range 25 { // 0.1 s apart: at 0, 1.0 and 2.0 s
		if err := w.Append(sample()[5]); err != nil {
			t.Fatal(err)
		}
		now = now.Add(100 * time.Millisecond)
	}
	if disk.syncs != 3 || disk.writes != 25 {
		t.Errorf("%d syncs in %d writes, want 3 in 25", disk.syncs, disk.writes)
	}
	if err := w.Close(); err != nil || disk.syncs != 4 {
		t.Errorf("after Close %d syncs (%v), want 4", disk.syncs, err)
	}
	disk.syncErr = syscall.EIO
	w = newWriter(disk, "j", 0)
	if err := w.Append(sample()[5]); !errors.Is(err, syscall.EIO) {
		t.Errorf("a sync that fails: %v", err)
	}
	disk.syncErr = nil
	if err := w.Append(sample()[5]); !errors.Is(err, syscall.EIO) {
		t.Errorf("after a sync that failed: %v, want the same error", err)
	}
}

func FuzzRead(f *testing.F) {
	var whole bytes.Buffer
	for _, r := range sample() {
		if err := encode(&whole, &r); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(whole.Bytes())
	f.Add(whole.Bytes()[:whole.Len()-7])
	f.Add(append(bytes.Clone(whole.Bytes()), 0, 0, 0, '\n'))
	f.Add([]byte(`{"open":{"schema":"perfweir.journal/v1"}}` + "\n" + `{"run":{"values":[{"v":1}]},"x":1}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		records, dropped, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		if dropped < 0 || dropped > int64(len(data)) {
			t.Fatalf("dropped %d of %d bytes", dropped, len(data))
		}
		again, rest, err := Read(bytes.NewReader(data[:int64(len(data))-dropped]))
		if err != nil || rest != 0 {
			t.Fatalf("what is left after the cut: %d dropped, %v", rest, err)
		}
		same(t, "after the cut", records, again)
		back, _, err := Read(bytes.NewReader(text(t, records)))
		if err != nil {
			t.Fatalf("what was written again: %v", err)
		}
		same(t, "written again", records, back)
	})
}
