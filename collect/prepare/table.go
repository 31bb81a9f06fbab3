package prepare

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/perfweir/perfweir/collect/sample/linuxproc/pidstat"
)

// table is all processes at one moment.
type table map[int]process

// look reads the process table. A process that ends while it is read is left out.
func (m *Machine) look() (table, error) {
	pids, err := pidstat.Open(filepath.Join(m.root, "proc")).PIDs(nil)
	if err != nil {
		return nil, err
	}
	t := make(table, len(pids))
	for _, pid := range pids {
		if p, ok := m.process(pid); ok {
			t[pid] = p
		}
	}
	return t, nil
}

// process reads one process; false when it has ended or cannot be read.
func (m *Machine) process(pid int) (process, bool) {
	text, err := os.ReadFile(filepath.Join(m.root, "proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return process{}, false
	}
	p, err := parseProcess(text)
	return p, err == nil && p.PID == pid && !p.Ended()
}

// kernelThread is the kernel's PF_KTHREAD in the flags of proc(5), field 9: a
// thread of the kernel, which no signal ends and no number tells apart inside a
// container.
const kernelThread = 0x00200000

// fieldFlags counts from the first field after the name.
const fieldFlags = 6

func parseProcess(text []byte) (process, error) {
	stat, err := pidstat.Parse(text)
	if err != nil {
		return process{}, err
	}
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')') // both there, or Parse had refused it
	fields := bytes.Fields(text[end+1:])
	flags, err := strconv.ParseUint(string(fields[fieldFlags]), 10, 32)
	if err != nil {
		return process{}, fmt.Errorf("flags of process %d: %w", stat.PID, pidstat.ErrFormat)
	}
	return process{Stat: stat, name: string(text[open+1 : end]), kernel: flags&kernelThread != 0}, nil
}

// owner is the real user of a process; -1 when it is not known. The owner of the
// folder in /proc is no answer: it is root where a process has hidden itself.
func (m *Machine) owner(pid int) int {
	text, err := os.ReadFile(filepath.Join(m.root, "proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return -1
	}
	for line := range strings.Lines(string(text)) {
		if ids, ok := strings.CutPrefix(line, "Uid:"); ok {
			if fields := strings.Fields(ids); len(fields) > 0 {
				if uid, err := strconv.Atoi(fields[0]); err == nil {
					return uid
				}
			}
		}
	}
	return -1
}

// ancestors are the processes above pid, nearest first.
func (t table) ancestors(pid int) []process {
	var out []process
	seen := map[int]bool{pid: true}
	for p, ok := t[pid]; ok; {
		if p, ok = t[p.Parent]; ok {
			if seen[p.PID] {
				break // a number was used again while the table was read
			}
			seen[p.PID] = true
			out = append(out, p)
		}
	}
	return out
}
