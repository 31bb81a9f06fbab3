package flow

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/doctor"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/durable"
	"github.com/perfweir/perfweir/collect/host"
	"github.com/perfweir/perfweir/collect/prepare"
)

// Doctor prints what makes this machine noisy or unsafe to measure on.
func (s Shell) Doctor(w io.Writer) error {
	for _, l := range doctor.Examine(s.facts("/")) {
		if _, err := fmt.Fprintf(w, "%-4s  %s: %s\n      %s\n", l.Level, l.Topic, Visible(l.Seen), l.Why); err != nil {
			return err
		}
		if l.Do == "" {
			continue
		}
		if _, err := fmt.Fprintf(w, "      do: %s\n", l.Do); err != nil {
			return err
		}
	}
	return nil
}

// facts reads the machine whose files are under root.
func (s Shell) facts(root string) doctor.Facts {
	f := doctor.Facts{Host: host.Fingerprint(root), Root: os.Geteuid() == 0, Secrets: secrets(s.Environ)}
	f.Load, f.LoadKnown = host.ReadLoad(root)
	f.Scaling, f.ScalingKnown = host.ReadScaling(root)
	for _, g := range host.ReadGroups(root) {
		if writable := writable(filepath.Join(root, g.Folder)); f.Group.Version == 0 || writable && !f.GroupWritable {
			f.Group, f.GroupWritable = g, writable
		}
	}
	if t := prepare.ReadTemperature(root); t.Known() {
		f.Temperature, f.Sensor = t.Celsius, t.Sensor
		if f.Sensor == "" {
			f.Sensor = "unnamed sensor"
		}
	}
	dir, err := durable.MachineFolder(value(s.Environ, durable.MachineFolderVariable))
	if err == nil {
		f.LockFolder = dir
		f.LockHolder, err = durable.MachineHolder(dir)
	}
	if err != nil {
		f.LockWhy = err.Error()
	}
	return f
}
