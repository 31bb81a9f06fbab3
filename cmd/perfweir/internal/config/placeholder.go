package config

import (
	"fmt"
	"regexp"
	"strings"
)

// placeholder is a word in braces. The runner replaces {input} and {out} only;
// other words in braces are text of the command (JSON, awk, a template).
var placeholder = regexp.MustCompile(`\$?\{([A-Za-z][A-Za-z0-9_-]*)\}`)

// placeholders checks the words in braces of all texts of a benchmark: {input}
// needs inputs, inputs need an {input}, and a near miss of either is a slip.
func (c *checker) placeholders(b *bench) {
	for _, s := range b.texts {
		for _, found := range placeholder.FindAllStringSubmatch(s.text, -1) {
			word := found[1]
			if strings.HasPrefix(found[0], "$") && word != "input" && word != "out" {
				continue // a variable of the shell
			}
			if strings.HasPrefix(found[0], "$") {
				c.problem(s.mark, fmt.Sprintf("%s would become a dollar sign and a path", found[0]), fmt.Sprintf("write {%s} for the path; a variable of the shell needs another name", word))
				continue
			}
			if word == "input" && !b.file.Inputs.given() {
				c.problem(s.mark, fmt.Sprintf("{input} is used, but benchmark %s has no inputs", quote(b.name)), "add inputs: [GLOB], or write the file's name")
			}
			if meant := slip(word); meant != "" {
				c.problem(s.mark, fmt.Sprintf("{%s} is not a placeholder", word), fmt.Sprintf("did you mean {%s}?", meant))
			}
		}
	}
	if cwd := &b.file.Cwd; cwd.usable() && (strings.Contains(cwd.text, "{input}") || strings.Contains(cwd.text, "{out}")) {
		c.problem(cwd.mark, "cwd is one folder for all runs, and holds a placeholder", `write a folder, or change into it in the command: "cd {out} && ..."`)
	}
	if b.file.Inputs.usable() && !b.usesInput() {
		c.problem(b.file.Inputs.mark, fmt.Sprintf("benchmark %s has inputs and uses {input} nowhere", quote(b.name)), "put {input} where the file's path belongs, or remove inputs")
	}
}

func (b *bench) usesInput() bool {
	for _, s := range b.texts {
		if strings.Contains(s.text, "{input}") {
			return true
		}
	}
	return false
}

// slip returns the placeholder that a word is a near miss of, or "". Short words
// are near to many, so out is only guessed from one letter's difference.
func slip(word string) string {
	if word == "input" || word == "out" {
		return ""
	}
	lower := strings.ToLower(word)
	switch {
	case distance(lower, "input") <= 2 && len(word) > 3:
		return "input"
	case distance(lower, "out") <= 1 || lower == "output":
		return "out"
	}
	return ""
}
