package artifact

import (
	"strconv"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/baseline/sourcetest"
)

// workflow is a workflow under test, each of whose runs left one document: the one
// that was put as "07.json" is that of run 7.
type workflow struct{ *world }

func (w workflow) Put(t *testing.T, name string, data []byte) {
	t.Helper()
	id, err := strconv.ParseInt(strings.TrimSuffix(name, ".json"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	run := goodRun(id)
	w.upload(run, Name("codec", "m", "", 1), zipped(t, entry{name: resultsFile, data: data}))
	// The server lists the newest first, whatever came first here.
	for i := range w.runs {
		if w.runs[i].ID < id {
			w.runs = append(w.runs[:i:i], append([]WorkflowRun{run}, w.runs[i:]...)...)
			return
		}
	}
	w.run(run)
}

func (w workflow) Candidates() ([]baseline.Candidate, error) {
	found, err := Candidates(w.t.Context(), w.fakeGitHub, w.q)
	for i := range found.Candidates {
		c := &found.Candidates[i]
		id := strings.Fields(c.File)[2]
		c.File = strings.Repeat("0", 2-len(id)) + id + ".json"
	}
	return found.Candidates, err
}

func TestWorkflowIsASource(t *testing.T) {
	for _, all := range []bool{false, true} {
		sourcetest.Run(t, func(t *testing.T) sourcetest.Source {
			w := newWorld(t)
			w.q.Comparison, w.q.Want.Host.Strict, w.q.Machine, w.q.All = "", nil, "m", all
			w.q.Want.StartedAt = sourcetest.Started.AddDate(0, 0, 1)
			return &workflow{w}
		})
	}
}
