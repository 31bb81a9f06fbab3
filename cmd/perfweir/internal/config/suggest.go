package config

import (
	"fmt"
	"strings"
	"unicode"
)

// suggest says what to write instead of an unknown word: the nearest known one
// where one is near, else all of them.
func suggest(word string, known []string) string {
	if near := nearest(word, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if len(known) == 0 {
		return "remove it"
	}
	shown := make([]string, len(known))
	for i, k := range known {
		shown[i] = k
		if strings.ContainsFunc(k, func(r rune) bool { return r == ',' || r == '"' || !unicode.IsPrint(r) }) {
			shown[i] = quote(k)
		}
	}
	return "known: " + strings.Join(shown, ", ")
}

// Suggest says which of the known words somebody may have meant.
func Suggest(word string, known []string) string { return suggest(word, known) }

// nearest returns the known word that word is most likely a slip of, or "". Up
// to a third of the letters may differ, two at least for words of four letters
// and more.
func nearest(word string, known []string) string {
	best, bestDistance := "", 1+allowed(word)
	for _, k := range known {
		if d := distance(strings.ToLower(word), strings.ToLower(k)); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

func allowed(word string) int {
	switch n := len(word); {
	case n > 200:
		return 0
	case n < 4:
		return 1
	default:
		return max(2, n/4)
	}
}

// distance is the optimal string alignment distance: insertions, deletions,
// changes, and swaps of neighbours count one each.
func distance(a, b string) int {
	before, last, row := []int(nil), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, make([]int, len(b)+1)
	}
	return last[len(b)]
}
