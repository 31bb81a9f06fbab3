package artifact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/collect/result"
)

// Result is what one machine left of one shard, or why it cannot be read.
type Result struct {
	Name    string // of the artifact
	Machine string // as names have it; the document's sessions have it as it is
	Shard   string // as names have it: "2of3"
	Attempt int    // of the workflow run, by the name
	Doc     *result.Document
	// Again are the doubts of Doc that were measured again beside the base build; nil:
	// none were.
	Again *result.Document
	Err   error // exactly one of Doc and Err is set
}

// Results reads the results of a suite that one workflow run left, for a job that
// judges what others measured: of each machine and shard the latest attempt, in
// the order of names. An earlier attempt never stands in for one that cannot be
// read: it is of other measurements.
//
// Nothing in them is trusted. The caller knows from GitHub, not from a document,
// which repository, commit and pull request the workflow run was of.
//
// The error means that GitHub could not be asked, or that there is more than
// Limits allow; that there is none is no error. What is wrong with one artifact is
// that Result's error: those that CouldNotAsk tells leave open what it holds.
func Results(ctx context.Context, gh GitHub, runID int64, suite string, limits Limits) ([]Result, error) {
	if suite == "" || runID == 0 {
		return nil, fmt.Errorf("read results of workflow run %d: missing the suite or the run", runID)
	}
	setDefault(&limits.Downloads, defaultResults)
	lim := limits.filled(0)
	list, err := newest(ctx, gh, runID, suite, lim)
	if err != nil {
		return nil, fmt.Errorf("read results of workflow run %d: %w", runID, err)
	}
	out := make([]Result, 0, len(list))
	left := lim.Documents
	for _, n := range list {
		r := Result{Name: n.Name, Machine: n.machine, Shard: n.shard, Attempt: n.attempt}
		var size int64
		r.Doc, r.Again, size, r.Err = readOne(ctx, gh, runID, suite, n, lim, left)
		left -= size
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("read results of workflow run %d: %w", runID, err)
		}
		out = append(out, r)
	}
	return out, nil
}

// newest lists the artifacts to read: one for each machine and shard.
func newest(ctx context.Context, gh GitHub, runID int64, suite string, lim Limits) ([]named, error) {
	type place struct{ machine, shard string }
	latest := map[place]named{}
	seen := 0
	for a, err := range gh.RunArtifacts(ctx, runID) {
		if err != nil {
			return nil, fmt.Errorf("list its artifacts: %w", err)
		}
		if seen++; seen > lim.Artifacts {
			return nil, fmt.Errorf("it has more than %d artifacts", lim.Artifacts)
		}
		n, ok := parse(a, suite)
		if !ok {
			continue
		}
		at := place{n.machine, n.shard}
		if have, ok := latest[at]; !ok || n.attempt > have.attempt {
			latest[at] = n
		}
		if len(latest) > lim.Downloads {
			return nil, fmt.Errorf("it has results of more than %d machines and shards", lim.Downloads)
		}
	}
	list := make([]named, 0, len(latest))
	for _, n := range latest {
		list = append(list, n)
	}
	slices.SortFunc(list, func(a, b named) int { return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return list, nil
}

// readOne reads one artifact of a run; left bounds the bytes of its documents.
func readOne(ctx context.Context, gh GitHub, runID int64, suite string, n named, lim Limits, left int64) (doc, again *result.Document, size int64, err error) {
	switch {
	case n.Expired:
		return nil, nil, 0, errors.New("expired")
	case n.RunID != 0 && n.RunID != runID:
		return nil, nil, 0, fmt.Errorf("is of workflow run %d", n.RunID)
	case left <= 0:
		return nil, nil, 0, fmt.Errorf("not read: the others have %d bytes together", lim.Documents)
	}
	data, contentType, err := download(ctx, gh, n.Artifact, lim)
	if err != nil {
		return nil, nil, 0, err
	}
	lim.Document = min(lim.Document, left)
	doc, size, err = readResults(data, contentType, lim)
	if err == nil {
		err = ofRun(runID, suite, doc)
	}
	if err != nil {
		return nil, nil, size, err
	}
	lim.Document = min(lim.Document, max(0, left-size))
	again, more, err := readEntry(data, contentType, againFile, lim)
	var none noEntry
	switch {
	case errors.As(err, &none):
		return doc, nil, size, nil
	case err == nil:
		err = ofRun(runID, suite, again)
	}
	if err == nil && again.Plan.Confirms != doc.Plan.Digest {
		err = fmt.Errorf("%s is of other measurements than %s", againFile, resultsFile)
	}
	if err != nil {
		// Without it a verdict would be another than the one that was told.
		return nil, nil, size + more, err
	}
	return doc, again, size + more, nil
}

// ofRun holds what a document says of itself against the run that left it.
func ofRun(runID int64, suite string, doc *result.Document) error {
	if doc.Suite.Name != suite {
		return fmt.Errorf("says it is of suite %q", shorten(doc.Suite.Name))
	}
	if len(doc.Sessions) == 0 {
		return errors.New("has no session")
	}
	for i := range doc.Sessions {
		if err := sessionClaims(runID, &doc.Sessions[i]); err != nil {
			return err
		}
	}
	return nil
}
