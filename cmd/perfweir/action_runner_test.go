package main

import (
	"bufio"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// actionJob carries out an action.yml as GitHub's runner does, as far as our steps
// need it: `bash --noprofile --norc -e -o pipefail FILE`, step environments made of
// expressions, command files, conditions, cancellation. A script's environment has
// none of the ACTIONS_ variables, which the runner gives to programs of node alone.
// Steps that use another action are written down and not carried out.
type actionJob struct {
	t      *testing.T
	action *actionFile
	place  string            // GITHUB_ACTION_PATH
	work   string            // GITHUB_WORKSPACE
	temp   string            // RUNNER_TEMP
	inputs map[string]string // with:
	env    map[string]string // of every step
	event  string            // github.event_name

	cancelIn string         // cancel while this step runs, once it says "ready"
	signal   syscall.Signal // what the runner then sends

	steps     map[string]*stepState
	uploads   []map[string]string
	failed    bool
	cancelled bool
}

type stepState struct {
	outcome string // success, failure, cancelled, skipped
	code    int
	outputs map[string]string
	log     string
}

func newActionJob(t *testing.T, action string) *actionJob {
	t.Helper()
	place, err := filepath.Abs(filepath.Join("../..", filepath.Dir(action)))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	j := &actionJob{t: t, action: readAction(t, action), place: place, work: filepath.Join(dir, "work"), temp: filepath.Join(dir, "temp"),
		inputs: map[string]string{}, env: map[string]string{}, event: "pull_request", steps: map[string]*stepState{}}
	for _, d := range []string{j.work, j.temp} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return j
}

// run carries out all steps.
func (j *actionJob) run() {
	for i, s := range j.action.Runs.Steps {
		state := &stepState{outcome: "skipped", outputs: map[string]string{}}
		id := s.ID
		if id == "" {
			id = strconv.Itoa(i)
		}
		j.steps[id] = state
		if !j.condition(s.If) {
			continue
		}
		if s.Uses != "" {
			state.outcome = "success"
			j.uploads = append(j.uploads, j.evaluateAll(s.With))
			continue
		}
		j.script(id, s, state)
		if state.outcome != "success" && s.ContinueOnError == "" {
			j.failed = true
		}
	}
}

// output is an output of the action.
func (j *actionJob) output(name string) string {
	i := slices.IndexFunc(j.action.Outputs, func(e entry) bool { return e.Name == name })
	return j.evaluate(j.action.Outputs[i].Value)
}

// script runs one step's script.
func (j *actionJob) script(id string, s stepFile, state *stepState) {
	t := j.t
	t.Helper()
	files := t.TempDir()
	own := map[string]string{"PATH": os.Getenv("PATH"), "HOME": os.Getenv("HOME"), "CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_ACTION_PATH": j.place,
		"GITHUB_WORKSPACE": j.work, "RUNNER_TEMP": j.temp, "RUNNER_TOOL_CACHE": filepath.Join(j.temp, "tools"), "GITHUB_EVENT_NAME": j.event}
	for _, name := range []string{"GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY"} {
		own[name] = filepath.Join(files, name)
		if err := os.WriteFile(own[name], nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	script := filepath.Join(files, "step.sh")
	if err := os.WriteFile(script, []byte(s.Run), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(needs(t, "bash"), "--noprofile", "--norc", "-e", "-o", "pipefail", script)
	cmd.Dir = j.work
	env := maps.Clone(j.env)
	maps.Copy(env, j.evaluateAll(s.Env))
	maps.Copy(env, own)
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	state.log, state.code = j.watch(cmd, id == j.cancelIn)
	switch {
	case id == j.cancelIn:
		state.outcome, j.cancelled = "cancelled", true
	case state.code == 0:
		state.outcome = "success"
	default:
		state.outcome = "failure"
	}
	state.outputs = commandFile(t, own["GITHUB_OUTPUT"])
	maps.Copy(j.env, commandFile(t, own["GITHUB_ENV"]))
}

// watch waits for the end of a process; cancel signals it when it says "ready".
func (j *actionJob) watch(cmd *exec.Cmd, cancel bool) (log string, code int) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		j.t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		j.t.Fatal(err)
	}
	var text strings.Builder
	lines := bufio.NewScanner(io.TeeReader(out, &text))
	for lines.Scan() {
		if cancel && lines.Text() == "ready" {
			if err := cmd.Process.Signal(j.signal); err != nil {
				j.t.Error(err)
			}
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		j.t.Fatal(err)
	}
	if j.t.Failed() || testing.Verbose() {
		j.t.Logf("%s\n%s", cmd, &text)
	}
	return text.String(), cmd.ProcessState.ExitCode()
}

// commandFile reads the file through which a step sets outputs or variables:
// name=value, or name<<MARK and lines until MARK.
func commandFile(t *testing.T, path string) map[string]string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	lines := strings.Split(string(b), "\n")
	for i := 0; i < len(lines); i++ {
		if name, mark, multi := strings.Cut(lines[i], "<<"); multi && !strings.Contains(name, "=") {
			var value []string
			for i++; i < len(lines) && lines[i] != mark; i++ {
				value = append(value, lines[i])
			}
			if i == len(lines) {
				t.Errorf("%s: %s has no end", path, name)
			}
			values[name] = strings.Join(value, "\n")
		} else if name, value, ok := strings.Cut(lines[i], "="); ok {
			values[name] = value
		}
	}
	return values
}

var expression = regexp.MustCompile(`\$\{\{ (.*?) \}\}`)

func (j *actionJob) evaluateAll(values map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range values {
		out[k] = j.evaluate(v)
	}
	return out
}

// evaluate puts values into a text. Operators are those that our files use.
func (j *actionJob) evaluate(text string) string {
	return expression.ReplaceAllStringFunc(text, func(e string) string {
		last := ""
		for term := range strings.SplitSeq(expression.FindStringSubmatch(e)[1], " || ") {
			if last = j.value(term); last != "" {
				break
			}
		}
		return last
	})
}

// value is a literal or what a name stands for. A name that we do not know is a
// mistake of the test or of the file.
func (j *actionJob) value(term string) string {
	if s, ok := strings.CutPrefix(term, "'"); ok {
		return strings.TrimSuffix(s, "'")
	}
	parts := strings.Split(term, ".")
	switch {
	case term == "github.token":
		return "ghs_default"
	case term == "github.event_name":
		return j.event
	case len(parts) == 2 && parts[0] == "inputs":
		return j.input(parts[1])
	case len(parts) == 3 && parts[0] == "steps" && parts[2] == "outcome" && j.steps[parts[1]] != nil:
		return j.steps[parts[1]].outcome
	case len(parts) == 4 && parts[0] == "steps" && parts[2] == "outputs" && j.steps[parts[1]] != nil:
		return j.steps[parts[1]].outputs[parts[3]]
	}
	j.t.Fatalf("what is %q?", term)
	return ""
}

func (j *actionJob) input(name string) string {
	if v, given := j.inputs[name]; given {
		return v
	}
	i := slices.IndexFunc(j.action.Inputs, func(e entry) bool { return e.Name == name })
	if i < 0 {
		j.t.Fatalf("no input %q", name)
	}
	return j.evaluate(j.action.Inputs[i].Default)
}

// condition is an if: terms joined by &&, each a function or a comparison. One
// that asks for no state of the job wants success.
func (j *actionJob) condition(text string) bool {
	if text == "" {
		return !j.failed && !j.cancelled
	}
	m := expression.FindStringSubmatch(text)
	if m == nil {
		j.t.Fatalf("the condition %q is no expression", text)
	}
	ok := strings.Contains(text, "always()") || strings.Contains(text, "cancelled()") || !j.failed && !j.cancelled
	for term := range strings.SplitSeq(m[1], " && ") {
		ok = j.holds(term) && ok
	}
	return ok
}

func (j *actionJob) holds(term string) bool {
	if a, b, found := strings.Cut(term, " == "); found {
		return strings.EqualFold(j.value(a), j.value(b))
	}
	if a, b, found := strings.Cut(term, " != "); found {
		return !strings.EqualFold(j.value(a), j.value(b))
	}
	switch term {
	case "always()":
		return true
	case "!cancelled()":
		return !j.cancelled
	}
	j.t.Fatalf("what is %q?", term)
	return false
}
