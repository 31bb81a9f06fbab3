package prepare

import (
	"slices"
	"strings"
)

// commLength is how many bytes of a name the kernel keeps.
const commLength = 15

// matches reports whether a process's name starts with one of names. A name that
// is longer than the kernel keeps matches by what is kept.
func matches(comm string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		if len(name) > commLength {
			name = name[:commLength]
		}
		return len(name) >= 4 && strings.HasPrefix(comm, name)
	})
}

// services are names of processes that keep the machine, or the job that we are
// part of, alive: init systems, ways to log in, container engines, agents that
// run jobs, display servers. The kernel cuts names after 15 bytes.
func services() []string {
	return []string{
		"Runner.Listener", "Runner.Worker", "Runner.PluginHo", "act_runner", "buildkite-agent", "woodpecker-agen",
		"(sd-pam)", "login", "init", "agetty", "cron", "crond", "polkitd", "udevd", "elogind",
		"dockerd", "runc", "crun", "conmon", "crio", "podman", "buildkitd", "kubelet", "k3s",
		"NetworkManager", "wpa_supplicant", "dhclient", "dhcpcd", "connmand",
		"Xorg", "Xwayland", "Xvnc", "gdm", "gdm3", "lightdm", "sddm", "gnome-shell", "kwin_wayland", "kwin_x11", "plasmashell",
		"sway", "weston", "mutter", "labwc", "wayfire", "Hyprland", "cinnamon", "xfwm4",
	}
}

// serviceFamilies are services whose processes have names with endings.
func serviceFamilies() []string {
	return []string{"systemd", "dbus", "sshd", "containerd", "gitlab-runner", "gnome-session", "nvidia-persiste", "perfweir"}
}

func service(comm string) bool {
	return slices.Contains(services(), comm) ||
		slices.ContainsFunc(serviceFamilies(), func(f string) bool { return strings.HasPrefix(comm, f) })
}

// guard knows, for one table, what must not be ended.
type guard struct {
	table     table
	self      int
	ancestors map[int]bool
	leaders   map[int]bool // of the sessions that we and our ancestors are in
}

func newGuard(t table, self int) guard {
	g := guard{table: t, self: self, ancestors: map[int]bool{}, leaders: map[int]bool{t[self].Session: true}}
	for _, p := range t.ancestors(self) {
		g.ancestors[p.PID] = true
		g.leaders[p.Session] = true
	}
	return g
}

// why says in words why a process stays, empty when it may be ended. Who owns it
// is asked elsewhere.
func (g guard) why(p process) string {
	switch {
	case p.PID == 1:
		return "it is the first process of the system"
	case p.kernel:
		return "it is a thread of the kernel"
	case p.PID == g.self:
		return "it is perfweir itself"
	case g.ancestors[p.PID]:
		return "perfweir runs below it"
	case p.Parent == g.self:
		return "perfweir started it and uses it" // the launcher
	case g.leaders[p.PID]:
		return "it leads the session that perfweir runs in"
	case service(p.name):
		return "it is a service of the system or of the runner"
	case g.ofAnother(p):
		return "another perfweir runs it"
	}
	return ""
}

// ofAnother reports whether a process runs below another perfweir, which
// measures it.
func (g guard) ofAnother(p process) bool {
	return slices.ContainsFunc(g.table.ancestors(p.PID), func(a process) bool {
		return a.name == "perfweir" && a.PID != g.self && !g.ancestors[a.PID]
	})
}
