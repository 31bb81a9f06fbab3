#!/usr/bin/env bash
# scale.sh: `perfweir gate` with all reports on 5,000 cells x 20 runs x 10
# metrics, against one and against ten stored sessions, and against benchstat on
# the same numbers with 3 metrics. Wall time in s and peak memory in MiB, the
# median of three. Goals: 2 s and 1,024 MiB; benchstat's time. Twice a goal fails.
set -euo pipefail
cd "$(dirname "$0")/../.."
cache=${PERFWEIR_CI_CACHE:-$PWD/.cache}
mkdir -p "$cache/bin"
export PATH="$cache/bin:$PATH"
source .ci/tools.sh
need_packages time
need_tool benchstat golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/perfweir" ./cmd/perfweir
go run ./.ci/proof/bigdocs "$work/big" 5000 20 10 10
go run ./.ci/proof/bigdocs "$work/small" 5000 20 3 1

# measure LABEL GOAL_S GOAL_MIB command...: exit codes of a verdict are fine.
measure() {
	local label=$1 goal=$2 mib=$3
	shift 3
	for _ in 1 2 3; do
		/usr/bin/time -f '%e %M' -o "$work/time" "$@" >/dev/null 2>&1 || [ $? -le 3 ]
		tail -1 "$work/time"
	done | sort -n | sed -n 2p >"$work/median"
	read -r seconds kib <"$work/median"
	echo "$label: $seconds s, $((kib / 1024)) MiB (goal: $goal s, $mib MiB)"
	awk -v s="$seconds" -v g="$goal" -v k="$kib" -v m="$mib" 'BEGIN { exit !(s <= 2 * g && k / 1024 <= 2 * m) }' ||
		{ echo "$label: more than twice its goal" >&2; exit 1; }
}

cd "$work/big"
measure "gate, 10 metrics, 1 stored session" 2 1024 "$work/perfweir" gate current -c perfweir.yml --baseline stored/01.json
measure "gate, 10 metrics, 10 stored sessions" 2 1024 "$work/perfweir" gate current -c perfweir.yml --baseline stored
cd "$work/small"
measure "benchstat, 3 metrics" 1000 100000 benchstat old.txt new.txt
peer=$seconds
measure "gate, 3 metrics, 1 stored session" "$peer" 1024 "$work/perfweir" gate current -c perfweir.yml --baseline stored/01.json
