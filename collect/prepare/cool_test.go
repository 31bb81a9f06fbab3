package prepare

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const zone = "sys/class/thermal/thermal_zone"

func TestReadTemperature(t *testing.T) {
	for name, c := range map[string]struct {
		files  map[string]string
		want   float64 // 0: none
		sensor string
	}{
		"nothing": {nil, 0, ""},
		"hottest zone": {map[string]string{
			zone + "0/temp": "41000\n", zone + "0/type": "acpitz\n", zone + "1/temp": "56500\n", zone + "1/type": "x86_pkg_temp\n", zone + "2/temp": "48000\n",
		}, 56.5, "x86_pkg_temp"},
		"nonsense is no temperature": {map[string]string{
			zone + "0/temp": "0\n", zone + "1/temp": "-274000\n", zone + "2/temp": "255000\n", zone + "3/temp": "hot\n", zone + "4/temp": "", zone + "5/temp": "39000",
		}, 39, ""},
		"monitors where there is no zone": {map[string]string{
			"sys/class/hwmon/hwmon0/name": "nvme\n", "sys/class/hwmon/hwmon0/temp1_input": "71000\n",
			"sys/class/hwmon/hwmon1/name": "k10temp\n", "sys/class/hwmon/hwmon1/temp1_input": "50250\n", "sys/class/hwmon/hwmon1/temp3_input": "47000\n",
		}, 50.25, "k10temp"},
		"any monitor": {map[string]string{"sys/class/hwmon/hwmon0/name": "nvme\n", "sys/class/hwmon/hwmon0/temp1_input": "38850\n"}, 38.85, "nvme"},
		"zones go before monitors": {map[string]string{
			zone + "0/temp": "40000\n", "sys/class/hwmon/hwmon1/name": "coretemp", "sys/class/hwmon/hwmon1/temp1_input": "60000",
		}, 40, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, 1000)
			for path, text := range c.files {
				f.file(path, text)
			}
			got := ReadTemperature(f.root)
			if got.Known() != (c.want != 0) || got.Known() && got.Celsius != c.want || got.Sensor != c.sensor {
				t.Errorf("got %+v, want %v of %q", got, c.want, c.sensor)
			}
		})
	}
}

// cooling is a machine at the given temperatures, one a second; the first is
// that of the session's start.
func cooling(t *testing.T, temperatures ...string) *fake {
	f := newFake(t, 1000)
	set := func(v string) {
		if v != "" {
			f.file(zone+"0/temp", v)
		}
	}
	set(temperatures[0])
	f.Machine.start = ReadTemperature(f.root)
	set(temperatures[1])
	go func() {
		for _, v := range temperatures[2:] {
			time.Sleep(time.Second)
			set(v)
		}
	}()
	return f
}

func TestCool(t *testing.T) {
	band := Rule{Rest: time.Second / 4, Band: 3, Max: 10 * time.Second}
	for name, c := range map[string]struct {
		rule   Rule
		temps  []string
		waited time.Duration
		end    float64 // 0: unknown
		words  string
	}{
		"only rest":         {Rule{Rest: 2 * time.Second}, []string{"40000", "90000", "90000"}, 2 * time.Second, 90, ""},
		"no rest":           {Rule{}, []string{"40000", "90000"}, 0, 90, ""},
		"cool already":      {band, []string{"40000", "43000"}, time.Second / 4, 43, ""},
		"cooler than ever":  {band, []string{"40000", "30000"}, time.Second / 4, 30, ""},
		"cools down":        {band, []string{"40000", "60000", "50000", "43100", "43000"}, 3250 * time.Millisecond, 43, ""},
		"the cap":           {band, []string{"40000", "60000", "50000"}, 10 * time.Second, 50, "cooldown: still 50.0 °C after 10s; the session began at 40.0 °C and the band is 3 °C"},
		"no sensor":         {band, []string{"", ""}, time.Second / 4, 0, "no temperature could be read when the session began"},
		"sensor comes late": {band, []string{"", "90000"}, time.Second / 4, 90, "no temperature could be read when the session began"},
		"sensor is lost":    {band, []string{"40000", "60000", "error"}, 1250 * time.Millisecond, 0, "can no longer be read"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := cooling(t, c.temps...)
				got := f.Cool(t.Context(), c.rule)
				words := strings.Join(got.Words, "\n")
				if got.Waited != c.waited || got.Temperature.Known() != (c.end != 0) || c.end != 0 && got.Temperature.Celsius != c.end ||
					!strings.Contains(words, c.words) || (c.words == "") != (words == "") {
					t.Errorf("got %+v, want %v at %v, words %q", got, c.waited, c.end, c.words)
				}
				again := f.Cool(t.Context(), c.rule)
				if isCap := strings.Contains(c.words, "still"); isCap != (len(again.Words) > 0) {
					t.Errorf("the next run: %q", again.Words) // a cap is a reason on each run, a missing sensor is told once
				}
			})
		})
	}
}

func TestCoolIsInterruptible(t *testing.T) {
	for name, rule := range map[string]Rule{"rest": {Rest: time.Hour}, "band": {Band: 3, Max: time.Hour}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := cooling(t, "40000", "60000")
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				if got := f.Cool(ctx, rule); got.Waited != 5*time.Second || len(got.Words) > 0 {
					t.Errorf("got %+v", got)
				}
			})
		})
	}
}
