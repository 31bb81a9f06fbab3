package config

import (
	"strings"
	"testing"
)

func TestNameOf(t *testing.T) {
	for text, want := range map[string]string{
		"version: 1\nsuite: codec\nbenchmarks: 7\n": "codec",
		"suite: codec\nunknown: [1\n":               "",
		"suite: [a]\n":                              "",
		"suite: \"a\\nb\"\n":                        "",
		"- suite: a\n":                              "",
		"":                                          "",
		"a: 1\n":                                    "",
		"suite: codec\n" + strings.Repeat("#", MaxBytes): "",
	} {
		if got := NameOf([]byte(text)); got != want {
			t.Errorf("%.40q: %q, want %q", text, got, want)
		}
	}
}
