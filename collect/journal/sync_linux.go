package journal

import "golang.org/x/sys/unix"

func (d disk) sync() error {
	for {
		if err := unix.Fdatasync(int(d.Fd())); err != unix.EINTR {
			return err
		}
	}
}
