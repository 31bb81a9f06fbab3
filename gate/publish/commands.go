package publish

import (
	"fmt"
	"io"
	"strings"

	"github.com/perfweir/perfweir/gate/report"
)

// What the runner keeps of a step's workflow commands: the rest is dropped without
// a word. A composite action is one step.
const (
	mostCommands   = 10    // of each level
	longestCommand = 4_000 // bytes of a message; the runner cuts at 4,096 characters
)

// WriteCommands writes annotations as workflow commands, for where no check run
// carries them: at most ten of each level, of which the last counts what is left
// out. w is the raw log, not one that Guard made harmless.
func WriteCommands(w io.Writer, list []Annotation) error {
	total := map[string]int{}
	for _, a := range list {
		total[commandOf(a.Level)]++
	}
	done := map[string]int{}
	var b strings.Builder
	for _, a := range list {
		name := commandOf(a.Level)
		done[name]++
		switch n := done[name]; {
		case n < mostCommands || n == mostCommands && total[name] == n:
			b.WriteString(command(name, a))
		case n == mostCommands:
			fmt.Fprintf(&b, "::%s title=perfweir::%d more places are in the job summary\n", name, total[name]-n+1)
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write workflow commands: %w", err)
	}
	return nil
}

func commandOf(level string) string {
	switch level {
	case levelFailure:
		return "error"
	case levelWarning:
		return "warning"
	}
	return "notice"
}

func command(name string, a Annotation) string {
	at := ""
	if a.Path != "" {
		at = fmt.Sprintf("file=%s,line=%d,endLine=%d,", escapeProperty(report.Plain(a.Path, longestPath)), a.StartLine, a.EndLine)
	}
	return fmt.Sprintf("::%s %stitle=%s::%s\n", name, at,
		escapeProperty(report.Plain(a.Title, longestTitle)), escapeData(report.Plain(a.Message, longestCommand)))
}

// escapeData and escapeProperty are what actions/runner undoes (ActionCommand.cs).
func escapeData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func escapeProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}
