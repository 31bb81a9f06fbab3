//go:build !unix

package pidstat

import "errors"

// There is no /proc here, and no file of it to be opened.

func rawOpen(string) (int, error) { return 0, errors.ErrUnsupported }

func rawReadAt(int, []byte, int64) (int, error) { return 0, errors.ErrUnsupported }

func rawClose(int) {}
