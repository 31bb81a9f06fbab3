package unit

import "testing"

func TestFormatSlower(t *testing.T) {
	for _, tt := range []struct {
		ratio    float64
		interval *[2]float64
		want     string
	}{
		{1.042, &[2]float64{1.029, 1.056}, "4.2 % slower than before (wall_time, 2.9 to 5.6 %)"},
		{.97, &[2]float64{.955, .985}, "3.0 % faster than before (wall_time, 1.5 to 4.5 %)"},
		{.97, &[2]float64{.93, 1.01}, "3.0 % faster than before (wall_time, -1.0 to 7.0 %)"},
		{3.1, &[2]float64{2.9, 3.3}, "3.1 times slower than before (wall_time, 2.9 to 3.3 times)"},
		{.25, &[2]float64{.2, .5}, "4.0 times faster than before (wall_time, 2.0 to 5.0 times)"},
		{1.042, nil, "4.2 % slower than before (wall_time)"},
	} {
		if got := FormatSlowerThan("before", "wall_time", tt.ratio, tt.interval); got != tt.want {
			t.Errorf("%v, %v: %q, want %q", tt.ratio, tt.interval, got, tt.want)
		}
	}
}
