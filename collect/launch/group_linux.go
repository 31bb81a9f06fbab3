package launch

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// group is a private control group that the launcher lives in, and so everything
// that it starts. The kernel counts CPU time in it that rusage never tells. It is
// made once a session: moving a process for every run takes milliseconds.
type group struct {
	path string
	file *os.File // its counter
	v2   bool
}

// newGroup makes a group for the launcher, below our own one; nil where that
// cannot be done, for which there are many good reasons.
func newGroup(pid int) *group {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	for _, place := range groupPlaces(mounts, own) {
		if g := place.make(pid); g != nil {
			return g
		}
	}
	return nil
}

// groupPlace is the folder of our own group in a hierarchy that counts CPU time.
type groupPlace struct {
	path string
	v2   bool
}

// groupPlaces finds them, of version 2 first. The files are those of proc(5).
func groupPlaces(mountinfo, own []byte) []groupPlace {
	var v1, v2 []groupPlace
	for line := range strings.Lines(string(mountinfo)) {
		before, after, ok := strings.Cut(line, " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if !ok || len(fields) < 5 || len(kind) < 3 {
			continue
		}
		root, mount := unescape(fields[3]), unescape(fields[4])
		switch kind[0] {
		case "cgroup2":
			if path, ok := ownGroup(own, ""); ok {
				v2 = appendPlace(v2, mount, root, path, true)
			}
		case "cgroup":
			if path, ok := ownGroup(own, "cpuacct"); ok && hasWord(kind[2], "cpuacct") {
				v1 = appendPlace(v1, mount, root, path, false)
			}
		}
	}
	return append(v2, v1...)
}

// appendPlace leaves out a group that the mount does not show.
func appendPlace(list []groupPlace, mount, root, path string, v2 bool) []groupPlace {
	rel, err := filepath.Rel(root, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return list
	}
	return append(list, groupPlace{filepath.Join(mount, rel), v2})
}

// ownGroup is our group in a hierarchy: of the named controller, "" for version 2.
func ownGroup(own []byte, controller string) (string, bool) {
	for line := range strings.Lines(string(own)) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(fields) != 3 {
			continue
		}
		if controller == "" && fields[0] == "0" || controller != "" && hasWord(fields[1], controller) {
			return fields[2], true
		}
	}
	return "", false
}

func hasWord(list, word string) bool { return strings.Contains(","+list+",", ","+word+",") }

// unescape reads a path of mountinfo.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

const groupPrefix = "perfweir-"

func (p groupPlace) make(pid int) *group {
	p.sweep()
	g := &group{path: filepath.Join(p.path, fmt.Sprintf("%s%d-%s", groupPrefix, os.Getpid(), rand.Text()[:8])), v2: p.v2}
	if os.Mkdir(g.path, 0o755) != nil {
		return nil
	}
	name := "cpuacct.usage"
	if p.v2 {
		name = "cpu.stat"
	}
	var err error
	if g.file, err = os.Open(filepath.Join(g.path, name)); err == nil {
		err = os.WriteFile(filepath.Join(g.path, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0)
	}
	if err != nil || g.usage() < 0 {
		g.remove()
		return nil
	}
	return g
}

// sweep removes groups whose runner was killed. The kernel refuses to remove one
// that holds a process.
func (p groupPlace) sweep() {
	old, _ := filepath.Glob(filepath.Join(p.path, groupPrefix+"*"))
	for _, path := range old {
		number, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(path), groupPrefix), "-")
		if pid, err := strconv.Atoi(number); err == nil && unix.Kill(pid, 0) == unix.ESRCH {
			_ = unix.Rmdir(path)
		}
	}
}

// usage is the CPU time of all that is and was in the group; negative: not known.
func (g *group) usage() time.Duration {
	if g == nil || g.file == nil {
		return -1
	}
	var b [1024]byte
	n, err := g.file.ReadAt(b[:], 0)
	if n == 0 || err != nil && err != io.EOF {
		return -1
	}
	if !g.v2 {
		return counter(bytes.TrimSpace(b[:n]), time.Nanosecond)
	}
	lines := bufio.NewScanner(bytes.NewReader(b[:n]))
	for lines.Scan() {
		if text, ok := bytes.CutPrefix(lines.Bytes(), []byte("usage_usec ")); ok {
			return counter(text, time.Microsecond)
		}
	}
	return -1
}

func counter(text []byte, unit time.Duration) time.Duration {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n < 0 {
		return -1
	}
	return time.Duration(n) * unit
}

// remove takes the group away once it is empty. The kernel empties it a moment
// after the last process was reaped.
func (g *group) remove() {
	if g == nil {
		return
	}
	if g.file != nil {
		g.file.Close()
	}
	for pause := time.Millisecond; unix.Rmdir(g.path) == unix.EBUSY && pause < time.Second; pause *= 2 {
		time.Sleep(pause)
	}
}
