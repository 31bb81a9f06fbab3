//go:build !linux

package flow

import "errors"

func hideProcess() error { return errors.New("this system has no way to hide a process") }

func writable(string) bool { return false }
