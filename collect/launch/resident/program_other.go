//go:build !linux || !(amd64 || arm64)

package resident

// Program returns the launcher, an ELF program; empty where there is none for
// this system.
func Program() string { return "" }
