package gate

import (
	"math"

	"github.com/perfweir/perfweir/gate/stats"
	"github.com/perfweir/perfweir/gate/verdict"
)

// spread is how much one session of a cell differs from the next, on the log
// scale: what the bounds of design sessions rest on.
type spread struct {
	sd float64
	df int
	// stored is that of sessions with as many repeats as the stored ones have.
	stored stats.SessionSpread
}

// storedSessions is what design sessions knows of one cell's stored sessions.
type storedSessions struct {
	logs    []float64 // of the sessions' medians
	numbers []int     // which sessions: the same number is the same session for all cells
	repeats int       // runs behind the median of a session, as most have
	within  float64   // spread of the runs within sessions, the new one's too; 0 where unknown
}

// poolSpreads estimates the spread between sessions of each contrast from all
// cells of its metric: three sessions of one cell tell next to nothing about
// their spread, three sessions of fifty cells tell a lot.
func (e *evaluation) poolSpreads(jobs []job) {
	for _, group := range byMetric(jobs, func(j *job) bool { return j.contrast != nil && j.contrast.design == verdict.Sessions }) {
		members := make([]*contrast, len(group))
		for i, at := range group {
			members[i] = jobs[at].contrast
		}
		pool(members)
	}
}

// byMetric groups the jobs that are wanted by metric and phase, in their order.
func byMetric(jobs []job, want func(*job) bool) [][]int {
	type key struct{ metric, phase string }
	at := map[key]int{}
	var groups [][]int
	for i := range jobs {
		j := &jobs[i]
		if !want(j) {
			continue
		}
		k := key{j.column.Metric, j.column.Phase}
		if _, ok := at[k]; !ok {
			at[k] = len(groups)
			groups = append(groups, nil)
		}
		groups[at[k]] = append(groups[at[k]], i)
	}
	return groups
}

// pool gives each contrast of a metric its spread: between its own and what the
// cells have in common (stats.SessionSpreads), never below what the metric can
// resolve, and more where the new session has fewer repeats than the stored ones.
func pool(members []*contrast) {
	cells := make([]stats.CellSessions, len(members))
	for i, c := range members {
		cells[i] = stats.CellSessions{Sessions: c.stored.numbers, Logs: c.stored.logs, Resolution: c.resolution()}
	}
	spreads, err := stats.SessionSpreads(cells)
	for i, c := range members {
		s := stats.SessionSpread{SD: c.resolution(), DF: 1} // no cell has two sessions: next to nothing is known
		if err == nil {
			s = spreads[i]
		}
		if m := c.measured; m != nil {
			// What few sessions differ by counts where it is more: those of different
			// nights may differ by more than those of one hour. Their few degrees of
			// freedom do not: with one or two the bounds are so wide that little is found.
			s = stats.SessionSpread{SD: max(s.SD, m.SD), DF: m.DF}
		}
		c.spread = &spread{s.SD, s.DF, s}
		if err == nil || c.measured != nil {
			c.spread.sd = c.spreadAt(len(c.y))
		}
	}
}

// spreadAt is the spread when the new session has so many repeats.
func (c *contrast) spreadAt(repeats int) float64 {
	return c.spread.stored.Widened(c.stored.within, repeats/c.currentSessions, c.stored.repeats, c.sessions, c.currentSessions).SD
}

// between is the standard error of a new session of so many repeats against the
// stored ones, which repeats beyond theirs do not lower.
func (c *contrast) between(repeats int) float64 {
	return c.spreadAt(repeats) * math.Sqrt(1/float64(c.sessions)+1/float64(c.currentSessions))
}

// resolution is the least spread that sessions are taken to have: sessions that
// agreed to the last digit would make every later difference certain.
func (c *contrast) resolution() float64 {
	return max(stats.ResolutionSpread(c.def.Step, exp(c.logReference)), minSpread)
}

// minSpread is 0.1 %: what an idle machine still moves.
const minSpread = 0.001

// newStoredSessions takes the logs of the sessions of a sample, all positive.
func newStoredSessions(s *sample, current []float64) storedSessions {
	out := storedSessions{numbers: s.numbers, logs: make([]float64, len(s.ends)), repeats: s.repeats()}
	groups := make([][]float64, 0, len(s.ends)+1)
	for i := range s.ends {
		values := s.session(i)
		out.logs[i] = math.Log(median(values))
		groups = append(groups, logs(values))
	}
	if sd, _, err := stats.PooledSpread(append(groups, logs(current))); err == nil {
		out.within = sd
	}
	return out
}

// repeats is how many runs a session has, as most have.
func (s *sample) repeats() int {
	counts := make([]int, len(s.ends))
	for i := range s.ends {
		counts[i] = len(s.session(i))
	}
	return stats.MiddleCount(counts)
}
