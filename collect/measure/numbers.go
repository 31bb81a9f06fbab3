package measure

import (
	"errors"
	"io/fs"
	"sync"

	"github.com/perfweir/perfweir/collect/host"
	"github.com/perfweir/perfweir/collect/launch"
	"github.com/perfweir/perfweir/collect/parse/generic"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/reduce"
	"github.com/perfweir/perfweir/collect/result"
)

// measure makes the measurements of a command that was launched. A command that
// crashed or timed out is measured as far as it came: the status tells the gate
// not to compare.
func (j *job) measure() {
	if !j.started() {
		j.notRun()
		return
	}
	j.builtins()
	j.outputSizes()
	j.readers()
	j.report()
	j.throughput()
	if j.misshapen != "" && j.out.Status.OK() {
		j.out.Status, j.out.Detail.Reason = result.InvalidOutput, j.misshapen
		j.out.Detail.StderrTail = tail(j.run.Folder, StderrLog, stderrTail)
	}
}

func (j *job) add(m ...generic.Measurement) {
	j.out.Measurements = append(j.out.Measurements, m...)
}

// residentStep is that of this machine, in B.
var residentStep = sync.OnceValue(func() float64 { return host.ResidentStep("/") })

// definitions are those of the catalogue, as this machine resolves them.
func definitions() map[string]result.Metric {
	defs := result.Catalogue()
	for _, name := range []string{result.MemoryPeak, result.MemoryPeakProcess} {
		def := defs[name]
		def.Step = residentStep()
		defs[name] = def
	}
	return defs
}

// builtins are the metrics of every run.
func (j *job) builtins() {
	defs := definitions()
	put := func(name string, v reduce.Value) {
		if !v.OK() {
			j.add(generic.Missing(name, "", v.Absent, defs[name]))
			return
		}
		m := generic.Present(name, "", v.V, defs[name])
		if v.Bound > 0 {
			m.Bound = v.Bound
		}
		j.add(m)
	}
	wall := reduce.Exact(j.exit.Wall.Seconds(), 0)
	if why := j.censored(); why != "" {
		wall = reduce.Absent(why)
	}
	put(result.WallTime, wall)
	cpu, user, system := j.cpuTimes()
	put(result.CPUTime, cpu)
	put(result.UserTime, user)
	put(result.SystemTime, system)
	peak, process := j.memory()
	put(result.MemoryPeak, peak)
	put(result.MemoryPeakProcess, process)
}

// censored is the reason for which the run has no wall time: that of a run which
// we ended is ours and not the command's.
func (j *job) censored() string {
	switch j.out.Status {
	case result.Timeout, result.Interrupted:
		return string(j.out.Status)
	}
	if j.exit.End == launch.EndLost {
		return result.AbsentUnreadable // it may have gone on
	}
	return ""
}

// outputSizes records the sizes of the files that the suite expects.
func (j *job) outputSizes() {
	for i, e := range j.exec.Expect {
		name := sizeMetric(i, e)
		if name == "" {
			continue
		}
		f := j.locate(e.File)
		opened, info, err := openFile(f.base, f.name, f.shown)
		if err == nil {
			opened.Close()
			err = j.written(f, info)
		}
		if err != nil {
			j.add(generic.Missing(name, "", absentFor(err), sizeDef()))
			continue
		}
		j.add(generic.Present(name, "", float64(info.Size()), sizeDef()))
	}
}

func sizeMetric(i int, e plan.Expect) string {
	if e.Metric == "" && i == 0 {
		return result.OutputSize
	}
	return e.Metric
}

func sizeDef() result.Metric { return result.Catalogue()[result.OutputSize] }

// absentFor is the reason of a value that a file should have given.
func absentFor(err error) string {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errStale) {
		return result.AbsentNotReported
	}
	return result.AbsentUnreadable
}

// throughput is units per second of wall time, unless the program told its own.
func (j *job) throughput() {
	if j.exec.UnitsPerRun <= 0 {
		return
	}
	def := result.Catalogue()[result.Throughput]
	def.Source = "launch"
	for _, m := range j.out.Measurements {
		if m.Metric == result.Throughput && m.Part == "" {
			return
		}
	}
	if why := j.censored(); why != "" {
		j.add(generic.Missing(result.Throughput, "", why, def))
		return
	}
	j.add(generic.Present(result.Throughput, "", j.exec.UnitsPerRun/j.exit.Wall.Seconds(), def))
}

// notRun lists everything that the run would have measured, absent.
func (j *job) notRun() {
	defs := definitions()
	for _, name := range []string{
		result.WallTime, result.CPUTime, result.UserTime, result.SystemTime, result.MemoryPeak, result.MemoryPeakProcess,
	} {
		j.add(generic.Missing(name, "", result.AbsentNotRun, defs[name]))
	}
	for i, e := range j.exec.Expect {
		if name := sizeMetric(i, e); name != "" {
			j.add(generic.Missing(name, "", result.AbsentNotRun, sizeDef()))
		}
	}
	for _, rd := range j.exec.Read {
		j.add(generic.Absences(rd, result.AbsentNotRun)...)
	}
	if j.exec.UnitsPerRun > 0 {
		j.add(generic.Missing(result.Throughput, "", result.AbsentNotRun, defs[result.Throughput]))
	}
}

// unique leaves one measurement of a metric, phase and part. Two are a
// contradiction, so that one has no value.
func (j *job) unique(all []generic.Measurement) []generic.Measurement {
	type key struct{ metric, phase, part string }
	at := map[key]int{}
	var out []generic.Measurement
	for _, m := range all {
		k := key{m.Metric, m.Phase, m.Part}
		first, twice := at[k]
		if !twice {
			at[k] = len(out)
			out = append(out, m)
			continue
		}
		if out[first].Absent == result.AbsentDuplicateName {
			continue
		}
		if m.Absent == result.AbsentNotRun && out[first].Absent == m.Absent {
			continue // two readers of one name that never ran
		}
		out[first] = generic.Missing(m.Metric, m.Part, result.AbsentDuplicateName, out[first].Def)
		j.warn("metric %s was measured twice: it has no value", m.Metric)
	}
	return out
}
