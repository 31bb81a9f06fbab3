package progress

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/flow"
	"github.com/perfweir/perfweir/collect/result"
)

func TestDraw(t *testing.T) {
	now := time.Unix(1000, 0)
	clock := func() time.Time { now = now.Add(10 * time.Second); return now }
	events := []flow.Progress{
		{Done: 1, Total: 6, Cell: "a", Repeat: 1, Status: result.Success},
		{Done: 2, Total: 6, Cell: "b\x1b[2J", Repeat: 1, Status: result.Signal, Reason: "ended by SEGV\nline"},
		{Done: 3, Total: 6, Cell: "a", Repeat: 2, Status: result.Success},
		{Done: 4, Total: 6, Cell: "b", Repeat: 2, Status: result.Success},
		{Done: 6, Total: 6, Cell: "b", Repeat: 3, Status: result.Success},
	}
	var log bytes.Buffer
	d := New(&log, false, clock)
	for _, e := range events {
		d.Draw(e)
	}
	want := "perfweir: b?[2J repeat 1: signal ended by SEGV?line\nperfweir: 4 of 6 runs, about 20s left\n"
	if log.String() != want {
		t.Errorf("log:\n%s\nwant:\n%s", log.String(), want)
	}

	var term bytes.Buffer
	d = New(&term, true, clock)
	for _, e := range events {
		d.Draw(e)
	}
	if !strings.HasSuffix(term.String(), "\r\x1b[K") {
		t.Errorf("the last event leaves the line: %q", term.String())
	}
	if strings.Contains(term.String(), "\x1b[2J") {
		t.Errorf("a name drove the terminal: %q", term.String())
	}
}
