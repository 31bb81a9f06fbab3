package prepare

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Temperature is one reading of the machine.
type Temperature struct {
	Celsius float64 // NaN: no sensor could be read
	Sensor  string  // what the number is of: "x86_pkg_temp", "coretemp"
}

// Known reports whether there is a number.
func (t Temperature) Known() bool { return !math.IsNaN(t.Celsius) }

// Readings outside are no temperatures of a running machine: sensors that are
// not connected say 0, -40, -274 or 255 °C.
const (
	coldest = 1.0   // °C
	hottest = 150.0 // °C
)

// ReadTemperature returns the hottest thermal zone of the machine whose files
// are under root or, where the kernel has no zones, the hottest sensor of its
// hardware monitors, of the CPU where one is known to be that.
func ReadTemperature(root string) Temperature {
	if t := hottestOf(root, "sys/class/thermal/thermal_zone*/temp", "type", nil); t.Known() {
		return t
	}
	if t := hottestOf(root, "sys/class/hwmon/hwmon*/temp*_input", "name", cpuMonitors()); t.Known() {
		return t
	}
	return hottestOf(root, "sys/class/hwmon/hwmon*/temp*_input", "name", nil)
}

// cpuMonitors are the drivers of CPU sensors.
func cpuMonitors() []string {
	return []string{"coretemp", "k10temp", "zenpower", "cpu_thermal", "soc_thermal"}
}

// hottestOf reads the files of a pattern, in thousandths of a degree. label is
// the file beside each that names it; only are the names that count, nil all.
func hottestOf(root, pattern, label string, only []string) Temperature {
	paths, err := filepath.Glob(filepath.Join(root, pattern))
	best := Temperature{Celsius: math.NaN()}
	if err != nil {
		return best
	}
	for _, path := range paths {
		v, ok := thousandths(path)
		if !ok || best.Known() && v <= best.Celsius {
			continue
		}
		name := firstLine(filepath.Join(filepath.Dir(path), label))
		if only == nil || slices.Contains(only, name) {
			best = Temperature{Celsius: v, Sensor: name}
		}
	}
	return best
}

// thousandths reads one sensor; false when it cannot be read or says nonsense.
func thousandths(path string) (float64, bool) {
	n, err := strconv.ParseInt(firstLine(path), 10, 64)
	v := float64(n) / 1000
	return v, err == nil && v >= coldest && v <= hottest
}

// firstLine is a small file of the kernel without its newline, at most 64 bytes;
// empty when it cannot be read: a zone that is asleep answers with an error.
func firstLine(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b[:min(len(b), 64)]), "\n")
	return shown(strings.TrimSpace(line))
}
