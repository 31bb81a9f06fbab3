// Package stats holds the statistics that verdicts rest on: location and
// spread, quantiles, exact rank tests with the bounds that belong to them,
// t tests, prediction bounds over sessions, corrections for families of tests,
// the planning of repeats and of looks, bounds of rates, and what happened to a
// series of sessions: steps, creeps, the distance from an anchor.
//
// It knows nothing of cells, budgets or documents: numbers come in as slices,
// results go back as values, and gate turns them into findings. It refuses to
// guess: NaN, an infinity or an empty input is an error (ErrNotFinite,
// ErrEmpty), a count that cannot carry the asked figure is ErrInsufficient or an
// explicit "not bounded", and no function returns NaN. Inputs are never changed.
//
// Two conventions hold throughout. Where two samples are taken, x is the
// reference and y the current one, and differences are y - x; RankSum is the
// exception, its U is that of its first argument, as in R and SciPy. Every alpha
// is the error of one side.
//
// Levels are compared with a relative slack of 1e-12 (see Reaches), since 1/20
// and 0.05 must count as equal however they were computed.
package stats
