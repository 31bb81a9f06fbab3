package config

// The mirror types: the suite file as it is written, key by key. The walk and
// the JSON Schema are both driven by them, so a key is added in one place.

type suiteFile struct {
	mark       `what:"the suite file"`
	Version    integer              `key:"version" required:"true" min:"1" max:"1" doc:"Version of the suite file's grammar: 1."`
	Suite      str                  `key:"suite" required:"true" doc:"Name of the suite: in the comment, the check and the artifacts."`
	Build      command              `key:"build" doc:"Command that builds the program under test, once a revision. Relative paths are relative to this file."`
	Defaults   defaultsFile         `key:"defaults" doc:"Keys of a benchmark that every benchmark inherits."`
	Metrics    table[metricFile]    `key:"metrics" doc:"Definitions of the metrics that programs report themselves in PERFWEIR_METRICS, by name."`
	Benchmarks list[benchmarkFile]  `key:"benchmarks" required:"true" min:"1" doc:"What is measured."`
	Budgets    list[budgetFile]     `key:"budgets" doc:"What is allowed. For one metric and kind the last entry that matches a cell wins."`
	Gate       gateFile             `key:"gate" doc:"How the verdict is decided."`
	Baseline   baselineFile         `key:"baseline" doc:"Which stored sessions are compared with."`
	Sampling   samplingFile         `key:"sampling" doc:"How often the samplers read."`
	Limits     limitsFile           `key:"limits" doc:"Bounds on what the code under test can make perfweir keep."`
	Exclusive  str                  `key:"exclusive" enum:"machine,none" later:"gpu" doc:"What is kept for one session while it measures. The default is machine: a second perfweir on the machine waits."`
	Accepted   list[acceptedFile]   `key:"accepted" doc:"Changes for the worse that are taken for a while: up to a limit, until a day."`
	Quarantine list[quarantineFile] `key:"quarantine" doc:"Cells whose findings are shown and do not count, until a day."`
}

// inheritable are the keys of a benchmark that defaults may hold.
type inheritable struct {
	Labels      pairs          `key:"labels" doc:"Free labels, counted in the summary."`
	Cwd         str            `key:"cwd" doc:"Working folder, relative to this file. The default is this file's folder."`
	Stdin       str            `key:"stdin" doc:"File that is the command's standard input. The default is empty input."`
	Env         env            `key:"env" doc:"Environment: variables to set, or set, unset and prepend."`
	Prepare     hook           `key:"prepare" doc:"Command before each run, not measured, or {run, timeout}."`
	Cleanup     hook           `key:"cleanup" doc:"Command after each run, whatever its status, or {run, timeout}."`
	Inputs      inputs         `key:"inputs" doc:"Files that the benchmark is run on, one cell each; {input} is the file. Inherited ones apply to benchmarks that use {input}."`
	Expect      expects        `key:"expect" doc:"Outputs that a run must leave; a missing or wrong one is a status of its own."`
	Window      duration       `key:"window" positive:"true" doc:"End the run after this time and call that success."`
	Timeout     timeout        `key:"timeout" doc:"Longest time of a run: a duration, or a factor of another variant's latest wall time. The default is 1h."`
	KillAfter   duration       `key:"kill_after" doc:"Time between TERM and KILL. The default is 2s."`
	Linger      duration       `key:"linger" doc:"Time that processes which the command started may go on after it has ended by itself; their CPU time counts. Then TERM. The default is 0s."`
	Warmups     integer        `key:"warmups" min:"0" max:"1000" doc:"Runs before the first repeat that are not judged. The default is 0."`
	Repeats     repeats        `key:"repeats" min:"1" max:"10000" doc:"Runs a cell: a number, or {looks} for planned looks after which only what is undecided goes on. The default is 10 where a relative budget is on a noisy or tail metric, 2 where one is on a counted metric, else 1."`
	UnitsPerRun number         `key:"units_per_run" doc:"Units of work in a run; throughput is this by wall_time."`
	Keep        str            `key:"keep" enum:"never,failed,always" doc:"Which runs' folders are kept: failed (the default) keeps those that went wrong and one good one a cell."`
	Requires    list[str]      `key:"requires" doc:"Programs that must be found on PATH, else the cells are left out, and said."`
	Read        list[readFile] `key:"read" doc:"How to read what a run printed or left."`

	Cooldown       cooldown  `key:"cooldown" doc:"Rest before each run: a duration, or {rest, band, max} to wait for a temperature. The default is none."`
	StaleProcesses list[str] `key:"stale_processes" doc:"Processes to end before each run, by the start of their names, four characters at least. Never a service, a runner or what perfweir runs below."`

	Phases    later `key:"phases"`
	Platforms later `key:"platforms"`
	PowerMode later `key:"power_mode"`
}

type defaultsFile struct {
	mark `what:"defaults"`
	inheritable
}

type benchmarkFile struct {
	mark        `what:"a benchmark"`
	Name        str       `key:"name" required:"true" doc:"Name of the benchmark."`
	Was         list[str] `key:"was" doc:"Earlier names: a rename keeps its history."`
	Description str       `key:"description" doc:"What it measures, for people."`
	Source      str       `key:"source" doc:"PATH:LINE where annotations go when no budget line fits."`
	Run         command   `key:"run" required:"true" doc:"Command to measure. A list is executed as it stands; a string goes to bash with pipefail. {input} is the input file, {out} the run's own output folder."`
	inheritable
	Variants list[variantFile] `key:"variants" doc:"Edits of the benchmark, one cell each."`
}

type variantFile struct {
	mark        `what:"a variant"`
	Name        str       `key:"name" required:"true" doc:"Name of the variant."`
	Note        str       `key:"note" doc:"A few words that are shown beside the cell."`
	Description str       `key:"description" doc:"What it changes, for people."`
	Source      str       `key:"source" doc:"PATH:LINE where annotations go when no budget line fits."`
	Args        argsFile  `key:"args" doc:"Edits of the command's arguments: remove, then set, then add."`
	Env         env       `key:"env" doc:"Environment, over the benchmark's."`
	Path        str       `key:"path" doc:"Another program in place of the command's first word."`
	Window      duration  `key:"window" positive:"true" doc:"As the benchmark's."`
	Timeout     timeout   `key:"timeout" doc:"As the benchmark's."`
	Requires    list[str] `key:"requires" doc:"As the benchmark's."`
	Repeats     repeats   `key:"repeats" min:"1" max:"10000" doc:"As the benchmark's."`
	PowerMode   later     `key:"power_mode"`
	Platforms   later     `key:"platforms"`
}

type argsFile struct {
	mark   `what:"args"`
	Set    pairs     `key:"set" doc:"FLAG: VALUE; replaces the value behind the flag, or appends both."`
	Remove list[str] `key:"remove" doc:"Arguments to drop, every occurrence."`
	Add    list[str] `key:"add" doc:"Arguments to append."`
}

type envFile struct {
	mark    `what:"env"`
	Set     pairs     `key:"set" doc:"Variables to set."`
	Unset   list[str] `key:"unset" doc:"Variables to remove."`
	Prepend pairs     `key:"prepend" doc:"Values to put before what is there, with a colon between."`
}

type inputsFile struct {
	mark    `what:"inputs"`
	Files   list[str] `key:"files" required:"true" min:"1" doc:"Globs relative to this file; ** crosses folders."`
	Shuffle boolean   `key:"shuffle" doc:"Shuffle by the plan's seed before limit."`
	Limit   integer   `key:"limit" min:"1" doc:"At most so many files."`
}

type expectFile struct {
	mark       `what:"expect"`
	File       str `key:"file" required:"true" doc:"The file, which may hold {out} and {input}."`
	StartsWith str `key:"starts_with" doc:"First bytes: text, or hex:7f45 for bytes."`
	Metric     str `key:"metric" doc:"Name under which the file's size is recorded. The first file's default is output_size."`
}

type repeatsFile struct {
	mark  `what:"repeats"`
	Looks looks `key:"looks" required:"true" doc:"Repeats in all at each planned look, rising, at most five; or auto: as many as what is to be decided needs."`
}

type timeoutFile struct {
	mark   `what:"timeout"`
	Factor number   `key:"factor" required:"true" doc:"Times the latest wall time of the variant in of."`
	Of     str      `key:"of" required:"true" doc:"A variant of the same benchmark."`
	Min    duration `key:"min" doc:"At least this."`
	Max    duration `key:"max" positive:"true" doc:"At most this; also the limit while the other variant has no time yet. The default is 1h."`
}

type readFile struct {
	mark      `what:"a reader"`
	Format    str `key:"format" enum:"go-bench" doc:"A known tool's output, which names its metrics and parts itself: go-bench is go test -bench, plain or with -json."`
	Metric    str `key:"metric" doc:"Name of the metric, in snake_case."`
	Pattern   str `key:"pattern" doc:"Regular expression; its group, or all of it, is the number."`
	Count     str `key:"count" doc:"Regular expression; the number of matches. Also gives METRIC_per_second."`
	Samples   str `key:"samples" doc:"File of one number a line; gives METRIC_p50, METRIC_p99, ..."`
	Checks    str `key:"checks" doc:"JSON file of named booleans."`
	From      str `key:"from" doc:"Where format, pattern and count look: stdout (the default), stderr, or a file."`
	Unit      str `key:"unit" doc:"Unit of the numbers that are read. They are stored in base units."`
	Per       str `key:"per" doc:"What one is counted for: token, request."`
	Better    str `key:"better" enum:"lower,higher" doc:"Which direction is better."`
	Class     str `key:"class" enum:"exact,counted,noisy,tail,level" doc:"How the metric varies."`
	Part      str `key:"part" doc:"What inside the run the number belongs to."`
	Statistic str `key:"statistic" enum:"median,mean,min,max,sum,last" doc:"Reduces several matches of pattern. The default is median."`
}

type metricFile struct {
	mark   `what:"a metric"`
	Unit   str `key:"unit" required:"true" doc:"Base unit of the metric: s, B, J, W, Hz, 1, or a word of your own."`
	Per    str `key:"per" doc:"What one is counted for: token, request."`
	Better str `key:"better" enum:"lower,higher" doc:"Which direction is better."`
	Class  str `key:"class" enum:"exact,counted,noisy,tail,level" doc:"How the metric varies. The default is noisy."`
}

// scopeKeys are the keys that say which cells an entry is about.
type scopeKeys struct {
	Cells     str `key:"cells" doc:"Glob over the printed name benchmark/variant/input; ** crosses the slash."`
	Benchmark str `key:"benchmark" doc:"Glob over the benchmark's name."`
	Variant   str `key:"variant" doc:"Glob over the variant's name."`
	Input     str `key:"input" doc:"Glob over the input's path."`
	Part      str `key:"part" doc:"Glob over the part. A part is one field: * matches slashes in it."`
}

type budgetFile struct {
	mark          `what:"a budget"`
	Metric        str      `key:"metric" required:"true" doc:"The metric that is limited."`
	Max           quantity `key:"max" doc:"The value may be at most this."`
	Min           quantity `key:"min" doc:"The value must be at least this."`
	MaxRegression quantity `key:"max_regression" doc:"How much worse than the reference it may be: 5%, 10ms, 0.5pp or 10% + 10ms. A bare number is refused, except 0."`
	MaxIncrease   quantity `key:"max_increase" doc:"How much above the reference it may be."`
	MaxDecrease   quantity `key:"max_decrease" doc:"How much below the reference it may be."`
	MinDelta      quantity `key:"min_delta" doc:"A relative budget fails only when this is exceeded too, in the metric's unit."`
	EachRun       boolean  `key:"each_run" doc:"One run beyond an absolute limit is enough to fail. The default is true for checks, counts and error_rate."`
	Statistic     str      `key:"statistic" enum:"median,min,max" doc:"What of the runs an absolute limit is compared with. The default is median."`
	Level         str      `key:"level" enum:"fail,warn,info" doc:"What a broken budget does. The default is fail."`
	scopeKeys
	Against str   `key:"against" doc:"What a relative budget is held against: baseline (the default) or variant:NAME."`
	Phase   later `key:"phase"`
}

type gateFile struct {
	mark        `what:"gate"`
	FalseAlarms share   `key:"false_alarms" doc:"Error rate over all gated relative budgets together. The default is 5%."`
	Require     str     `key:"require" enum:"proof" doc:"proof: every gated finding must pass with confidence."`
	On          onFile  `key:"on" doc:"What an outcome that is no clear answer does."`
	AcceptLabel str     `key:"accept_label" doc:"Label by which somebody who may write lets a pull request's own suite file count at once. The default is perfweir-accept."`
	MergeGroup  str     `key:"merge_group" enum:"measure,only_if_changed" doc:"What a merge queue's run does: measure (the default), or only_if_changed, which completes the check at once where the very tree was measured for the pull request and passed."`
	Reference   str     `key:"reference" enum:"stored,auto" doc:"What budgets against the baseline are held against: stored sessions alone, or auto: what those leave in doubt, or have no session for, is measured again beside the commit that the change is compared with, and that stands. Default: auto where build says how to build that commit and no base is named, else stored."`
	Control     boolean `key:"control" doc:"Run a fixed command of perfweir's own between the others: how long it takes here and took in stored sessions tells a slow machine from a slow change. The default is false."`
}

type onFile struct {
	mark          `what:"on"`
	Inconclusive  str `key:"inconclusive" enum:"pass,neutral,warn,fail" doc:"Something is suspect and was not settled. The default is neutral."`
	NoBaseline    str `key:"no_baseline" enum:"pass,neutral,warn,fail" doc:"Nothing to compare with. The default is neutral."`
	NotComparable str `key:"not_comparable" enum:"pass,neutral,warn,fail" doc:"Another machine, definition or unit. The default is neutral."`
	Suspicious    str `key:"suspicious" enum:"pass,neutral,warn,fail" doc:"Better than is likely. The default is warn."`
	Gone          str `key:"gone" enum:"pass,neutral,warn,fail" doc:"The baseline has a cell, or a part of one that a budget is about, that is no more. The default is fail."`
	New           str `key:"new" enum:"pass,neutral,warn,fail" doc:"The baseline lacks the cell. The default is pass."`
}

type baselineFile struct {
	mark        `what:"baseline"`
	From        str      `key:"from" enum:"folder,github" doc:"Where stored sessions come from: github (artifacts of earlier workflow runs) or folder. The default is github inside a workflow, else folder."`
	Dir         str      `key:"dir" doc:"The folder. The default is .perfweir/baseline/SUITE beside this file."`
	Workflow    str      `key:"workflow" doc:"File name of the workflow whose runs left the sessions. The default is the workflow that runs."`
	Branch      str      `key:"branch" doc:"Branch of those runs: base (the default) is the one that the change goes into."`
	Machine     str      `key:"machine" enum:"same_kind,same" doc:"Which machines' sessions are taken: same_kind (the default), whose hardware and system are alike, or same, whose name is too."`
	Sessions    integer  `key:"sessions" min:"1" max:"100" doc:"Use at most so many sessions, newest first. The default is 10."`
	MinSessions integer  `key:"min_sessions" min:"2" max:"100" doc:"From so many sessions on the spread between them is used. The default is 5."`
	MaxAge      duration `key:"max_age" positive:"true" doc:"Oldest session that is used. The default is any age."`
	Anchor      str      `key:"anchor" doc:"A tag or commit. The stored sessions of that commit are kept aside, and a creep since then is told that no single step shows."`
}

type samplingFile struct {
	mark     `what:"sampling"`
	Interval duration `key:"interval" positive:"true" doc:"Time between two readings. The default is 100ms."`
	Sources  later    `key:"sources"`
}

type limitsFile struct {
	mark    `what:"limits"`
	Stdout  size     `key:"stdout" doc:"Bytes of stdout and of stderr that are kept of each run. The default is 64MiB."`
	Out     size     `key:"out" doc:"Bytes that are read of one output file. The default is 4GiB."`
	Cells   integer  `key:"cells" min:"1" max:"1000000" doc:"Cells in a plan. The default is 10000."`
	Retries integer  `key:"retries" min:"0" max:"100" doc:"How often a run that was found invalid is tried again. The default is 2."`
	Time    duration `key:"time" positive:"true" doc:"How long measuring may take. A look that would not fit is not begun; the first always is. The default is as long as it takes."`
}
