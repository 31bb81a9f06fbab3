//go:build !linux

package launch

import (
	"context"
	"fmt"
	"runtime"
)

// Run starts nothing: sessions, exact waiting and the reading of what is left
// behind are written for Linux.
func Run(context.Context, Command) Exit {
	return Exit{End: EndNotStarted, Err: fmt.Errorf("perfweir runs commands on Linux only, and this is %s", runtime.GOOS)}
}
