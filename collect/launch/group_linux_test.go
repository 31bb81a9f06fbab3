package launch

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/perfweir/perfweir/collect/launch/resident"
)

// Lines of real machines: a systemd host with version 2, one with both, a
// container of version 1 that sees its own group as the root, one whose group is
// outside of what it sees, and a mount point with a blank.
func TestGroupPlaces(t *testing.T) {
	for name, c := range map[string]struct {
		mounts, own string
		want        []groupPlace
	}{
		"version 2": {
			"24 30 0:22 / /sys/fs/cgroup rw,nosuid,nodev shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
			"0::/user.slice/session-1.scope\n",
			[]groupPlace{{"/sys/fs/cgroup/user.slice/session-1.scope", true}}},
		"both": {
			"31 25 0:27 / /sys/fs/cgroup/unified rw shared:9 - cgroup2 cgroup2 rw\n35 25 0:31 / /sys/fs/cgroup/cpu,cpuacct rw shared:15 - cgroup cgroup rw,cpu,cpuacct\n36 25 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
			"4:memory:/a\n3:cpu,cpuacct:/b\n0::/c\n",
			[]groupPlace{{"/sys/fs/cgroup/unified/c", true}, {"/sys/fs/cgroup/cpu,cpuacct/b", false}}},
		"container": {
			"700 690 0:31 /docker/abc /sys/fs/cgroup/cpuacct ro master:15 - cgroup cgroup rw,cpuacct\n",
			"3:cpuacct:/docker/abc\n",
			[]groupPlace{{"/sys/fs/cgroup/cpuacct", false}}},
		"outside": {
			"700 690 0:31 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
			"0::/docker/other\n", nil},
		"blank":   {`24 30 0:22 / /mnt/c\040g rw - cgroup2 none rw` + "\n", "0::/\n", []groupPlace{{"/mnt/c g", true}}},
		"none":    {"24 30 0:22 / / rw - ext4 /dev/vda rw\n", "", nil},
		"cut":     {"24 30 0:22", "0:", nil},
		"cpuset":  {"36 25 0:32 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n", "3:cpuset:/\n", nil},
		"no own":  {"35 25 0:31 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n", "3:cpu:/\n", nil},
		"shorter": {"35 25 0:31 /ab /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n", "3:cpuacct:/abc\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := groupPlaces([]byte(c.mounts), []byte(c.own))
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(groupPlace{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Every hierarchy of this machine in which a group can be made counts the same.
func TestGroupCounts(t *testing.T) {
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	own, _ := os.ReadFile("/proc/self/cgroup")
	made := 0
	for _, place := range groupPlaces(mounts, own) {
		c := exec.Command("/bin/sh", "-c", "read x; i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done")
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		g := place.make(c.Process.Pid)
		in.Close()
		if err := c.Wait(); err != nil {
			t.Fatal(err)
		}
		if g == nil {
			continue
		}
		made++
		want := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
		if got := g.usage(); got < want/2 || got > want+100*time.Millisecond {
			t.Errorf("%s counted %v, rusage %v", place.path, got, want)
		}
		g.remove()
		if _, err := os.Stat(g.path); !os.IsNotExist(err) {
			t.Errorf("%s is left", g.path)
		}
	}
	if made == 0 {
		t.Skip("no control group can be made here")
	}
}

func TestSpecification(t *testing.T) {
	got, err := specification("/p", "", []string{"a", ""}, []string{"K=v"})
	if err != nil {
		t.Fatal(err)
	}
	// argc 2, envc 1; 9 words before the strings; the program first.
	want := []byte{2, 1, 72, 0, 75, 77, 0, 78, 0}
	for i, w := range want {
		if word := got[8*i]; word != w {
			t.Errorf("word %d is %d, want %d", i, word, w)
		}
	}
	if text := string(got[72:]); text != "/p\x00a\x00\x00K=v\x00" {
		t.Errorf("strings %q", text)
	}
	for _, argv := range [][]string{{"a\x00b"}, {"a", "\x00"}} {
		if _, err := specification("/p", "", argv, nil); err != syscall.EINVAL {
			t.Errorf("%q: %v", argv, err)
		}
	}
}

func TestReportHasOneSize(t *testing.T) {
	var r report
	if reportSize != 112 {
		t.Errorf("a report has %d bytes, that of the launcher 112", reportSize)
	}
	for _, n := range []int{0, 111, 113} {
		if r.decode(make([]byte, n)) == nil {
			t.Errorf("%d bytes were taken", n)
		}
	}
}

// A step that holds a token is not dumpable: its /proc files are then root's.
func TestStartsWhenWeAreNotDumpable(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		t.Skip(err)
	}
	defer unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)
	k, err := dialMemory(Options{}, resident.Program())
	if err != nil {
		t.Fatal(err)
	}
	if err := k.close(); err != nil {
		t.Error(err)
	}
}
