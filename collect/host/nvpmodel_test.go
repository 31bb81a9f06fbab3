package host

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

func TestPowerModes(t *testing.T) {
	files, _ := filepath.Glob("testdata/vectors/*.json")
	if len(files) == 0 {
		t.Fatal("no vector")
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var v struct {
			Given struct {
				Conf string `json:"nvpmodel_conf"`
			}
			Expected map[string]string
		}
		if err := json.Unmarshal(b, &v); err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for id, name := range PowerModes(v.Given.Conf) {
			got[strconv.Itoa(id)] = name
		}
		if !maps.Equal(got, v.Expected) {
			t.Errorf("%s: %v, want %v", f, got, v.Expected)
		}
	}
}

// TestPowerModeOfTheMachine: the active mode is named where the configuration
// knows it, kept by its id where it does not, left out where nothing tells (C50).
func TestPowerModeOfTheMachine(t *testing.T) {
	for _, tt := range []struct{ status, conf, want string }{
		{"pmode:0002 fmode:quiet", "< POWER_MODEL ID=0 NAME=MAXN >\n< POWER_MODEL ID=2 NAME=MODE_30W >\n", "2 MODE_30W"},
		{"pmode:0003 fmode:quiet", "< POWER_MODEL ID=0 NAME=MAXN >\n", "3"},
		{"", "< POWER_MODEL ID=0 NAME=MAXN >\n", ""},
		{"garbage", "", ""},
	} {
		root := t.TempDir()
		for name, text := range map[string]string{"var/lib/nvpmodel/status": tt.status, "etc/nvpmodel.conf": tt.conf} {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := Fingerprint(root).Strict[KeyPowerMode]; got != tt.want {
			t.Errorf("%q with %q: %q, want %q", tt.status, tt.conf, got, tt.want)
		}
	}
}
