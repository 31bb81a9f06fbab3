package gobench

import (
	"bytes"
	"encoding/json"
)

// event is a line of go test -json (cmd/test2json).
type event struct {
	Action  string
	Package string
	Output  string
}

// plainText returns what go test would have printed without -json: the output of
// each package in one piece, in the order in which they began, since packages
// speak between one another's lines. Lines that are no events (what a compiler
// says) come first. Text that does not begin with an event is returned as it is.
func plainText(text []byte) []byte {
	first, _, _ := bytes.Cut(bytes.TrimSpace(text), []byte{'\n'})
	if _, ok := eventOf(first); !ok {
		return text
	}
	var order []string
	pieces := map[string]*bytes.Buffer{}
	piece := func(pkg string) *bytes.Buffer {
		if pieces[pkg] == nil {
			pieces[pkg] = new(bytes.Buffer)
			order = append(order, pkg)
		}
		return pieces[pkg]
	}
	piece("")
	for l := range bytes.Lines(text) {
		e, ok := eventOf(l)
		switch {
		case !ok:
			piece("").Write(l)
		case e.Action == "output", e.Action == "build-output":
			piece(e.Package).WriteString(e.Output)
		}
	}
	var out bytes.Buffer
	for _, pkg := range order {
		out.Write(pieces[pkg].Bytes())
		if b := pieces[pkg].Bytes(); len(b) > 0 && b[len(b)-1] != '\n' {
			out.WriteByte('\n') // one that died in mid-line does not swallow the next
		}
	}
	return out.Bytes()
}

func eventOf(l []byte) (event, bool) {
	if len(l) == 0 || l[0] != '{' {
		return event{}, false
	}
	var e event
	err := json.Unmarshal(l, &e)
	return e, err == nil && e.Action != ""
}
