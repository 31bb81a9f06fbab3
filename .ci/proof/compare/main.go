// Command compare holds the same recorded sessions against perfweir and against
// the rules of other tools, for .ci/proof/compare.sh.
//
//	compare record FOLDER... >DATA     what `perfweir selftest --keep` left, compact
//	compare table BENCHSTAT DATA...    the tables; BENCHSTAT is the program
//
// Every file is a series of sessions of its own, in time order. Each session is
// judged against those before it in which nothing was injected: by perfweir against
// ten, by the other rules against the newest. A red session without an injection is
// a false alarm; an injected cell that a rule passes is a miss. A second table has
// the unchanged sessions again, the times of one cell multiplied: what perfweir
// finds with three and with five sessions before.
package main

import (
	"bufio"
	"fmt"
	"os"

	"github.com/perfweir/perfweir/.ci/proof/internal/proof"
)

func main() { proof.Main("compare", run) }

func run(args []string) error {
	switch {
	case len(args) >= 2 && args[0] == "record":
		out := bufio.NewWriter(os.Stdout)
		for _, dir := range args[1:] {
			if err := record(out, dir); err != nil {
				return err
			}
		}
		return out.Flush()
	case len(args) >= 3 && args[0] == "table":
		return table(args[1], args[2:])
	}
	return fmt.Errorf("usage: compare {record FOLDER... | table BENCHSTAT DATA...}")
}
