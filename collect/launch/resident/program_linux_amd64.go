package resident

import _ "embed" // for program

//go:embed launcher_amd64
var program string

// Program returns the launcher, an ELF program; empty where there is none for
// this system.
func Program() string { return program }
