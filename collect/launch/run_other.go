//go:build !linux

package launch

import (
	"context"
	"errors"
	"fmt"
	"runtime"
)

// Launcher starts the commands of a session: on Linux only.
type Launcher struct{}

// Start says that there is no launcher here.
func Start(Options) (*Launcher, error) {
	return &Launcher{}, errors.New("there is no launcher for this system")
}

// Floor is 0.
func (l *Launcher) Floor() int64 { return 0 }

// Close does nothing.
func (l *Launcher) Close() error { return nil }

// Run starts nothing: sessions, exact waiting and the reading of what is left
// behind are written for Linux.
func (l *Launcher) Run(ctx context.Context, c Command) Exit { return Run(ctx, c) }

// Run starts nothing.
func Run(context.Context, Command) Exit {
	return Exit{End: EndNotStarted, Err: fmt.Errorf("perfweir runs commands on Linux only, and this is %s", runtime.GOOS)}
}
