package linuxproc_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/perfweir/perfweir/collect/sample"
	"github.com/perfweir/perfweir/collect/sample/linuxproc"
)

// lists writes the children of a thread: its process has the lists of the kernel.
func (p *proc) lists(pid, tid int, children ...int) {
	p.t.Helper()
	dir := filepath.Join(p.root, strconv.Itoa(pid), "task", strconv.Itoa(tid))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		p.t.Fatal(err)
	}
	text := strings.Trim(fmt.Sprint(children), "[]")
	if err := os.WriteFile(filepath.Join(dir, "children"), []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// clock is the time that a reader sees.
type clock struct{ now time.Time }

func (c *clock) add(d time.Duration) { c.now = c.now.Add(d) }

// at starts a reader that is told the time.
func (p *proc) at(src *linuxproc.Source, pid int) (sample.Reader, *clock) {
	p.t.Helper()
	c := &clock{now: time.Unix(1000, 0)}
	src.SetClock(func() time.Time { return c.now })
	r, err := src.Begin(pid)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { closeReader(p.t, r) })
	return r, c
}

// settled is a reader that is ten seconds into the run and has just scanned: it
// scans again in a second, and walks until then. Strangers make the machine larger
// than the tree.
func (p *proc) settled(src *linuxproc.Source, pid int) (sample.Reader, *clock) {
	p.t.Helper()
	for stranger := 5000; stranger < 5020; stranger++ {
		p.set(process{pid: stranger, parent: 1, session: 1, pages: 1000, user: 1000})
	}
	r, c := p.at(src, pid)
	read(p.t, r)
	c.add(10 * time.Second)
	read(p.t, r)
	return r, c
}

// The lists of children say it all: sessions, parents and the scan are of no
// account. A thread's child counts as its process's.
func TestTheWalkFindsWhatTheListsName(t *testing.T) {
	p := newProc(t)
	p.set(process{pid: 100, session: 100, pages: 1})
	p.lists(100, 100)
	r, _ := p.settled(linuxproc.New(p.root), 100)
	wantTotals(t, r, totals{1, 0, 1, 1})

	p.lists(100, 100, 101)
	p.set(process{pid: 101, parent: 100, session: 101, pages: 2, threads: 2, user: 3})
	p.lists(101, 101, 102)
	p.lists(101, 201, 103)
	p.set(process{pid: 102, parent: 101, session: 102, pages: 4}, process{pid: 103, parent: 101, session: 103, pages: 8})
	p.lists(102, 102)
	p.lists(103, 103, 104)
	p.set(process{pid: 104, parent: 103, session: 103, pages: 16}) // without a list: it ended, or cannot be read
	wantTotals(t, r, totals{31, 3, 5, 6})
	wantTotals(t, r, totals{31, 3, 5, 6})

	// Named twice, by a thread that ended and by the one that inherited.
	p.lists(101, 201, 102, 103, 104)
	p.lists(103, 103, 104, 104)
	wantTotals(t, r, totals{31, 3, 5, 6})
}

// A stranger that turns out to be a child was taken for one too early.
func TestTheWalkCorrectsTheScan(t *testing.T) {
	p := newProc(t)
	p.set(process{pid: 100, session: 100, pages: 1}, process{pid: 101, parent: 1, session: 7, pages: 2})
	p.lists(100, 100)
	r, c := p.settled(linuxproc.New(p.root), 100)
	wantTotals(t, r, totals{1, 0, 1, 1})
	p.lists(100, 100, 101)
	wantTotals(t, r, totals{3, 0, 2, 2})
	c.add(time.Hour)
	wantTotals(t, r, totals{3, 0, 2, 2})
}

func TestOrphansOfTheSessionAreFoundByTheScan(t *testing.T) {
	p := newProc(t)
	p.set(process{pid: 100, session: 100, pages: 1}, process{pid: 101, parent: 100, session: 100, pages: 2})
	p.lists(100, 100, 101)
	r, c := p.settled(linuxproc.New(p.root), 100)
	// Its parent came and went between two ticks.
	p.set(process{pid: 102, parent: 1, session: 100, pages: 4})
	wantTotals(t, r, totals{3, 0, 2, 2})
	c.add(999 * time.Millisecond)
	wantTotals(t, r, totals{3, 0, 2, 2})
	c.add(time.Millisecond)
	wantTotals(t, r, totals{7, 0, 3, 3})

	// Their parent was known, and is gone or waits to be reaped: no delay.
	p.kill(101)
	p.set(process{pid: 103, parent: 1, session: 100, pages: 8})
	wantTotals(t, r, totals{13, 0, 3, 3})
	p.set(process{pid: 103, parent: 1, session: 100, state: "Z"}, process{pid: 104, parent: 1, session: 100, pages: 16})
	wantTotals(t, r, totals{21, 0, 3, 3})
}

// A young run is scanned after a tenth of its age.
func TestAYoungRunIsScannedMoreOften(t *testing.T) {
	p := newProc(t)
	p.set(process{pid: 100, session: 100, pages: 1})
	p.lists(100, 100)
	r, c := p.at(linuxproc.New(p.root), 100)
	wantTotals(t, r, totals{1, 0, 1, 1})
	for n := range 5 {
		c.add(100 * time.Millisecond)
		p.set(process{pid: 101 + n, parent: 1, session: 100, pages: 1})
		wantTotals(t, r, totals{float64(2 + n), 0, float64(2 + n), float64(2 + n)})
	}
}

// Below a launcher: whatever left session and parent is its child.
func TestOrphansBelowTheLauncher(t *testing.T) {
	for _, kernel := range []string{"with lists", "without lists"} {
		t.Run(kernel, func(t *testing.T) {
			p := newProc(t)
			lists := func(pid int, children ...int) {
				if kernel == "with lists" {
					p.lists(pid, pid, children...)
				}
			}
			p.set(process{pid: 50, parent: 1, session: 50, start: 1, pages: 5000, user: 500},
				process{pid: 99, parent: 50, session: 99, start: 499, pages: 5000}, // an earlier run left it
				process{pid: 100, parent: 50, session: 100, start: 500, pages: 1})
			lists(100)
			lists(50, 99, 100)
			r, _ := p.settled(linuxproc.NewUnder(p.root, 50), 100)
			wantTotals(t, r, totals{1, 0, 1, 1})

			p.set(process{pid: 101, parent: 50, session: 101, start: 501, pages: 2}, process{pid: 102, parent: 101, session: 101, start: 502, pages: 4})
			lists(50, 99, 100, 101)
			lists(101, 102)
			wantTotals(t, r, totals{7, 0, 3, 3})
			wantTotals(t, r, totals{7, 0, 3, 3})

			// The launcher dies: orphans go further up, and are found by the session.
			p.kill(50)
			wantTotals(t, r, totals{7, 0, 3, 3})
			p.kill(102)
			p.set(process{pid: 103, parent: 1, session: 100, start: 503, pages: 8})
			wantTotals(t, r, totals{11, 0, 3, 3})
		})
	}
}

// The first scan too knows what is below the launcher.
func TestTheFirstReadSeesWhatTheLauncherAdopted(t *testing.T) {
	p := newProc(t)
	p.set(process{pid: 50, parent: 1, session: 50}, process{pid: 100, parent: 50, session: 100, pages: 1}, process{pid: 101, parent: 50, session: 101, pages: 2})
	r, err := linuxproc.NewUnder(p.root, 50).Begin(100)
	if err != nil {
		t.Fatal(err)
	}
	wantTotals(t, r, totals{3, 0, 2, 2})
}

// C54: also where the files are kept open.
func TestCPUTimeNeverFallsInTheWalk(t *testing.T) {
	p := newProc(t)
	p.set(process{pid: 100, session: 100, user: 10}, process{pid: 101, parent: 100, session: 100, user: 30, system: 5})
	p.lists(100, 100, 101)
	p.lists(101, 101)
	r, _ := p.settled(linuxproc.New(p.root), 100)
	wantTotals(t, r, totals{0, 45, 2, 2})
	p.kill(101)
	wantTotals(t, r, totals{0, 45, 1, 1})
	// Its number comes back at once, as a child and as a stranger.
	p.set(process{pid: 101, parent: 100, session: 100, start: 777, user: 2})
	wantTotals(t, r, totals{0, 47, 2, 2})
	p.set(process{pid: 101, parent: 1, session: 1, start: 888, user: 900})
	p.lists(100, 100)
	wantTotals(t, r, totals{0, 47, 1, 1})
	wantTotals(t, r, totals{0, 47, 1, 1})
}
