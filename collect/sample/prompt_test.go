package sample_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perfweir/perfweir/collect/sample"
)

// prompt is a fake that is read by the time keeper itself.
type prompt struct {
	*fake
	closed int
}

func (p *prompt) NeverWaits() {}

func (p *prompt) Begin(pid int) (sample.Reader, error) {
	if _, err := p.fake.Begin(pid); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *prompt) Close() error { p.closed++; return nil }

// A prompt source is read the same as another: the same slots, series, errors.
func TestPromptSourcesAreReadTheSame(t *testing.T) {
	for name, script := range map[string]fake{
		"counts": *counter("a"),
		"fails and panics": {name: "a", read: func(call int, b *sample.Batch) error {
			switch call {
			case 1:
				return errors.New("no")
			case 2:
				panic("broke")
			}
			b.Put("a", "", "1", 1)
			return nil
		}},
		"is absent": {name: "a", begin: func(int) error { return errors.New("no such board") }},
		"ends": {name: "a", read: func(call int, b *sample.Batch) error {
			if call == 2 {
				return sample.ErrEnded
			}
			b.Put("a", "", "1", 1)
			return nil
		}},
		"is slow once": {name: "a", read: func(call int, b *sample.Batch) error {
			if call == 1 {
				time.Sleep(20 * time.Millisecond)
			}
			b.Put("a", "", "1", float64(call))
			return nil
		}},
	} {
		synctest.Test(t, func(t *testing.T) {
			one, two := script, script
			p := &prompt{fake: &two}
			wantSet, wantStats := run(t, 650*time.Millisecond, &one)
			gotSet, gotStats := run(t, 650*time.Millisecond, p)
			if diff := cmp.Diff(wantStats, gotStats); diff != "" {
				t.Errorf("%s: stats (-other +prompt):\n%s", name, diff)
			}
			if diff := cmp.Diff(wantSet, gotSet); diff != "" {
				t.Errorf("%s: series (-other +prompt):\n%s", name, diff)
			}
			if begun := name != "is absent"; begun != (p.closed == 1) || p.closed > 1 {
				t.Errorf("%s: closed %d times", name, p.closed)
			}
		})
	}
}

// A prompt source that is wrong about itself costs slots, which are counted.
func TestAPromptSourceThatWaitsLosesSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := counter("a")
		count := f.read
		f.read = func(call int, b *sample.Batch) error {
			if call == 1 {
				time.Sleep(250 * time.Millisecond)
			}
			return count(call, b)
		}
		_, stats := run(t, 650*time.Millisecond, &prompt{fake: f})
		wantSlots(t, stats[0], 7, 6, 0, 1) // the slot at 0.2 s; that at 0.3 s is read late
	})
}
