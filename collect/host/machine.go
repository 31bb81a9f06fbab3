package host

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
)

// MachineVariable names the machine in a session where the host's own name is
// another one each time, as in containers.
const MachineVariable = "PERFWEIR_MACHINE"

// Machine returns the name of this machine: MachineVariable where it is set,
// else the host's name, else "unknown". It is a name for people: whether
// sessions may be compared is the fingerprint's to say.
func Machine(getenv func(string) string) string {
	f := facts{}
	f.put("", getenv(MachineVariable))
	if f[""] == "" {
		if name, err := os.Hostname(); err == nil {
			f.put("", name)
		}
	}
	if f[""] == "" {
		return "unknown"
	}
	return f[""]
}

// Load is the number of processes that ran or wanted to, on average over one,
// five and fifteen minutes.
type Load struct{ One, Five, Fifteen float64 }

// ReadLoad reads the load of the machine whose files are under root; ok is false
// when it cannot be read. It is meant for the moment before a session begins.
func ReadLoad(root string) (l Load, ok bool) {
	fields := strings.Fields(reader{root}.text("proc/loadavg"))
	if len(fields) < 3 {
		return Load{}, false
	}
	for i, to := range []*float64{&l.One, &l.Five, &l.Fifteen} {
		v, err := strconv.ParseFloat(fields[i], 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			return Load{}, false
		}
		*to = v
	}
	return l, true
}

// busy is the load of one minute, in CPUs, from which a machine was not idle
// before the session: half a CPU is more than a quiet system's own work, and
// enough to disturb a program that uses all of them.
const busy = 0.5

// Note returns a sentence for the report when the machine was busy, else "".
func (l Load) Note() string {
	if l.One < busy {
		return ""
	}
	return fmt.Sprintf("the machine was not idle before the session: load %.2f over one minute, %.2f over five", l.One, l.Five)
}
