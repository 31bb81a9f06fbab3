package host

import (
	"math"
	"path"
	"strconv"
	"strings"
)

// limits are those of the container or service that this program runs in; 0 is
// no limit, or none that can be seen.
type limits struct {
	cores  float64
	memory float64 // B
}

// limits reads the cgroup of this process, version 1 or 2 or both at once, up to
// the root of what is mounted: the smallest limit on the way holds.
func (r reader) limits() limits {
	mounts := parseMounts(r.text("proc/self/mountinfo"))
	var l limits
	for line := range strings.Lines(r.text("proc/self/cgroup")) {
		parts := strings.SplitN(strings.TrimRight(line, "\n"), ":", 3) // hierarchy, controllers, path
		if len(parts) != 3 {
			continue
		}
		for _, controller := range strings.Split(parts[1], ",") {
			switch {
			case parts[0] == "0" && controller == "":
				r.climb(mounts, "", parts[2], func(folder string) {
					l.cores = smaller(l.cores, quotaV2(r.text(path.Join(folder, "cpu.max"))))
					l.memory = smaller(l.memory, number(r.text(path.Join(folder, "memory.max"))))
				})
			case controller == "cpu":
				r.climb(mounts, controller, parts[2], func(folder string) {
					l.cores = smaller(l.cores, quotaV1(
						r.text(path.Join(folder, "cpu.cfs_quota_us")), r.text(path.Join(folder, "cpu.cfs_period_us"))))
				})
			case controller == "memory":
				r.climb(mounts, controller, parts[2], func(folder string) {
					l.memory = smaller(l.memory, number(r.text(path.Join(folder, "memory.limit_in_bytes"))))
				})
			}
		}
	}
	// Version 1 says "none" as the largest number of pages.
	if l.memory >= 1<<60 {
		l.memory = 0
	}
	return l
}

// climb calls visit for the folder of a cgroup and for each one above it, as far
// as it is mounted. Controller "" is version 2.
func (r reader) climb(mounts []mount, controller, group string, visit func(folder string)) {
	for _, m := range mounts {
		if m.version2 != (controller == "") || !m.version2 && !m.has(controller) {
			continue
		}
		below, ok := under(group, m.root)
		if !ok {
			continue
		}
		for {
			visit(path.Join(m.point, below))
			if below == "/" {
				return
			}
			below = path.Dir(below)
		}
	}
}

// under returns group as seen from the mounted root; false when it lies outside.
func under(group, root string) (string, bool) {
	group = path.Clean("/" + group)
	if root == "/" {
		return group, true
	}
	rest, ok := strings.CutPrefix(group, root)
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	return path.Clean("/" + rest), true
}

// mount is one mounted cgroup hierarchy.
type mount struct {
	root, point string
	options     []string // of the hierarchy: version 1 names its controllers there
	version2    bool
}

func (m mount) has(controller string) bool {
	for _, o := range m.options {
		if o == controller {
			return true
		}
	}
	return false
}

// parseMounts reads the cgroup lines of /proc/PID/mountinfo, proc(5):
//
//	36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
func parseMounts(text string) []mount {
	var all []mount
	for line := range strings.Lines(text) {
		before, after, ok := strings.Cut(line, " - ")
		fields, rest := strings.Fields(before), strings.Fields(after)
		if !ok || len(fields) < 5 || len(rest) < 3 || rest[0] != "cgroup" && rest[0] != "cgroup2" {
			continue
		}
		all = append(all, mount{
			root: unescapeMount(fields[3]), point: unescapeMount(fields[4]),
			options: strings.Split(rest[2], ","), version2: rest[0] == "cgroup2",
		})
	}
	return all
}

// unescapeMount undoes the kernel's octal escapes of white space and backslash.
func unescapeMount(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// quotaV2 reads cpu.max, "250000 100000" or "max 100000", as cores.
func quotaV2(text string) float64 {
	fields := strings.Fields(text)
	switch len(fields) {
	case 1:
		return quotaV1(fields[0], "100000") // the kernel's default period
	case 2:
		return quotaV1(fields[0], fields[1])
	}
	return 0
}

// quotaV1 divides a quota by its period; 0 when there is no quota (-1, max) or
// the two are not what they should be.
func quotaV1(quota, period string) float64 {
	q, p := number(quota), number(period)
	if q <= 0 || p <= 0 {
		return 0
	}
	return q / p
}

// number reads a whole number; 0 when it is none, as "max".
func number(text string) float64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return float64(n)
}

// smaller returns the smaller of two limits of which 0 is none.
func smaller(a, b float64) float64 {
	switch {
	case a == 0:
		return b
	case b == 0:
		return a
	}
	return math.Min(a, b)
}
