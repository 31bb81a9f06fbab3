package publish

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode"
)

// What actions/runner makes of a line of a step's log and of the file GITHUB_OUTPUT,
// written down from its source (ActionCommand.cs, FileCommandManager.cs): the
// opposite side of Guard, WriteCommands and WriteOutputs.

// runnerCommand is a workflow command that the runner found.
type runnerCommand struct {
	name       string
	properties map[string]string
	data       string
}

var runnerCommands = []string{"error", "warning", "notice", "add-mask", "set-output", "set-env", "stop-commands", "group", "command", "debug"}

// parseCommand is ActionCommand.TryParseV2, then TryParse.
func parseCommand(line string) (runnerCommand, bool) {
	if c, ok := parseColons(strings.TrimLeftFunc(line, unicode.IsSpace)); ok {
		return c, true
	}
	_, rest, ok := strings.Cut(line, "##[")
	info, data, ok2 := strings.Cut(rest, "]")
	if !ok || !ok2 {
		return runnerCommand{}, false
	}
	name, _, _ := strings.Cut(info, " ")
	return runnerCommand{name: name, data: data}, registered(name)
}

func parseColons(line string) (runnerCommand, bool) {
	rest, ok := strings.CutPrefix(line, "::")
	info, data, ok2 := strings.Cut(rest, "::")
	if !ok || !ok2 {
		return runnerCommand{}, false
	}
	name, list, _ := strings.Cut(info, " ")
	c := runnerCommand{name: name, properties: map[string]string{}, data: unescape(data, "%0D", "\r", "%0A", "\n", "%25", "%")}
	for p := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		if k, v, ok := strings.Cut(p, "="); ok {
			c.properties[k] = unescape(v, "%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%")
		}
	}
	return c, registered(name)
}

// unescape replaces one after the other, as the runner does.
func unescape(s string, pairs ...string) string {
	for i := 0; i < len(pairs); i += 2 {
		s = strings.ReplaceAll(s, pairs[i], pairs[i+1])
	}
	return s
}

func registered(name string) bool {
	for _, c := range runnerCommands {
		if strings.EqualFold(c, name) {
			return true
		}
	}
	return false
}

// logLines is how the runner splits a log.
func logLines(log string) []string {
	return strings.FieldsFunc(log, func(r rune) bool { return r == '\n' || r == '\r' })
}

// parseOutputs is the grammar of GITHUB_OUTPUT.
func parseOutputs(text string) (map[string]string, error) {
	out := map[string]string{}
	lines := strings.SplitAfter(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSuffix(lines[i], "\n")
		equals, heredoc := strings.Index(line, "="), strings.Index(line, "<<")
		switch {
		case line == "":
		case equals >= 0 && (heredoc < 0 || equals < heredoc):
			out[line[:equals]] = line[equals+1:]
		case heredoc > 0 && heredoc+2 < len(line):
			name, delimiter := line[:heredoc], line[heredoc+2:]
			value := ""
			for i++; ; i++ {
				if i == len(lines) {
					return nil, fmt.Errorf("no %q", delimiter)
				}
				if strings.TrimSuffix(lines[i], "\n") == delimiter {
					break
				}
				value += lines[i]
			}
			out[name] = strings.TrimSuffix(value, "\n")
		default:
			return nil, fmt.Errorf("line %q", line)
		}
	}
	return out, nil
}

// The test of the tests: what is written without our care is a command.
func TestRunnerSeesCommands(t *testing.T) {
	for _, line := range []string{"::error::x", " \t::add-mask::x", "\u3000::error file=a::x", "text ##[error]x", "##[command a=b]c", "\u0085::error::"} {
		if _, ok := parseCommand(line); !ok {
			t.Errorf("%q is a command", line)
		}
	}
	for _, line := range []string{"x ::error::x", ":error::", "::unknown::x", "::error", "# #[error]x"} {
		if c, ok := parseCommand(line); ok {
			t.Errorf("%q is no command, found %v", line, c)
		}
	}
}

func TestGuard(t *testing.T) {
	for in, want := range map[string]string{
		"plain\n":                 "plain\n",
		"::error::x\n":            ":\\:error::x\n",
		"  \t::add-mask::x":       "  \t:\\:add-mask::x",
		"a::b ##[error]c":         "a::b ##\\[error]c",
		"x\r::error::y":           "x\r:\\:error::y",
		"\u3000::error::x":        "\u3000:\\:error::x",
		":::error::":              ":\\::error::",
		"###[error]":              "###\\[error]",
		"# [ok] a:b : :\n":        "# [ok] a:b : :\n",
		"one ##[a]##[b]\n::c::\n": "one ##\\[a]##\\[b]\n:\\:c::\n",
		"":                        "",
	} {
		// However it is split, the bytes are the same.
		for cut := range len(in) + 1 {
			var b bytes.Buffer
			w := Guard(&b)
			for _, part := range []string{in[:cut], in[cut:]} {
				if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
					t.Fatalf("%d, %v", n, err)
				}
			}
			if b.String() != want {
				t.Errorf("%q, split at %d: %q, want %q", in, cut, b.String(), want)
			}
		}
	}
	if _, err := Guard(failingWriter{}).Write([]byte("x")); err == nil {
		t.Error("a write that failed is not told")
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, fmt.Errorf("no space left") }

func FuzzGuard(f *testing.F) {
	for _, s := range []string{"::error::x", " ::error::", "##[error]x", "\r::stop-commands::a\n", "\u0085::error::x", "\xc2::error::", ":", "##", nasty} {
		f.Add(s, 1, 2)
	}
	f.Fuzz(func(t *testing.T, s string, a, b int) {
		var out bytes.Buffer
		w := Guard(&out)
		i, j := abs(a)%(len(s)+1), abs(b)%(len(s)+1)
		for _, part := range []string{s[:min(i, j)], s[min(i, j):max(i, j)], s[max(i, j):]} {
			if _, err := w.Write([]byte(part)); err != nil {
				t.Fatal(err)
			}
		}
		for _, line := range logLines(strings.ToValidUTF8(out.String(), "\ufffd")) {
			if c, ok := parseCommand(line); ok {
				t.Errorf("%q is the command %v", line, c)
			}
		}
		if strings.ReplaceAll(out.String(), `\`, "") != strings.ReplaceAll(s, `\`, "") {
			t.Errorf("the text changed: %q", out.String())
		}
	})
}

func abs(n int) int { return max(n, -max(n, -1<<62)) }

func TestWriteCommands(t *testing.T) {
	list := []Annotation{{Path: "a,b:c.yml", StartLine: 3, EndLine: 3, Level: levelFailure, Title: "t: 100%, x", Message: "50% of a:b\n::error::forged\r%0A"}}
	var b bytes.Buffer
	if err := WriteCommands(&b, list); err != nil {
		t.Fatal(err)
	}
	lines := logLines(b.String())
	if len(lines) != 1 {
		t.Fatalf("%q", b.String())
	}
	c, ok := parseCommand(lines[0])
	if !ok || c.name != "error" || c.data != "50% of a:b ::error::forged %0A" || c.properties["file"] != "a,b:c.yml" || c.properties["title"] != "t: 100%, x" || c.properties["line"] != "3" {
		t.Errorf("%q: %+v", lines[0], c)
	}
}

// A remark may be about no file at all; nothing of it reaches another line.
func TestWriteCommandsWithoutAFile(t *testing.T) {
	var b bytes.Buffer
	if err := WriteCommands(&b, []Annotation{{Level: levelWarning, Title: "per\nfweir", Message: nasty}, {Level: "other", Path: nasty, Message: "x"}}); err != nil {
		t.Fatal(err)
	}
	lines := logLines(b.String())
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "::warning title=per fweir::") || !strings.HasPrefix(lines[1], "::notice endLine=0,file=") {
		t.Errorf("%q", lines)
	}
}

func TestWriteCommandsBounds(t *testing.T) {
	for _, n := range []int{0, 1, 10, 11, 200} {
		var list []Annotation
		for i := range n {
			for _, level := range levels {
				list = append(list, Annotation{Path: "perfweir.yml", StartLine: i + 1, EndLine: i + 1, Level: level, Title: "t", Message: strings.Repeat("日", 3_000)})
			}
		}
		var b bytes.Buffer
		if err := WriteCommands(&b, list); err != nil {
			t.Fatal(err)
		}
		count, last := map[string]int{}, map[string]string{}
		for _, line := range logLines(b.String()) {
			c, ok := parseCommand(line)
			if !ok || len(c.data) > 4_096 || c.data == "" {
				t.Fatalf("%d bytes: %.80q", len(c.data), line)
			}
			count[c.name]++
			last[c.name] = c.data
		}
		for _, name := range []string{"error", "warning", "notice"} {
			if count[name] != min(n, 10) {
				t.Errorf("%d of %d %ss", count[name], n, name)
			}
			if want := fmt.Sprintf("%d more places", n-9); n > 10 && !strings.HasPrefix(last[name], want) {
				t.Errorf("the last of %d says %q, want %q", n, last[name], want)
			}
		}
	}
	if WriteCommands(failingWriter{}, []Annotation{{Message: "x"}}) == nil {
		t.Error("a write that failed is not told")
	}
}
