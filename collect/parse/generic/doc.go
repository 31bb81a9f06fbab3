// Package generic reads what any command can print or leave: a number behind a
// pattern, a count of matches, a file of samples, a file of named booleans, and
// the JSON document that a program writes about itself. Bytes come in, and
// measurements with warnings go out to collect/measure.
//
// The room is pure. It refuses to open files, to know how the run ended, and to
// guess: what was not there is absent with a reason and never 0, and a NaN or an
// infinity never becomes a number. Everything it reads was written by the code
// under test, so sizes and depths are bounded and quoted text is escaped.
//
// # The document of a program
//
// A program may write one JSON object to the path in PERFWEIR_METRICS:
//
//	{
//	  "metrics": {
//	    "decode_rate": {"value": 12.5, "unit": "tok/s", "better": "higher"},
//	    "latency": {"samples": [5.1, 6.2, 5.7], "unit": "ms"},
//	    "time_to_first_byte": {"samples": [1, 2, 4], "unit": "ms"}
//	  },
//	  "attempts": 200,
//	  "errors": 3,
//	  "units": 400,
//	  "duration": 2.5,
//	  "counts": {"protocol_stalls": {"flow": 2, "write": 1}, "reconnects": 4},
//	  "checks": {"no_corruption": true}
//	}
//
// Every key may be left out; what is left out is absent. The keys:
//
//   - metrics: by name (lower case letters, digits and underscores). Each has
//     either value, a number, or samples, an array of numbers. unit is the unit
//     they are in ("s" where the name is a built-in one, "1" else) and is
//     converted to its base unit. better is "lower" or "higher"; class is exact,
//     counted, noisy (default), tail or level; per is what one of the unit is
//     spent on ("token"). Samples become NAME_min, NAME_mean, NAME_p50, NAME_p90,
//     NAME_p95, NAME_p99, NAME_p999 and NAME_max; with statistic (median, mean,
//     min, max, sum, last) they become one number under NAME itself, which is how
//     time_to_first_byte and handshake_time are always read (their median).
//   - attempts, errors: whole numbers; they become attempts, error_count and
//     error_rate = errors / attempts, which is absent when nothing was attempted.
//     Where neither is given, attempts is the number of latency samples.
//   - units, duration: throughput = units / duration, duration in seconds. Where
//     units is left out it is the suite's units_per_run x attempts.
//   - counts: whole numbers, or objects of whole numbers by kind; a kind becomes a
//     part of the metric, and the metric itself is their sum.
//   - checks: named booleans, each the part of the metric check.
//
// Metrics that perfweir measures itself (wall_time, memory_peak, ...) are refused
// here. A key that is not known is skipped with a warning. NaN, Infinity, -nan,
// null or an empty value makes that one metric absent, with a warning that names
// its path and line; the rest is read. Anything else that is not JSON, a key given
// twice or a value of another type is an error with its byte offset.
package generic
