// Package resident holds the launcher, the small program that starts every
// command: its C source in src, and beside it the bytes that are embedded.
//
// It refuses to do anything with them: package launch runs them and talks to
// them. The bytes are rebuilt from the source by .ci/embedded.sh, which CI
// compares, so what is reviewed is what runs.
//
// The source lies a folder deeper because the go command does not take C files
// beside Go files without cgo, and the build without cgo has the launcher too.
package resident
