// Command perfweir is a performance gate: it measures real commands, compares
// them with earlier sessions and says pass, fail or what it does not know.
package main

import (
	"context"
	"os"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/cli"
)

func main() { os.Exit(cli.Main(context.Background(), cli.Std(), os.Args[1:])) }
