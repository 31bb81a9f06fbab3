// Package plan owns the plan document (perfweir.plan/v1): which cells there are,
// how each is executed, and in which order their runs come. It is pure: suites,
// input files and digests come in as values, a plan goes out as a value.
//
// Its data goes to collect (which executes it), to flow (which writes plan.json
// before the first run) and to result (whose header names the plan's digest).
package plan

// Suite is what a suite file says about what to measure, checked and with every
// default applied: defaults are merged into each benchmark, variants inherit.
// Durations are seconds, sizes are bytes.
type Suite struct {
	Name   string
	Path   string // as it is shown: relative to the repository's root where there is one
	Digest string
	// Accepted are the keys of the changes that the file accepts: see result.Suite.
	Accepted []string
	Build    []string // command run once before the plan; empty: none
	// Metrics are the definitions of what programs report themselves, by name.
	Metrics    map[string]MetricDef
	Benchmarks []Benchmark
	Sampling   Sampling
	Limits     Limits
}

// Sampling is how often samplers read.
type Sampling struct {
	Interval float64 `json:"interval"` // s
}

// Limits bound what the code under test can make us keep.
type Limits struct {
	Stdout int64 `json:"stdout,omitempty"` // bytes of stdout and of stderr each kept in a run's folder
	Out    int64 `json:"out,omitempty"`    // bytes read from one output file
	Cells  int   `json:"cells,omitempty"`  // cells in a plan
	// Retries is how often a run that was found invalid is tried again.
	Retries int `json:"retries,omitempty"`
	// Time is how long measuring may take, s; 0: as long as it takes. A look that
	// would not fit is not begun.
	Time float64 `json:"time,omitempty"`
}

// Benchmark is a command to measure and how to read it.
type Benchmark struct {
	Name        string
	Was         []string
	Description string
	Source      string // path:line for annotations
	Labels      map[string]string
	Exec        Exec
	Inputs      *Inputs // nil: no input axis
	Variants    []Variant
	Repeats     int
	Looks       []int // cumulative repeats of planned looks, in place of Repeats; nil: one look
	AutoLooks   bool  // looks are chosen from what is to be decided: see Facts.Looks
	Warmups     int
}

// Variant is an edit of a benchmark. A benchmark without variants has none: its
// cells have an empty variant name.
type Variant struct {
	Name        string
	Note        string
	Description string
	Set         []FlagValue // replace the value after a flag, or append flag and value
	Remove      []string    // drop every occurrence of a bare argument
	Add         []string    // append
	Path        string      // replace argv[0]
	Env         Env         // merged over the benchmark's
	Window      *float64
	Timeout     *Timeout
	Requires    []string
	Repeats     *int // in place of the benchmark's repeats and looks
	Looks       []int
	AutoLooks   bool
	Source      string
}

// FlagValue is one edit of Variant.Set, in the order of the suite file.
type FlagValue struct{ Flag, Value string }

// Inputs are the files a benchmark is run on.
type Inputs struct {
	Files   []string // globs, relative to the suite's folder; ** crosses folders
	Shuffle bool     // seeded, before Limit
	Limit   int      // 0: all
}

// InputFile is one file that an Inputs glob matched, found by the shell.
type InputFile struct {
	Name   string // identity: path relative to the suite's folder, slashes
	Path   string // absolute
	Digest string // "sha256:..." of the content
}

// Exec is how one run is executed and read. In a plan's cell everything is
// resolved but {input} and {out}.
type Exec struct {
	Argv      []string `json:"argv"` // for a shell string: bash -o pipefail -c STRING
	Shell     bool     `json:"shell,omitempty"`
	Cwd       string   `json:"cwd,omitempty"`   // absolute
	Stdin     string   `json:"stdin,omitempty"` // absolute file; empty: /dev/null
	Env       Env      `json:"env,omitzero"`
	Prepare   []string `json:"prepare,omitempty"` // argv before each run, not measured
	PrepareSh bool     `json:"prepare_shell,omitempty"`
	Cleanup   []string `json:"cleanup,omitempty"` // argv after each run, whatever its status
	CleanupSh bool     `json:"cleanup_shell,omitempty"`
	// What brings the machine into its state before a run. It decides when a run
	// starts and not what it does, so it is no part of the cell's digest.
	PrepareTimeout float64  `json:"prepare_timeout,omitempty"` // s; 0: measure's default
	CleanupTimeout float64  `json:"cleanup_timeout,omitempty"` // s; 0: measure's default
	StaleProcesses []string `json:"stale_processes,omitempty"` // starts of names of processes to end
	Cooldown       Cooldown `json:"cooldown,omitzero"`

	Window      float64  `json:"window,omitempty"` // s; 0: until it ends by itself
	Timeout     Timeout  `json:"timeout"`
	KillAfter   float64  `json:"kill_after"`       // s between TERM and KILL
	Linger      float64  `json:"linger,omitempty"` // s that descendants may go on after the command has ended by itself
	Expect      []Expect `json:"expect,omitempty"`
	Read        []Read   `json:"read,omitempty"`
	UnitsPerRun float64  `json:"units_per_run,omitempty"` // throughput = units / wall_time
	Keep        string   `json:"keep,omitempty"`          // KeepNever, KeepFailed (also empty), KeepAlways
	Requires    []string `json:"requires,omitempty"`      // programs that must be found on PATH, else the cell is left out, and said
}

// What is kept of the runs' folders.
const (
	KeepNever  = "never"
	KeepFailed = "failed" // of runs that went wrong, and of one good run a cell
	KeepAlways = "always"
)

// Cooldown is how the machine rests before a run.
type Cooldown struct {
	Rest float64 `json:"rest,omitempty"` // s, always
	Band float64 `json:"band,omitempty"` // °C above the session's start at which a run may begin; 0: only Rest
	Max  float64 `json:"max,omitempty"`  // s, longest wait, Rest included
}

// IsZero reports whether there is no rest.
func (c Cooldown) IsZero() bool { return c == Cooldown{} }

// Env is an edit of the environment that a command starts with.
type Env struct {
	Set     map[string]string `json:"set,omitempty"`
	Unset   []string          `json:"unset,omitempty"`
	Prepend map[string]string `json:"prepend,omitempty"` // value + ":" + what is there
}

// IsZero reports whether the edit changes nothing.
func (e Env) IsZero() bool { return len(e.Set) == 0 && len(e.Unset) == 0 && len(e.Prepend) == 0 }

// Timeout is a fixed limit, or a factor of another variant's latest wall time.
type Timeout struct {
	Fixed  float64 `json:"fixed,omitempty"`  // s; 0 with Factor 0: none
	Factor float64 `json:"factor,omitempty"` // times the latest wall_time of Of
	Of     string  `json:"of,omitempty"`     // variant of the same benchmark and input
	Min    float64 `json:"min,omitempty"`    // s
	Max    float64 `json:"max,omitempty"`    // s, cap; also the limit while Of has no time yet
}

// Expect is an output that a run must leave.
type Expect struct {
	File       string `json:"file"`                  // may hold {out}
	StartsWith []byte `json:"starts_with,omitempty"` // the file's first bytes
	Metric     string `json:"metric,omitempty"`      // records the file's size under this name; default output_size for the first
}

// Read is one reader of what a run printed or left. Exactly one of Format,
// Pattern, Count, Samples and Checks is set.
type Read struct {
	Format  string     `json:"format,omitempty"` // name of a known tool's output; it names its metrics and parts itself
	Metric  string     `json:"metric,omitempty"`
	Part    string     `json:"part,omitempty"`
	Pattern string     `json:"pattern,omitempty"` // RE2; group 1 is the number, several matches reduce by Statistic
	Count   string     `json:"count,omitempty"`   // RE2, multi-line: number of matches; also METRIC_per_second
	Samples string     `json:"samples,omitempty"` // file of one number a line: percentiles of a run
	Checks  string     `json:"checks,omitempty"`  // JSON file of named booleans
	From    string     `json:"from,omitempty"`    // of Format, Pattern and Count: "stdout" (default), "stderr" or a file, which may hold {out}
	Scale   float64    `json:"scale,omitempty"`   // multiply what is read to get Unit (unit: ms is 1e-3 s); 0 is 1
	Def     *MetricDef `json:"def,omitempty"`     // definition for the document; nil: the catalogue's
	// Statistic reduces several matches inside a run: median (default), mean,
	// min, max, sum, last.
	Statistic string `json:"statistic,omitempty"`
}

// MetricDef is result.Metric as a suite file can give it.
type MetricDef struct {
	Unit   string `json:"unit"`
	Per    string `json:"per,omitempty"`
	Better string `json:"better,omitempty"`
	Class  string `json:"class"`
}
