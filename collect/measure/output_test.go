package measure

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/perfweir/perfweir/collect/parse/generic"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/series"
)

func TestReaders(t *testing.T) {
	r := shell(t, `
		printf '\033[1mrate\033[0m 12.5\nframe 1\nframe 2\n'
		echo 'loss 0.25' >&2
		for i in 1 2 3 4 5 6 7 8 9 10; do echo $i; done > "$PERFWEIR_OUT/latency.txt"
		echo '{"no_corruption": true, "order": false}' > "$PERFWEIR_OUT/checks.json"
		echo 'size=7' > here.txt
		echo '{"metrics":{"speed":{"value":3,"unit":"tok/s"}},"attempts":10,"errors":0}' > "$PERFWEIR_METRICS"`)
	r.Cell.Exec.UnitsPerRun = 10
	r.Cell.Exec.Read = []plan.Read{
		{Metric: "rate", Pattern: `^rate (\S+)`, From: "stdout"},
		{Metric: "frames", Count: "^frame "},
		{Metric: "loss", Pattern: `loss (\S+)`, From: "stderr"},
		{Metric: "latency", Samples: "{out}/latency.txt", Scale: 1e-3},
		{Checks: "{out}/checks.json"},
		{Metric: "size", Pattern: `size=(\d+)`, From: "here.txt"},
	}
	got := Do(t.Context(), r)
	if got.Status != result.Success || len(got.Detail.Warnings) > 0 {
		t.Fatalf("got %s %+v", got.Status, got.Detail)
	}
	for metric, want := range map[string]float64{
		"rate": 12.5, "frames": 2, "loss": 0.25, "latency_p50": 0.0055, "latency_p90": 0.0091, "size": 7, "speed": 3,
		result.Attempts: 10, result.ErrorCount: 0, result.ErrorRate: 0,
	} {
		value(t, got, metric, want)
	}
	absent(t, got, "latency_p95", "insufficient")
	wall := find(t, got, result.WallTime).Value
	value(t, got, "frames_per_second", 2/wall)
	value(t, got, result.Throughput, 10/wall)
	checks := 0
	for _, m := range got.Measurements {
		if m.Metric == result.Check && (m.Part == "no_corruption" && m.Value == 1 || m.Part == "order" && m.Value == 0) {
			checks++
		}
	}
	if checks != 2 {
		t.Errorf("%d checks as printed, want 2", checks)
	}
}

// What a reader did not find is absent, and the run stays what it was (C28).
func TestReadersFindNothing(t *testing.T) {
	r := shell(t, `echo 'x 1' > "$PERFWEIR_OUT/bad.txt"; echo '{"a":1}' > "$PERFWEIR_OUT/c.json"; echo '{' > "$PERFWEIR_METRICS"`)
	r.Cell.Exec.Read = []plan.Read{
		{Metric: "rate", Pattern: `rate (\d+)`},
		{Metric: "gone", Pattern: `x`, From: "{out}/gone.txt"},
		{Metric: "lat", Samples: "{out}/bad.txt"},
		{Checks: "{out}/c.json"},
	}
	got := Do(t.Context(), r)
	if got.Status != result.Success {
		t.Errorf("got %s %+v", got.Status, got.Detail)
	}
	absent(t, got, "rate", "not_reported")
	absent(t, got, "gone", "not_reported")
	absent(t, got, "lat_p50", "unreadable")
	absent(t, got, result.Check, "unreadable")
	for _, w := range []string{"{out}/gone.txt", "line 1", "byte 5", "the metrics document"} {
		warned(t, got, w)
	}
}

// A link or a pipe in the place of an output is never followed nor waited for.
func TestOutputsThatAreNoFiles(t *testing.T) {
	cases := []struct{ name, script, reason string }{
		{"link to a file", `ln -s /etc/hostname "$PERFWEIR_OUT/s"`, "{out}/s is a symbolic link"},
		{"link inside", `echo 1 > "$PERFWEIR_OUT/t"; ln -s t "$PERFWEIR_OUT/s"`, "{out}/s is a symbolic link"},
		{"named pipe", `mkfifo "$PERFWEIR_OUT/s"`, "{out}/s is a named pipe"},
		{"folder", `mkdir "$PERFWEIR_OUT/s"`, "{out}/s is a folder"},
		{"metrics document", `echo 1 > "$PERFWEIR_OUT/s"; mkfifo "$PERFWEIR_METRICS"`, "PERFWEIR_METRICS is a named pipe"},
	}
	if os.Getuid() == 0 { // only root makes one
		cases = append(cases, struct{ name, script, reason string }{"device", `mknod "$PERFWEIR_OUT/s" c 1 5`, "{out}/s is a device"})
	}
	for _, c := range cases {
		r := shell(t, c.script)
		r.Cell.Exec.Read = []plan.Read{{Metric: "lat", Samples: "{out}/s"}}
		got := Do(t.Context(), r)
		if got.Status != result.InvalidOutput || !strings.Contains(got.Detail.Reason, c.reason) {
			t.Errorf("%s: got %s %q, want %q", c.name, got.Status, got.Detail.Reason, c.reason)
		}
		if m := find(t, got, "lat_p50"); c.name != "metrics document" && m.Absent != "unreadable" {
			t.Errorf("%s: lat_p50 = %v %q", c.name, m.Value, m.Absent)
		}
	}
}

// A folder that the command puts in the place of the run's is not written into.
func TestOurFolderReplaced(t *testing.T) {
	r := shell(t, `d=$(dirname "$PERFWEIR_OUT"); mkdir victim; mv "$d" "$d.x"; ln -s "$PWD/victim" "$d"; sleep 0.1`)
	Do(t.Context(), r)
	if _, err := os.Stat(filepath.Join(r.Cell.Exec.Cwd, "victim", SamplesFile)); err == nil {
		t.Error("samples.csv was written into another folder")
	}
	if _, err := os.Stat(filepath.Join(r.Folder+".x", SamplesFile)); err != nil {
		t.Error("samples.csv is not in the run's own folder:", err)
	}
}

// The command cannot make us read or write elsewhere by putting links in the place
// of our own files.
func TestOurFilesReplaced(t *testing.T) {
	r := shell(t, `d=$(dirname "$PERFWEIR_OUT"); rm "$d/stdout.log"; ln -s /etc/passwd "$d/stdout.log"; ln -s "$PWD/victim" "$d/samples.csv"; sleep 0.1`)
	victim := filepath.Join(r.Cell.Exec.Cwd, "victim")
	r.Cell.Exec.Read = []plan.Read{{Metric: "root", Count: "root"}}
	got := Do(t.Context(), r)
	absent(t, got, "root", "unreadable")
	if _, err := os.Stat(victim); err == nil {
		t.Error("samples.csv was written through a link")
	}
	warned(t, got, "samples.csv")
}

func TestOutputLimits(t *testing.T) {
	r := shell(t, `i=0; while [ $i -lt 2000 ]; do echo "frame $i rate 5"; i=$((i+1)); done; head -c 3000 /dev/zero > "$PERFWEIR_OUT/big"`)
	r.Limits = plan.Limits{Stdout: 1000, Out: 2000}
	r.Cell.Exec.Expect = []plan.Expect{{File: "{out}/big"}}
	r.Cell.Exec.Read = []plan.Read{
		{Metric: "frames", Count: "^frame"},
		{Metric: "rate", Pattern: `rate (\d+)`},
		{Metric: "lat", Samples: "{out}/big"},
	}
	got := Do(t.Context(), r)
	if got.Status != result.Success {
		t.Errorf("got %s %+v", got.Status, got.Detail)
	}
	value(t, got, result.OutputSize, 3000) // its size is known without reading it
	value(t, got, "rate", 5)
	absent(t, got, "frames", "unreadable") // a count of a part is no count
	absent(t, got, "frames_per_second", "unreadable")
	absent(t, got, "lat_p50", "unreadable")
	warned(t, got, "cut at 1000 bytes")
	warned(t, got, "larger than 2000 bytes")
	if info, err := os.Stat(filepath.Join(r.Folder, StdoutLog)); err != nil || info.Size() > 1000 {
		t.Errorf("stdout.log: %v %v", info, err)
	}
}

// A file outside {out} that an earlier run left is not this run's.
func TestStaleFile(t *testing.T) {
	r := shell(t, "true")
	stale := filepath.Join(r.Cell.Exec.Cwd, "result.txt")
	if err := os.WriteFile(stale, []byte("rate 5\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	hour := time.Now().Add(-time.Hour)
	if err := os.Chtimes(stale, hour, hour); err != nil {
		t.Fatal(err)
	}
	r.Cell.Exec.Read = []plan.Read{{Metric: "rate", Pattern: `rate (\d+)`, From: "result.txt"}}
	got := Do(t.Context(), r)
	absent(t, got, "rate", "not_reported")
	warned(t, got, "not written by this run")

	r.Cell.Exec.Read, r.Cell.Exec.Expect = nil, []plan.Expect{{File: stale}}
	if got := Do(t.Context(), r); got.Status != result.MissingOutput {
		t.Errorf("expected: got %s, want %s", got.Status, result.MissingOutput)
	}
}

// Runs that follow each other fast leave files younger than a slow clock's slack:
// one that nobody touched is still not this run's.
func TestStaleFileOfTheRunBefore(t *testing.T) {
	r := shell(t, "true")
	left := filepath.Join(r.Cell.Exec.Cwd, "result.txt")
	if err := os.WriteFile(left, []byte("rate 5\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	recent := time.Now().Add(-time.Second).Truncate(time.Second).Add(time.Millisecond)
	if err := os.Chtimes(left, recent, recent); err != nil {
		t.Fatal(err)
	}
	r.Cell.Exec.Expect = []plan.Expect{{File: left}}
	if got := Do(t.Context(), r); got.Status != result.MissingOutput {
		t.Errorf("untouched: got %s, want %s", got.Status, result.MissingOutput)
	}
	r.Cell.Exec.Argv = []string{"sh", "-c", "echo rate 5 >result.txt"}
	if got := Do(t.Context(), r); got.Status != result.Success {
		t.Errorf("written again with the same size: got %s %+v", got.Status, got.Detail)
	}
}

// A program cannot make a record that the journal's reader refuses: all runs of
// the session would be lost with it.
func TestMeasurementsAreBounded(t *testing.T) {
	j := &job{}
	for i := range maxMeasurements + 7 {
		j.add(generic.Present("m", strconv.Itoa(i), 1, result.Metric{Unit: "1"}))
	}
	out := j.finish()
	if len(out.Measurements) != maxMeasurements || out.Measurements[0].Part != "0" {
		t.Errorf("%d measurements", len(out.Measurements))
	}
	warned(t, out, "5007 measurements")
}

// A folder that an interrupted attempt left must not lend it its numbers.
func TestStaleMetricsDocument(t *testing.T) {
	r := shell(t, "true")
	if err := os.MkdirAll(r.Folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.Folder, MetricsFile), []byte(`{"attempts":5}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, m := range Do(t.Context(), r).Measurements {
		if m.Metric == result.Attempts {
			t.Errorf("attempts = %v from an earlier attempt", m.Value)
		}
	}
}

func TestFolderCannotBeMade(t *testing.T) {
	r := shell(t, "true")
	r.Folder = filepath.Join(r.Cell.Exec.Cwd, "file", "below")
	if err := os.WriteFile(filepath.Dir(r.Folder), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	got := Do(t.Context(), r)
	if got.Status != result.SpawnError || !strings.Contains(got.Detail.Reason, "make the run's folder") {
		t.Errorf("got %s %q", got.Status, got.Detail.Reason)
	}
	absent(t, got, result.WallTime, "not_run")
}

func TestTimes(t *testing.T) {
	got := Do(t.Context(), shell(t, "true"))
	absent(t, got, result.MemoryPeak, "too_short")
	if wall := find(t, got, result.WallTime); wall.Value <= 0 || wall.Def.Unit != "s" {
		t.Errorf("wall_time = %+v", wall)
	}
	if find(t, got, result.WallTime).Value < 0.1 {
		absent(t, got, result.UserTime, "too_short")
		absent(t, got, result.SystemTime, "too_short")
	}
	if cpu := find(t, got, result.CPUTime); cpu.Absent != "" || cpu.Value <= 0 {
		t.Errorf("cpu_time = %+v", cpu)
	}

	r := shell(t, "sleep 0.3")
	got = Do(t.Context(), r)
	user, system, cpu := find(t, got, result.UserTime), find(t, got, result.SystemTime), find(t, got, result.CPUTime)
	if user.Absent != "" || system.Absent != "" || user.Value+system.Value > cpu.Value+1e-9 || cpu.Value > 0.2 {
		t.Errorf("user %v, system %v, cpu %v of a sleep", user, system, cpu)
	}
	peak := find(t, got, result.MemoryPeak)
	if peak.Absent != "" || peak.Value < 100<<10 || peak.Value > 64<<20 {
		t.Errorf("memory_peak of a sleep = %+v", peak)
	}
	if len(got.Sources) != 1 || got.Sources[0].Name != "linuxproc" || got.Sources[0].State != result.SourceOK {
		t.Errorf("sources %+v", got.Sources)
	}
	file, err := os.Open(filepath.Join(r.Folder, SamplesFile))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	set, err := series.Decode(file)
	if memory, ok := set.Find(series.Memory, ""); err != nil || !ok || memory.Len() < 3 {
		t.Errorf("samples.csv: %d readings, %v", memory.Len(), err)
	}
}

func TestLeftover(t *testing.T) {
	r := shell(t, "sleep 100 & exit 0")
	got := Do(t.Context(), r)
	if got.Status != result.Success {
		t.Errorf("got %s", got.Status)
	}
	warned(t, got, "1 process that it started was still alive")
}

func TestWindowKilled(t *testing.T) {
	r := shell(t, "trap '' TERM; echo ready; while :; do sleep 0.05; done")
	r.Cell.Exec.Window = 0.2
	got := Do(t.Context(), r)
	if got.Status != result.WindowReached {
		t.Errorf("got %s", got.Status)
	}
	warned(t, got, "did not end on TERM within 200ms")
}
