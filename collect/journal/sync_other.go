//go:build !linux

package journal

func (d disk) sync() error { return d.Sync() }
