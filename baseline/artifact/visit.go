package artifact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/collect/result"
)

// visit looks at one workflow run.
func (w *walk) visit(ctx context.Context, run *WorkflowRun) {
	if why := w.tooOld(run); why != "" {
		w.reject(run, why, false)
		w.done = true
		return
	}
	if why := runPassport(w.q, run); why != "" {
		w.reject(run, why, false)
		return
	}
	why, err := w.before.why(ctx, w.gh, run.HeadSHA)
	if err != nil {
		w.couldNotAsk(err)
		w.done = true // nothing can be decided without it
		return
	}
	if why != "" {
		w.reject(run, why, false)
		return
	}
	if w.listings == w.lim.Listings {
		w.stop("the artifacts of the newest %d workflow runs were looked at", w.listings)
		return
	}
	w.listings++
	list, err := w.list(ctx, run)
	if err != nil {
		w.listFailed(run, err)
		return
	}
	if len(list) == 0 {
		why, refresh := leftNone(w.q, run)
		w.reject(run, why, refresh)
		return
	}
	if w.q.All {
		w.takeAll(ctx, run, list)
		return
	}
	w.takeFrom(ctx, run, list)
}

func (w *walk) stop(format string, n int) { w.bound, w.done = fmt.Sprintf(format, n), true }

// mayLast is how long after its start a workflow run may begin to measure, s: a
// job waits for a day at most, and on a runner of one's own goes on for five.
const mayLast = 7 * 24 * 3600

// tooOld says why a run, and those before it, cannot have a session that is young
// enough: they need not even be asked for.
func (w *walk) tooOld(run *WorkflowRun) string {
	age := w.q.Want.StartedAt.Sub(run.StartedAt).Seconds()
	if w.q.MaxAge <= 0 || run.StartedAt.IsZero() || age <= w.q.MaxAge+mayLast {
		return ""
	}
	return fmt.Sprintf("%s old, limit %s; older ones were not looked at", baseline.Days(age), baseline.Days(w.q.MaxAge))
}

// listFailed: a run that was deleted meanwhile is no failure.
func (w *walk) listFailed(run *WorkflowRun, err error) {
	if errors.Is(err, fs.ErrNotExist) {
		w.reject(run, "GitHub has it no more", false)
		return
	}
	w.couldNotAsk(fmt.Errorf("list the artifacts of workflow run %d: %w", run.ID, err))
	w.reject(run, fmt.Sprintf("its artifacts could not be listed: %v", err), false)
}

// leftNone says why a run without an artifact of the suite is not taken, and
// whether it should have left one. One that succeeded did what it was to do: a
// workflow may measure only what a change touches.
func leftNone(q *Query, run *WorkflowRun) (why string, refresh bool) {
	what := fmt.Sprintf("no results of suite %q", q.Want.Suite)
	if run.Status != "completed" {
		return "goes on, and has left " + what + " yet", false
	}
	return fmt.Sprintf("left %s (%s)", what, shorten(run.Conclusion)), run.Conclusion != "success"
}

// list asks for the artifacts of a run and returns those with results of the
// suite, the latest attempt first.
func (w *walk) list(ctx context.Context, run *WorkflowRun) ([]named, error) {
	var out []named
	seen := 0
	for a, err := range w.gh.RunArtifacts(ctx, run.ID) {
		if err != nil {
			return nil, err
		}
		if n, ok := parse(a, w.q.Want.Suite); ok {
			out = append(out, n)
			if w.nothingBetter(run, n) {
				break // further pages cannot have a better one
			}
		}
		if seen++; seen == w.lim.Artifacts {
			w.found.Warnings = append(w.found.Warnings, fmt.Sprintf("workflow run %d: only %d artifacts were looked at", run.ID, seen))
			break
		}
	}
	slices.SortStableFunc(out, func(a, b named) int {
		return cmp.Or(cmp.Compare(b.attempt, a.attempt), strings.Compare(a.Name, b.Name))
	})
	return out, nil
}

// nothingBetter: the whole matrix, on this machine, of the latest attempt.
func (w *walk) nothingBetter(run *WorkflowRun, n named) bool {
	return w.isOwn(n) && n.attempt == run.Attempt && !n.Expired && n.shard == wholeShard && shardPart(w.q.Shard) == wholeShard
}

// takeFrom takes what fits from the artifacts of a run: for each shard that is
// wanted those of this machine, or, where it has none, of one of its kind.
func (w *walk) takeFrom(ctx context.Context, run *WorkflowRun, list []named) {
	own := keep(list, w.isOwn)
	if len(own) == 0 && w.q.SameMachineOnly {
		w.reject(run, fmt.Sprintf("has results of %s only, and machine is %q", machines(list), baseline.SameMachine), true)
		return
	}
	for _, shard := range w.shards(list, own) {
		// Where only this machine counts, it has every shard that is wanted.
		ofShard := keep(list, func(n named) bool { return n.shard == shard })
		if own := keep(ofShard, w.isOwn); len(own) > 0 {
			w.takeOne(ctx, run, own)
		} else {
			w.takeOther(ctx, run, ofShard)
		}
		if w.done || ctx.Err() != nil {
			return
		}
	}
	// A run delivers its shards together: with enough of one there is enough of each.
	w.done = w.enough()
}

// expiredMost is from how many workflow runs in a row, all of whose results have
// expired, the older ones are taken to have expired, too: whoever looks back comes
// to where retention ends every time, and has what there was until then.
const expiredMost = 5

// takeAll takes what every machine left of every shard, until there is enough.
func (w *walk) takeAll(ctx context.Context, run *WorkflowRun, list []named) {
	type place struct{ machine, shard string }
	seen := map[place]bool{}
	for _, n := range list {
		at := place{n.machine, n.shard}
		if seen[at] {
			continue
		}
		seen[at] = true
		w.takeOne(ctx, run, keep(list, func(o named) bool { return at == place{o.machine, o.shard} }))
		w.done = w.done || w.enough()
		if w.done || ctx.Err() != nil {
			return
		}
	}
	if slices.ContainsFunc(list, func(n named) bool { return !expired(&n.Artifact, w.q.Want.StartedAt) }) {
		w.expired = 0
		return
	}
	if w.expired++; w.expired >= expiredMost && w.found.Fit > 0 {
		w.stop("%d workflow runs in a row were looked at whose results have all expired", w.expired)
	}
}

func (w *walk) isOwn(n named) bool {
	return w.q.Machine != "" && n.machine == machinePart(w.q.Machine)
}

// shards are those that are wanted of a run: the current session's where the run
// was dealt the same way, else the whole, else all. What this machine measured
// tells how the run was dealt; other machines beside it may measure otherwise.
func (w *walk) shards(list, own []named) []string {
	if w.q.SameMachineOnly {
		list = own
	}
	have, dealt := map[string]bool{}, map[string]bool{}
	for _, n := range list {
		have[n.shard] = true
	}
	for _, n := range own {
		dealt[deal(n.shard)] = true
	}
	if one := shardPart(w.q.Shard); one != wholeShard && have[one] {
		return []string{one}
	}
	if have[wholeShard] && (len(own) == 0 || dealt[deal(wholeShard)]) {
		return []string{wholeShard}
	}
	maps.DeleteFunc(have, func(shard string, _ bool) bool { return len(own) > 0 && !dealt[deal(shard)] })
	return slices.Sorted(maps.Keys(have))
}

// deal is in how many parts a shard's matrix was dealt: "of3".
func deal(shard string) string { return shard[max(strings.LastIndex(shard, "of"), 0):] }

// otherTries bounds downloads of other machines' results of one run and shard,
// until their kinds are known.
const otherTries = 3

// takeOther takes the results of another machine of the same kind, those first
// that are known to be.
func (w *walk) takeOther(ctx context.Context, run *WorkflowRun, list []named) {
	may := keep(list, func(n named) bool { return w.kinds[n.machine] != otherKind })
	if len(may) == 0 {
		w.reject(run, fmt.Sprintf("has results of %s only, of another kind", machines(list)), true)
		return
	}
	slices.SortStableFunc(may, func(a, b named) int { return cmp.Compare(w.kinds[b.machine], w.kinds[a.machine]) })
	w.takeOne(ctx, run, may[:min(otherTries, len(may))])
}

// takeOne reads artifacts until one brings a session that fits.
func (w *walk) takeOne(ctx context.Context, run *WorkflowRun, list []named) {
	for _, n := range list {
		before := w.found.Fit
		w.take(ctx, run, n)
		if w.done || ctx.Err() != nil || w.found.Fit > before {
			return
		}
	}
}

// take reads one artifact and makes a candidate of it.
func (w *walk) take(ctx context.Context, run *WorkflowRun, n named) {
	c := baseline.Candidate{File: runLabel(run) + " " + n.label(), Refresh: runLabel(run)}
	if why := artifactPassport(w.q, run, &n.Artifact); why != "" {
		c.Err = errors.New(why)
	} else if w.downloads == w.lim.Downloads || w.bytes >= w.lim.Documents {
		w.stop("%d artifacts were read", w.downloads)
		return
	} else {
		c.Doc, c.Err = w.read(ctx, run, n)
	}
	if CouldNotAsk(c.Err) {
		c.Refresh = ""
		w.couldNotAsk(fmt.Errorf("read artifact %s of workflow run %d: %w", n.Name, run.ID, c.Err))
	}
	w.found.Candidates = append(w.found.Candidates, c)
	if c.Doc == nil {
		return
	}
	w.found.Fit = len(w.fitting())
	w.learnKind(n, c.Doc)
}

// kind is what is known of a machine that is named in artifacts.
type kind int

const (
	otherKind kind = iota - 1
	unknownKind
	sameKind
)

// strangersMost is from how many sessions of this very machine, all of another
// kind than it is now, the older ones are taken to be so, too: hardware, driver or
// power mode were changed, and asking on would cost two requests for each.
const strangersMost = 5

// learnKind remembers whether a machine is of this one's kind.
func (w *walk) learnKind(n named, doc *result.Document) {
	if len(doc.Sessions) == 0 {
		return
	}
	w.kinds[n.machine] = otherKind
	if w.q.Want.AnyMachine || baseline.HostDifference(w.q.Want.Host, doc.Sessions[0].Host) == "" {
		w.kinds[n.machine] = sameKind
		return
	}
	if w.isOwn(n) {
		w.strangers++
	}
	if w.strangers == strangersMost && w.found.Fit == 0 {
		w.stop("the newest %d sessions of this machine were looked at, all of another kind than it is now", w.strangers)
	}
}

// read downloads and decodes an artifact, and holds what it says against GitHub.
func (w *walk) read(ctx context.Context, run *WorkflowRun, n named) (*result.Document, error) {
	w.downloads++
	data, contentType, err := download(ctx, w.gh, n.Artifact, w.lim)
	if err != nil {
		return nil, err
	}
	w.inARow = 0
	lim := w.lim
	lim.Document = min(lim.Document, lim.Documents-w.bytes)
	doc, size, err := readResults(data, contentType, lim)
	if large := (tooLarge{}); errors.As(err, &large) && large.size <= uint64(w.lim.Document) {
		// Older ones are as large: to ask for each of them would bring nothing.
		w.stop("%d artifacts were read, with as many bytes of results as are kept together", w.downloads)
	}
	if err != nil {
		return nil, err
	}
	if err := claims(run, doc); err != nil {
		return nil, err
	}
	w.bytes += size
	return doc, nil
}

// fitting are the sessions that will be compared with: the rules are Select's.
func (w *walk) fitting() []baseline.Stored {
	p := baseline.Policy{Sessions: w.q.Sessions, MaxAge: w.q.MaxAge}
	if w.q.SameMachineOnly {
		p.Machine = baseline.SameMachine
	}
	return baseline.Select(p, w.q.Want, "", w.found.Candidates).Sessions
}

// enough reports whether a shard has as many sessions as are wanted, or where All
// are taken, whether there are as many.
func (w *walk) enough() bool {
	if w.q.All {
		return w.found.Fit >= w.q.Sessions
	}
	n := map[string]int{}
	for _, s := range w.fitting() {
		if n[s.Doc.Plan.Shard]++; n[s.Doc.Plan.Shard] == w.q.Sessions {
			return true
		}
	}
	return false
}

func keep(list []named, f func(named) bool) []named {
	var out []named
	for _, n := range list {
		if f(n) {
			out = append(out, n)
		}
	}
	return out
}

// machines lists the machines of artifacts for people.
func machines(list []named) string {
	names := map[string]bool{}
	for _, n := range list {
		names[n.machine] = true
	}
	all := slices.Sorted(maps.Keys(names))
	const most = 5
	if len(all) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), len(all)-most)
	}
	return strings.Join(all, ", ")
}
