package trend

import (
	"fmt"
	"math"
	"strings"

	"github.com/perfweir/perfweir/gate/exhibit"
	"github.com/perfweir/perfweir/gate/stats"
)

// anchor says what ratios are to, and gives every point its own.
func (s *stretch) anchor(commit string) {
	at := s.anchored(commit)
	s.Anchor.Missing = commit != "" && len(at) == 0
	if len(at) == 0 {
		at = []int{0}
	} else {
		s.Anchor.Commit = s.Points[at[0]].Commit
	}
	values := make([]float64, len(at))
	for i, k := range at {
		values[i] = s.Points[k].Median
	}
	s.Anchor.Value = median(values)
	for i := range s.Points {
		p := &s.Points[i]
		if r := p.Median / s.Anchor.Value; p.Median > 0 && s.Anchor.Value > 0 && !math.IsInf(r, 0) {
			p.Ratio = &r
		}
	}
}

// anchored are the sessions of a commit.
func (s *stretch) anchored(commit string) []int {
	var at []int
	for i := range s.Points {
		if commit != "" && strings.HasPrefix(s.Points[i].Commit, commit) && !s.Points[i].Dirty {
			at = append(at, i)
		}
	}
	return at
}

// movements names what happened to the series.
func (s *stretch) movements() {
	x := make([]float64, len(s.Points))
	for i := range s.Points {
		x[i] = math.Log(s.Points[i].Median)
		if math.IsNaN(x[i]) || math.IsInf(x[i], 0) {
			s.Note = "changes were not looked for: a session has the value 0 or less, which has no ratio"
			return
		}
	}
	if len(x) < fewest {
		s.Note = fmt.Sprintf("changes were not looked for: that takes %d sessions, and there are %d", fewest, len(x))
	} else {
		m, err := stats.FindMovements(x, stats.DefaultChangeRule())
		if err != nil {
			s.Note = "changes were not looked for: " + err.Error()
			return
		}
		s.read(m)
	}
	s.drift(x)
}

func (s *stretch) read(m stats.Movements) {
	for _, c := range m.Steps {
		s.Steps = append(s.Steps, exhibit.TrendStep{At: c.At, Ratio: math.Exp(c.Step), P: c.P})
	}
	for _, c := range m.Creeps {
		s.Creeps = append(s.Creeps, exhibit.TrendCreep{From: c.From, To: c.To, Ratio: math.Exp(c.Change), P: c.P})
	}
}

// drift holds the newest sessions against the anchor: those since the last step,
// at most five, the anchor's own not among them.
func (s *stretch) drift(x []float64) {
	from := max(0, len(x)-recent)
	if n := len(s.Steps); n > 0 {
		from = max(from, s.Steps[n-1].At)
	}
	at := []int{0}
	if s.Anchor.Commit != "" {
		at = s.anchored(s.Anchor.Commit)
	}
	from = max(from, at[len(at)-1]+1)
	if len(x)-from < 2 {
		return
	}
	anchor := make([]float64, len(at))
	for i, k := range at {
		anchor[i] = x[k]
	}
	d, err := new(stats.Tables).AgainstAnchor(anchor, x[from:], Level)
	if err != nil {
		return // too few sessions to bound it
	}
	s.Drift = &exhibit.TrendDrift{Sessions: len(x) - from, Anchored: len(at), Ratio: math.Exp(d.Shift), Level: Level,
		Interval: [2]float64{math.Exp(d.Lower), math.Exp(d.Upper)}}
}
