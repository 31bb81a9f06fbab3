package host

import (
	"regexp"
	"strconv"
)

// KeyPowerMode is the Jetson power mode, id and name: "2 MODE_30W". A board that
// may draw twice the power is another machine.
const KeyPowerMode = "power_mode"

// powerModel is one mode's header in nvpmodel.conf: < POWER_MODEL ID=2 NAME=MODE_30W >.
var powerModel = regexp.MustCompile(`<\s*POWER_MODEL\s+ID=(\d+)\s+NAME=([A-Za-z0-9_]+)`)

// activeMode is how nvpmodel keeps the active mode in /var/lib/nvpmodel/status:
// "pmode:0002 fmode:quiet".
var activeMode = regexp.MustCompile(`pmode:(\d+)`)

// PowerModes reads the names of the power modes by id from the text of
// /etc/nvpmodel.conf. Ids are not ordered by power, and the active mode may be
// missing there.
func PowerModes(conf string) map[int]string {
	modes := map[int]string{}
	for _, m := range powerModel.FindAllStringSubmatch(conf, -1) {
		if id, err := strconv.Atoi(m[1]); err == nil {
			modes[id] = m[2]
		}
	}
	return modes
}

// powerMode is the active mode as it is told; empty where it is not known. An id
// that the configuration does not name is kept (C50).
func (r reader) powerMode() string {
	m := activeMode.FindStringSubmatch(r.text("var/lib/nvpmodel/status"))
	if m == nil {
		return ""
	}
	id, err := strconv.Atoi(m[1])
	if err != nil {
		return ""
	}
	name := PowerModes(r.text("etc/nvpmodel.conf"))[id]
	if name == "" {
		return strconv.Itoa(id)
	}
	return strconv.Itoa(id) + " " + name
}
