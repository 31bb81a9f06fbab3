//go:build !linux

package control

// File is the program where commands are started from: on Linux only.
type File struct{}

// Open says that there is none.
func Open() (*File, error) { return nil, ErrNone }

// Command is nothing.
func (*File) Command() (argv []string, stdin string) { return nil, "" }

// Close does nothing.
func (*File) Close() error { return nil }
