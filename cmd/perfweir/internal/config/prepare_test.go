package config

import (
	"testing"

	"github.com/perfweir/perfweir/collect/plan"
)

func TestBeforeARun(t *testing.T) {
	f := parse(t, `
defaults: {cooldown: 2s, stale_processes: [ffmpeg], prepare: {run: [sync], timeout: 1m}}
benchmarks:
  - {name: a, run: [a]}
  - {name: b, run: [b], cooldown: 0, stale_processes: [], prepare: make clean, cleanup: {run: [rm, x]}}
  - {name: c, run: [c], cooldown: {band: 2.5}, stale_processes: [x264, x265]}
  - {name: d, run: [d], cooldown: {rest: 90s, band: 3}, cleanup: {run: rm x, timeout: 500ms}}
  - {name: e, run: [e], cooldown: {rest: 1s, band: 3, max: 5m}}
`)
	got := map[string]plan.Exec{}
	for _, b := range f.Suite.Benchmarks {
		x := b.Exec
		got[b.Name] = plan.Exec{Prepare: x.Prepare, PrepareSh: x.PrepareSh, PrepareTimeout: x.PrepareTimeout, Cleanup: x.Cleanup,
			CleanupSh: x.CleanupSh, CleanupTimeout: x.CleanupTimeout, Cooldown: x.Cooldown, StaleProcesses: x.StaleProcesses}
	}
	sync, ffmpeg := []string{"sync"}, []string{"ffmpeg"}
	equal(t, "exec", got, map[string]plan.Exec{
		"a": {Prepare: sync, PrepareTimeout: 60, Cooldown: plan.Cooldown{Rest: 2}, StaleProcesses: ffmpeg},
		"b": {Prepare: shellArgv("make clean"), PrepareSh: true, Cleanup: []string{"rm", "x"}},
		"c": {Prepare: sync, PrepareTimeout: 60, Cooldown: plan.Cooldown{Band: 2.5, Max: 60}, StaleProcesses: []string{"x264", "x265"}},
		"d": {Prepare: sync, PrepareTimeout: 60, Cleanup: shellArgv("rm x"), CleanupSh: true, CleanupTimeout: 0.5,
			Cooldown: plan.Cooldown{Rest: 90, Band: 3, Max: 90}, StaleProcesses: ffmpeg},
		"e": {Prepare: sync, PrepareTimeout: 60, Cooldown: plan.Cooldown{Rest: 1, Band: 3, Max: 300}, StaleProcesses: ffmpeg},
	})
}

func TestExclusive(t *testing.T) {
	const suite = "benchmarks: [{name: a, run: [a]}]\n"
	for text, want := range map[string]string{"": ExclusiveMachine, "exclusive: machine\n": ExclusiveMachine, "exclusive: none\n": ExclusiveNone} {
		if got := parse(t, suite+text).Exclusive; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
