package publish

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/sethvargo/go-githubactions"

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

// command is one workflow command. The library escapes; its functions that print
// and read the environment are not used.
func command(name string, a Annotation) string {
	properties := githubactions.CommandProperties{"title": report.Plain(a.Title, longestTitle)}
	if a.Path != "" {
		properties["file"] = report.Plain(a.Path, longestPath)
		properties["line"], properties["endLine"] = strconv.Itoa(a.StartLine), strconv.Itoa(a.EndLine)
	}
	c := githubactions.Command{Name: name, Message: report.Plain(a.Message, longestCommand), Properties: properties}
	return c.String() + "\n"
}
