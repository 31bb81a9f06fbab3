// Package control holds the program of the control cell, a fixed amount of work
// that is run between the commands of a session: how long it takes there, and took
// in stored sessions, tells a slow machine from a slow change.
//
// Its C source is in src, and beside it the bytes that are embedded. They are
// rebuilt from the source by .ci/embedded.sh, which CI compares, so they are the
// same from release to release, and stored sessions stay comparable.
//
// The room refuses to run it: it is started as every command is. What its numbers
// mean is for gate to say.
package control

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
)

// ErrNone says that there is no program for this system.
var ErrNone = errors.New("there is no program for this system")

// Digest is that of the program's bytes, "sha256:..."; empty where there is none.
func Digest() string {
	if program == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(program))
	return "sha256:" + hex.EncodeToString(sum[:])
}
