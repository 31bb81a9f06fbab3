#!/usr/bin/env bash
# compare.sh [DATA...]: the same recorded sessions through perfweir, one run against
# thresholds of 10, 20 and 200 % (github-action-benchmark), Welch's test of 8 runs
# (perfgate) and benchstat: false alarms, misses, runs used. DATA is what aa.sh
# records; by default .ci/proof/data: the quiet machine, a calmer hour of it and the
# busy one. perfweir red in more than 5 % of unchanged sessions fails. Seconds.
set -euo pipefail
cd "$(dirname "$0")/../.."
cache=${PERFWEIR_CI_CACHE:-$PWD/.cache}
mkdir -p "$cache/bin"
source .ci/tools.sh
need_tool benchstat golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da
go build -o "$cache/compare" ./.ci/proof/compare
if [ $# -gt 0 ]; then
	exec "$cache/compare" table "$cache/bin/benchstat" "$@"
fi
for machine in quiet calm busy; do
	printf '\n%s machine\n\n' "$machine"
	"$cache/compare" table "$cache/bin/benchstat" .ci/proof/data/*-"$machine".txt
done
