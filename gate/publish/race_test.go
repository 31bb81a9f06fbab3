package publish

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
)

// turns lets one call at a time through to GitHub, in an order that a seed draws:
// every interleaving of several jobs can come up, and a failing one comes again.
type turns struct {
	GitHub
	ask   chan<- chan struct{} // a call that waits for its turn
	after chan struct{}        // the call that had the turn is done
}

func (g *turns) turn() func() {
	go1 := make(chan struct{})
	g.ask <- go1
	<-go1
	return func() { g.after <- struct{}{} }
}

func (g *turns) Login(ctx context.Context) (string, error) { return bot, nil }

func (g *turns) Comments(ctx context.Context, issue int) iter.Seq2[Comment, error] {
	return func(yield func(Comment, error) bool) {
		end := g.turn()
		var list []Comment
		for c := range g.GitHub.Comments(ctx, issue) {
			list = append(list, c)
		}
		end()
		for _, c := range list {
			if !yield(c, nil) {
				return
			}
		}
	}
}

func (g *turns) CreateComment(ctx context.Context, issue int, body string) (Comment, error) {
	defer g.turn()()
	return g.GitHub.CreateComment(ctx, issue, body)
}

func (g *turns) UpdateComment(ctx context.Context, id int64, body string) (Comment, error) {
	defer g.turn()()
	return g.GitHub.UpdateComment(ctx, id, body)
}

func (g *turns) DeleteComment(ctx context.Context, id int64) error {
	defer g.turn()()
	return g.GitHub.DeleteComment(ctx, id)
}

// race runs jobs against one GitHub, their calls interleaved as the seed says.
func race(gh GitHub, seed uint64, jobs []func(GitHub)) {
	rng := rand.New(rand.NewPCG(seed, 1))
	ask := make(chan chan struct{})
	after := make(chan struct{})
	ended := make(chan struct{})
	for _, job := range jobs {
		g := &turns{GitHub: gh, ask: ask, after: after}
		go func() { job(g); ended <- struct{}{} }()
	}
	running := len(jobs)
	var waiting []chan struct{}
	for running > 0 {
		for len(waiting) < running { // until every job waits for its turn or is over
			select {
			case w := <-ask:
				waiting = append(waiting, w)
			case <-ended:
				running--
			}
		}
		if running == 0 {
			return
		}
		i := rng.IntN(len(waiting))
		close(waiting[i])
		waiting = slices.Delete(waiting, i, i+1)
		<-after
	}
}

// Whatever the order in which jobs read and write, one comment is left; and when
// each has looked once more, as the last step of a job does, nobody's section is
// missing.
func TestRacesLeaveOneComment(t *testing.T) {
	suites := []string{"codec", "engine", "micro"}
	for seed := range uint64(400) {
		f := newFake(t)
		job := func(suite string) func(GitHub) {
			return func(gh GitHub) { publishComment(t, gh, at(1, 1), reportOf(failing()), inGroup(suite)) }
		}
		if seed%2 == 0 {
			publishComment(t, f, at(1, 1), reportOf(failing()), inGroup("codec"))
		}
		race(f, seed, []func(GitHub){job("codec"), job("engine"), job("micro")})
		f.theBody("all suites")
		for _, s := range suites {
			publishComment(t, f, at(1, 1), reportOf(failing()), inGroup(s))
		}
		if got := parseBody(f.theBody("all suites")); len(got) != len(suites) {
			t.Fatalf("seed %d: %d sections: %v", seed, len(got), f.calls)
		}
	}
}

// Runs of one suite that publish at once leave one comment.
func TestRacingRunsLeaveOneComment(t *testing.T) {
	for seed := range uint64(400) {
		f := newFake(t)
		var jobs []func(GitHub)
		for run := range int64(3) {
			jobs = append(jobs, func(gh GitHub) {
				if c := publishComment(t, gh, at(run+1, 1), reportOf(failing()), noCheck()); c.State == Failed {
					t.Errorf("seed %d: run %d: %v", seed, run+1, c)
				}
			})
		}
		race(f, seed, jobs)
		f.theBody("codec")
		if t.Failed() {
			t.Fatal(fmt.Sprint("seed ", seed, ": ", f.calls))
		}
	}
}
