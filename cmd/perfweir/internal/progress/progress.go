// Package progress draws what collect reports: one line that moves on a
// terminal, a line now and then elsewhere. It decides nothing and keeps nothing.
package progress

import (
	"fmt"
	"io"
	"time"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/flow"
)

// Drawer draws events. It is used by one goroutine at a time.
type Drawer struct {
	w     io.Writer
	live  bool
	now   func() time.Time
	start time.Time
	last  time.Time
}

// quiet is how long a log stays silent between two lines; live how long a
// terminal's line stays as it is.
const (
	quiet = 30 * time.Second
	live  = 100 * time.Millisecond
)

// New makes a drawer; live draws one moving line.
func New(w io.Writer, live bool, now func() time.Time) *Drawer {
	return &Drawer{w: w, live: live, now: now}
}

// Draw shows one event: every run that went wrong, the others now and then.
func (d *Drawer) Draw(p flow.Progress) {
	now := d.now()
	if d.start.IsZero() {
		d.start, d.last = now, now
	}
	if !p.Status.OK() {
		d.clear()
		fmt.Fprintf(d.w, "perfweir: %s repeat %d: %s %s\n", visible(p.Cell), p.Repeat, p.Status, visible(p.Reason))
	}
	done := p.Done == p.Total
	switch {
	case d.live && (done || now.Sub(d.last) >= live):
		d.clear()
		if !done {
			fmt.Fprintf(d.w, "%d of %d runs%s  %s", p.Done, p.Total, d.left(p, now), visible(p.Cell))
		}
	case !d.live && !done && now.Sub(d.last) >= quiet:
		fmt.Fprintf(d.w, "perfweir: %d of %d runs%s\n", p.Done, p.Total, d.left(p, now))
	default:
		return
	}
	d.last = now
}

func (d *Drawer) clear() {
	if d.live {
		fmt.Fprint(d.w, "\r\x1b[K")
	}
}

// left estimates the time that is left from the mean of the runs so far.
func (d *Drawer) left(p flow.Progress, now time.Time) string {
	elapsed := now.Sub(d.start)
	if p.Done < 2 || elapsed <= 0 {
		return ""
	}
	left := elapsed / time.Duration(p.Done-1) * time.Duration(p.Total-p.Done)
	return fmt.Sprintf(", about %s left", left.Round(time.Second))
}

// visible is a text as it may be drawn: nothing that drives the terminal, bounded.
func visible(s string) string {
	const most = 200
	s = flow.Visible(s)
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return s
}
