//go:build !unix

package linuxproc_test

import (
	"syscall"
	"testing"
)

func ownSession() *syscall.SysProcAttr { return nil }

func killSession(testing.TB, int) {}
