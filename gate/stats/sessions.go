package stats

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// CellSessions are the log session medians of one cell. Sessions says by number
// which session each is of: cells that were measured in one session share its
// state. A cell may lack sessions, and has each at most once.
type CellSessions struct {
	Sessions []int
	Logs     []float64
	// Resolution is the least spread that the metric lets be seen, on the log
	// scale: sessions that agree to the last digit have at least that. 0 or more.
	Resolution float64
}

// ResolutionSpread is the spread, on the log scale, of a value near v that is told in
// steps only: an error that lies anywhere within one step has the standard deviation
// step/sqrt(12) (JCGM 100:2008, F.2.2.1). At most 1; 0 where step is 0 or a figure is
// none.
func ResolutionSpread(step, v float64) float64 {
	s := step / v / math.Sqrt(12)
	if !(step > 0 && v > 0) || math.IsNaN(s) {
		return 0
	}
	return min(s, 1)
}

// SessionSpread is how much a cell differs from one session to the next: what
// PredictionBounds and PredictionP take as s and df.
type SessionSpread struct {
	SD float64 // of a session's log median
	DF int     // degrees of freedom behind it, at least 1
}

// SessionSpreads estimates the spread between sessions of each cell of a metric,
// from all of them. Alone, a cell with five sessions has four degrees of freedom
// and next to no power in a family of sixty; one spread for all cells has plenty,
// but calls the cells false that are noisier than the others. Between the two:
// each cell's variance is drawn towards the common one as far as the cells are
// alike (Smyth 2004: s^2 = (d0*s0^2 + d*s_c^2)/(d0 + d), with s0 and d0 from the
// distribution of log s_c^2 over the cells).
//
// Cells of one session share its state, so their variances are not independent
// and sum(k-1) degrees of freedom are too many. What all cells together carry
// is estimated from how their deviations go along with each other: (k-1) *
// tr(S)^2/tr(S^2) of their covariance over sessions (Satterthwaite 1946; tr(S^2)
// without bias by Bai & Saranadasa 1996), between k-1 when they move as one and
// the sum when each moves by itself. And d0 is an estimate too, a rough one over
// few cells: what a cell borrows counts by (C-1)/(C+3) for C cells. That factor
// is from simulation; see TestSessionSpreadsKeepTheirLevel for its figures, and
// for those of the plain pooled spread.
//
// A cell with one session has only what it borrows. When no cell has two, nothing
// is known: ErrInsufficient.
func SessionSpreads(cells []CellSessions) ([]SessionSpread, error) {
	own := make([]cellVariance, len(cells))
	for i := range cells {
		v, err := newCellVariance(&cells[i])
		if err != nil {
			return nil, fmt.Errorf("session spreads: cell %d: %w", i, err)
		}
		own[i] = v
	}
	repeated := slices.DeleteFunc(slices.Clone(own), func(v cellVariance) bool { return v.df == 0 })
	if len(repeated) == 0 {
		return nil, fmt.Errorf("session spreads of %d cells without a repeated session: %w", len(cells), ErrInsufficient)
	}
	p := newPrior(cells, repeated)
	out := make([]SessionSpread, len(cells))
	for i, v := range own {
		out[i] = p.moderate(v, cells[i].Resolution)
		if err := checkResult("session spreads", out[i].SD); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// cellVariance is what one cell's sessions say alone.
type cellVariance struct {
	variance float64
	df       float64 // sessions - 1
}

func newCellVariance(c *CellSessions) (cellVariance, error) {
	if err := checkSample("logs", c.Logs); err != nil {
		return cellVariance{}, err
	}
	if len(c.Sessions) != len(c.Logs) {
		return cellVariance{}, fmt.Errorf("%d sessions and %d values", len(c.Sessions), len(c.Logs))
	}
	if !(c.Resolution >= 0) || !finite(c.Resolution) {
		return cellVariance{}, fmt.Errorf("resolution %v: %w", c.Resolution, ErrNotFinite)
	}
	seen := slices.Sorted(slices.Values(c.Sessions))
	if len(slices.Compact(seen)) < len(c.Sessions) {
		return cellVariance{}, fmt.Errorf("sessions %v: one is there twice", c.Sessions)
	}
	if len(c.Logs) == 1 {
		return cellVariance{}, nil
	}
	_, ss := meanAndSquares(c.Logs)
	df := float64(len(c.Logs) - 1)
	return cellVariance{max(ss/df, c.Resolution*c.Resolution), df}, checkResult("variance", ss)
}

// prior is what the cells have in common.
type prior struct {
	variance float64
	df       float64 // what it is worth; +Inf: the cells are alike
	pooled   float64 // degrees of freedom of all cells together
	cells    float64 // that have two sessions or more
}

func newPrior(cells []CellSessions, own []cellVariance) prior {
	p := prior{cells: float64(len(own)), pooled: pooledDF(cells, own)}
	p.variance, p.df = priorOf(own)
	return p
}

// priorOf fits a scaled inverse chi-squared distribution to the variances by the
// first two moments of their logs. Source: Smyth 2004, section 6.2.
func priorOf(own []cellVariance) (variance, df float64) {
	squares, total := 0.0, 0.0
	var e, sampling []float64
	for _, v := range own {
		squares += v.variance * v.df
		total += v.df
		if v.variance > 0 { // sessions that agree to the last digit say nothing of the others
			e = append(e, math.Log(v.variance)-mathext.Digamma(v.df/2)+math.Log(v.df/2))
			sampling = append(sampling, trigamma(v.df/2))
		}
	}
	if len(e) < 2 {
		return squares / total, math.Inf(1)
	}
	centre, ss := meanAndSquares(e)
	excess := ss/float64(len(e)-1) - mean(sampling)
	if excess <= 0 {
		return squares / total, math.Inf(1)
	}
	df = 2 * inverseTrigamma(excess)
	return math.Exp(centre + mathext.Digamma(df/2) - math.Log(df/2)), df
}

// pooledDF is the degrees of freedom of the pooled variance.
func pooledDF(cells []CellSessions, own []cellVariance) float64 {
	sum := 0.0
	for _, v := range own {
		sum += v.df
	}
	each := sum / float64(len(own))
	products := sessionProducts(cells)
	trace, squares := 0.0, 0.0
	for i, row := range products {
		trace += row[i]
		for _, g := range row {
			squares += g * g
		}
	}
	// In units of the covariance: trace/each and squares/each^2. With one degree
	// of freedom a cell nothing tells how the cells go together.
	if trace == 0 || each <= 1 {
		return each
	}
	unbiased := (squares - trace*trace/each) / ((each - 1) * (each + 2))
	if unbiased <= 0 {
		return sum
	}
	return min(max(trace*trace/(each*unbiased), each), sum)
}

// sessionProducts are the sums over cells of the products of their deviations in
// two sessions; a cell that lacks one of both adds nothing.
func sessionProducts(cells []CellSessions) [][]float64 {
	place := map[int]int{}
	for _, c := range cells {
		for _, s := range c.Sessions {
			if _, ok := place[s]; !ok {
				place[s] = len(place)
			}
		}
	}
	products := make([][]float64, len(place))
	for i := range products {
		products[i] = make([]float64, len(place))
	}
	for _, c := range cells {
		centre, _ := meanAndSquares(c.Logs)
		for i, a := range c.Logs {
			row := products[place[c.Sessions[i]]]
			for j, b := range c.Logs {
				row[place[c.Sessions[j]]] += (a - centre) * (b - centre)
			}
		}
	}
	return products
}

// moderate draws a cell's variance towards the common one.
func (p prior) moderate(own cellVariance, resolution float64) SessionSpread {
	variance, df := p.variance, p.pooled
	if !math.IsInf(p.df, 1) {
		variance = (p.df*p.variance + own.df*own.variance) / (p.df + own.df)
		df = min(p.df+own.df, p.pooled)
	}
	df = own.df + max(0, df-own.df)*(p.cells-1)/(p.cells+3)
	return SessionSpread{SD: max(math.Sqrt(variance), resolution), DF: max(1, int(df))}
}

// SessionAllowance is what a relative budget must be widened by, as a fraction,
// where too few sessions are stored to tell their spread: the one-sided bound of
// the difference of q new and k stored sessions that the spread s, known on df
// degrees of freedom from elsewhere (an A/A run on this machine), allows at
// alpha. 0.34 for one session against one at a spread of 12 % known from 20.
func (t *Tables) SessionAllowance(s SessionSpread, k, q int, alpha float64) (float64, error) {
	_, upper, err := t.PredictionBounds(0, s.SD, s.DF, k, q, alpha)
	if err != nil {
		return 0, fmt.Errorf("session allowance: %w", err)
	}
	a := math.Expm1(upper)
	return a, checkResult("session allowance", a)
}

// MedianVariance is the variance of the median of n normal values with standard
// deviation sd: exact for 1 and 2, else pi/2n with a correction for few values
// that is right to 2 %.
func MedianVariance(sd float64, n int) float64 {
	v := sd * sd
	if n <= 2 {
		return v / float64(max(1, n))
	}
	few := math.Pi - 2
	if n%2 == 0 {
		few += 1.5 // the mean of the two middle values
	}
	return v * math.Pi / (2*float64(n) + few)
}

// Widened is the spread for a new session of fewer repeats than the stored ones
// have, as at an early look: its median scatters more than theirs. sd is the
// standard deviation of the logs within a session. More repeats than theirs
// change nothing, which errs to the safe side.
func (s SessionSpread) Widened(sd float64, repeats, storedRepeats, k, q int) SessionSpread {
	extra := MedianVariance(sd, repeats) - MedianVariance(sd, storedRepeats)
	if !(extra > 0) || k < 1 || q < 1 {
		return s
	}
	// All of it is the new sessions': s^2*(1/q + 1/k) + extra/q.
	s.SD = math.Sqrt(s.SD*s.SD + extra/float64(q)/(1/float64(q)+1/float64(k)))
	return s
}

// trigamma is the derivative of digamma, the Hurwitz zeta function of 2.
func trigamma(x float64) float64 { return mathext.Zeta(2, x) }

// inverseTrigamma solves trigamma(x) = v for v > 0 by halving on the log scale:
// trigamma falls from infinity to 0, about as 1/x^2 at 0 and as 1/x far out.
func inverseTrigamma(v float64) float64 {
	lo, hi := math.Log(1e-8), math.Log(1e8)
	for range 100 {
		mid := lo + (hi-lo)/2
		if trigamma(math.Exp(mid)) > v {
			lo = mid
		} else {
			hi = mid
		}
	}
	return math.Exp(lo)
}
