//go:build !linux || !(amd64 || arm64)

package control

const program = ""
