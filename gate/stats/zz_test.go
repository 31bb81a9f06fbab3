package stats
import ("testing";"math/rand/v2";"time";"math")
func TestZZ(t *testing.T) {
	x := []float64{.3,2.4,1.5,-.9,-.5,99.7,98.3,99.1,149.0,149.7,149.5,149.1,148.8,150.0}
	r := DefaultChangeRule(); r.Level=.05; r.LeastSegment=3
	t.Log(ChangePoints(x, r))
	r = DefaultChangeRule()
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{10, 20, 50, 200} { found := 0; for range 500 { c, _ := ChangePoints(gaussian(rng, n, 0, .03), r); if len(c) > 0 {found++} }; t.Log("null", n, float64(found)/500) }
	y := gaussian(rng, 2000, 0, .02)
	for i := range y { y[i] += .03*math.Floor(float64(i)/100)*float64(1-2*(i/100%2)) }
	s := time.Now(); c, _ := ChangePoints(y, r); t.Log(time.Since(s), len(c)); for _, p := range c { t.Log(p) }
	for _, ar := range []float64{0, .3, .6} { found, cps := 0, 0; for range 300 { z := gaussian(rng, 200, 0, .02); for i := 1; i < 200; i++ { z[i] = ar*z[i-1] + math.Sqrt(1-ar*ar)*z[i] }; c, _ := ChangePoints(z, r); if len(c) > 0 {found++}; cps += len(c) }; t.Log("ar", ar, found, cps) }
}
