package plan

import "testing"

// TestShellInputNames: a file name must not become a command.
func TestShellInputNames(t *testing.T) {
	b := Benchmark{Name: "a", Exec: Exec{Argv: []string{"bash", "-c", "cat {input}"}, Shell: true}}
	if err := checkShellInput(b.Name, &b.Exec, InputFile{Name: "x", Path: "/c/$(id)"}); err == nil {
		t.Error("a command substitution passed as a name")
	}
	if err := checkShellInput(b.Name, &b.Exec, InputFile{Name: "x", Path: "/c/a-b_1.bin"}); err != nil {
		t.Error(err)
	}
}

// TestShellStrings: only a string that holds the placeholder is in danger, and a
// prepare or cleanup string is as much as run.
func TestShellStrings(t *testing.T) {
	blank := InputFile{Name: "x", Path: "/my files/x"}
	sh := func(text string) []string { return []string{"bash", "-c", text} }
	for name, tt := range map[string]struct {
		exec   Exec
		refuse bool
	}{
		"run":              {Exec{Argv: sh(`cat "{input}"`), Shell: true}, true},
		"run by env":       {Exec{Argv: sh(`cat "$F"`), Shell: true, Env: Env{Set: map[string]string{"F": "{input}"}}}, false},
		"a list":           {Exec{Argv: []string{"cat", "{input}"}}, false},
		"prepare":          {Exec{Argv: []string{"cat", "{input}"}, Prepare: sh("cp {input} x"), PrepareSh: true}, true},
		"cleanup":          {Exec{Argv: []string{"cat", "{input}"}, Cleanup: sh("rm {input}"), CleanupSh: true}, true},
		"prepare without":  {Exec{Argv: []string{"cat", "{input}"}, Prepare: sh("sync"), PrepareSh: true}, false},
		"prepare, as list": {Exec{Argv: []string{"cat", "{input}"}, Prepare: []string{"cp", "{input}", "x"}}, false},
	} {
		if err := checkShellInput("b", &tt.exec, blank); (err != nil) != tt.refuse {
			t.Errorf("%s: err = %v, want one: %v", name, err, tt.refuse)
		}
	}
}

// TestOwnTimeoutIsTheCap: a benchmark's timeout that names a variant does not
// make that variant's last run decide about its next.
func TestOwnTimeoutIsTheCap(t *testing.T) {
	b := Benchmark{Name: "b", Exec: Exec{Argv: []string{"x"}, Timeout: Timeout{Factor: 4, Of: "ref", Max: 60}},
		Variants: []Variant{{Name: "ref"}, {Name: "new"}}}
	for i, want := range []Timeout{{Fixed: 60}, {Factor: 4, Of: "ref", Max: 60}} {
		if e, err := resolve(&b, &b.Variants[i], "/"); err != nil || e.Timeout != want {
			t.Errorf("%s: %+v %v, want %+v", b.Variants[i].Name, e.Timeout, err, want)
		}
	}
}
