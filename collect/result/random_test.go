package result

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"
)

// largeDocument is the largest document that is promised to be quick: 5,000
// cells x 20 runs x 10 metrics, near 17 MB.
func largeDocument(cells, runs, metrics int) *Document {
	rnd := rand.New(rand.NewPCG(1, 2))
	d := &Document{Header: Header{
		Schema:   Schema,
		Suite:    Suite{Name: "codec", Path: "perfweir.yml"},
		Plan:     PlanRef{Digest: "sha256:41", Seed: 7, Looks: []int{runs}, Cells: cells, Runs: cells * runs},
		Builds:   map[string]Build{"head": {Commit: "3c1a"}},
		Sessions: []Session{{ID: "01KB", Machine: "perf-1", Origin: "run", Replicates: ReplicatesProcess}},
		Metrics:  map[string]Metric{},
	}}
	names := BuiltinNames()[:metrics]
	for _, n := range names {
		d.Metrics[n] = Catalogue()[n]
	}
	for i := range cells {
		c := Cell{
			Name: fmt.Sprintf("encode/b%d/%d.bin", i%10, i), Benchmark: "encode", Variant: "b" + strconv.Itoa(i%10),
			Input: strconv.Itoa(i) + ".bin", Build: "head", Digest: fmt.Sprintf("sha256:%064x", i),
			Argv: []string{"bin/encode", "-b", strconv.Itoa(i % 10)}, Planned: runs,
		}
		for j := range runs {
			c.Runs.Repeat = append(c.Runs.Repeat, j+1)
			c.Runs.Block = append(c.Runs.Block, j)
			c.Runs.Slot = append(c.Runs.Slot, rnd.IntN(cells))
			c.Runs.Start = append(c.Runs.Start, math.Round(rnd.Float64()*3600e3)/1e3)
		}
		for m, n := range names {
			col := Column{Metric: n, V: make(Values, runs)}
			for j := range runs {
				switch m % 3 {
				case 0: // a duration in nanoseconds
					col.V[j] = math.Round(rnd.Float64()*1e9) / 1e9
				case 1: // bytes
					col.V[j] = float64(rnd.IntN(1<<30) / 4096 * 4096)
				case 2: // a quotient
					col.V[j] = rnd.NormFloat64()*0.01 + 1.2
				}
			}
			c.Columns = append(c.Columns, col)
		}
		d.Cells = append(d.Cells, c)
	}
	return d
}

// randomDocument makes a document in its normal form: what Decode returns.
func randomDocument(rnd *rand.Rand) *Document {
	d := &Document{Header: randomHeader(rnd)}
	names := make([]string, 0, len(d.Metrics))
	for n := range d.Metrics {
		names = append(names, n)
	}
	for i := range rnd.IntN(5) {
		c := Cell{
			Name: randomText(rnd), Benchmark: "b" + randomText(rnd), Variant: strconv.Itoa(i), Input: randomText(rnd),
			Build: randomText(rnd), Digest: randomText(rnd), Note: randomText(rnd), Source: randomText(rnd),
			Planned: rnd.IntN(30),
		}
		if rnd.IntN(2) == 0 {
			c.Looks = []int{c.Planned + 1, c.Planned + 3}
			c.Planned += 3
		}
		if rnd.IntN(2) == 0 {
			c.Argv = []string{randomText(rnd), randomText(rnd)}
			c.Was = []string{randomText(rnd)}
			c.Labels = map[string]string{randomText(rnd): randomText(rnd), "lane": ""}
		}
		if len(d.Sessions) > 0 {
			c.Runs = randomRuns(rnd, len(d.Sessions))
		}
		seen := map[string]bool{}
		for range rnd.IntN(4) {
			if len(names) == 0 {
				break
			}
			col := randomColumn(rnd, c.Runs.Len())
			col.Metric = names[rnd.IntN(len(names))]
			if key := col.Metric + "\x00" + col.Phase + "\x00" + col.Part; !seen[key] {
				seen[key] = true
				c.Columns = append(c.Columns, col)
			}
		}
		d.Cells = append(d.Cells, c)
	}
	return d
}

func randomHeader(rnd *rand.Rand) Header {
	h := Header{
		Schema: Schema, Suite: Suite{Name: randomText(rnd), Path: randomText(rnd), Digest: randomText(rnd)},
		Plan: PlanRef{Digest: randomText(rnd), Seed: rnd.Uint64(), Cells: rnd.IntN(9), Runs: rnd.IntN(99)},
	}
	for i := range rnd.IntN(3) {
		h.Plan.Looks = append(h.Plan.Looks, i)
		h.Plan.Reached = rnd.IntN(i + 2)
		h.Plan.Shards = append(h.Plan.Shards, ShardRef{randomText(rnd), randomText(rnd), rnd.Uint64(), i == 0})
		h.Plan.Shard, h.Plan.Whole = randomText(rnd), randomText(rnd)
		h.Skipped = append(h.Skipped, Skipped{Name: randomText(rnd), Why: randomText(rnd)})
		h.Dealt = append(h.Dealt, Dealt{Shard: i, Benchmark: randomText(rnd), Input: randomText(rnd), Build: randomText(rnd),
			Was: []string{randomText(rnd)}, Digest: randomText(rnd), Planned: rnd.IntN(30)})
		s := Session{
			ID: strconv.Itoa(i) + randomText(rnd), Machine: randomText(rnd), Origin: "run", Replicates: ReplicatesProcess,
			StartedAt: time.Unix(rnd.Int64N(4e9), rnd.Int64N(1e9)).UTC(), LaunchFloor: rnd.Int64(), Interrupted: rnd.IntN(2) == 0,
			Host: Host{Strict: map[string]string{"cpu": randomText(rnd)}},
		}
		if i == 1 {
			s.WorkflowRun = &WorkflowRun{1, rnd.Int64(), 2, randomText(rnd), randomText(rnd)}
			s.Host.Soft = map[string]string{randomText(rnd): randomText(rnd)}
			s.Sources = []Source{{Name: "linuxproc", State: SourceOK, Every: randomFloat(rnd), Cost: 0.1, Missed: 3}}
		}
		h.Sessions = append(h.Sessions, s)
	}
	for i := range rnd.IntN(3) {
		if h.Builds == nil {
			h.Builds, h.Metrics = map[string]Build{}, map[string]Metric{}
		}
		h.Builds[randomText(rnd)] = Build{Commit: randomText(rnd), Dirty: i == 0, Programs: map[string]string{"a": randomText(rnd)}}
		h.Metrics[randomText(rnd)] = Metric{Unit: randomText(rnd), Better: Lower, Class: Noisy, Step: math.Abs(randomFloat(rnd))}
	}
	return h
}

func randomRuns(rnd *rand.Rand, sessions int) Runs {
	var r Runs
	n := rnd.IntN(6)
	for i := range n {
		r.Repeat = append(r.Repeat, rnd.IntN(4))
		r.Block = append(r.Block, rnd.IntN(100))
		r.Slot = append(r.Slot, rnd.IntN(100))
		r.Start = append(r.Start, randomFloat(rnd))
		if rnd.IntN(3) == 0 {
			setPosition(&r.Status, i, []Status{WindowReached, Timeout, Signal, SpawnError}[rnd.IntN(4)])
			code, valid := rnd.IntN(200), rnd.IntN(2) == 0
			setPosition(&r.Detail, i, Detail{
				ExitCode: &code, Valid: &valid, Signal: randomText(rnd), StderrTail: randomText(rnd), Warnings: []string{randomText(rnd)},
			})
		}
	}
	for _, s := range []*[]int{&r.Attempt, &r.Look} {
		for i := 0; i < n && (len(*s) > 0 || rnd.IntN(2) == 0); i++ {
			*s = append(*s, 1+rnd.IntN(3))
		}
		if len(*s) != n {
			*s = nil
		}
	}
	if rnd.IntN(2) == 0 {
		for range n {
			r.Session = append(r.Session, rnd.IntN(sessions))
		}
	}
	return r
}

func randomColumn(rnd *rand.Rand, runs int) Column {
	c := Column{Phase: randomText(rnd), Part: randomText(rnd)}
	bounded := rnd.IntN(2) == 0
	for i := range runs {
		if rnd.IntN(4) == 0 {
			c.V = append(c.V, math.NaN())
			setPosition(&c.Absent, i, "r"+randomText(rnd))
		} else {
			c.V = append(c.V, randomFloat(rnd))
		}
		if bounded {
			c.Bound = append(c.Bound, math.Abs(randomFloat(rnd)))
		}
	}
	if bounded && runs > 0 && rnd.IntN(2) == 0 {
		c.Bound[0] = math.NaN()
	}
	return c
}

// randomFloat is any finite float64, often a short one.
func randomFloat(rnd *rand.Rand) float64 {
	switch rnd.IntN(4) {
	case 0:
		return math.Copysign(float64(rnd.IntN(1000)), rnd.Float64()-0.5)
	case 1:
		return float64(rnd.IntN(1e9)) / 1e6
	}
	for {
		if v := math.Float64frombits(rnd.Uint64()); !math.IsNaN(v) && !math.IsInf(v, 0) {
			return v
		}
	}
}

// randomText is what a cell may be called and a program may print.
func randomText(rnd *rand.Rand) string {
	alphabet := []rune("abc/.\"\\\n\t\x00\x1f\x7f<>&é世😀\u2028\ufffd")
	text := make([]rune, rnd.IntN(6))
	for i := range text {
		text[i] = alphabet[rnd.IntN(len(alphabet))]
	}
	return string(text)
}
