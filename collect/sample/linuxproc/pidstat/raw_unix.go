//go:build unix

package pidstat

import "syscall"

// Files of /proc are read by plain system calls: os.Open asks the poller to take
// each one, which it cannot, and that is six calls more.

func rawOpen(path string) (fd int, err error) {
	for {
		fd, err = syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err != syscall.EINTR {
			return fd, err
		}
	}
}

func rawReadAt(fd int, to []byte, at int64) (n int, err error) {
	for {
		n, err = syscall.Pread(fd, to, at)
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}

func rawClose(fd int) { _ = syscall.Close(fd) }
