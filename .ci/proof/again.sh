#!/usr/bin/env bash
# again.sh [N]: N unedited second runs of the demo (20), each against a baseline
# of one session, the one before it. How many are red, and how large the largest
# changes were. About half a minute a run.
set -euo pipefail
cd "$(dirname "$0")/../.."
source .ci/tools.sh
at_desk
n=${1:-20}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone -q . "$work/clone"
cd "$work/clone"
go build -o "$work/perfweir" ./cmd/perfweir
suite=testdata/demo/perfweir.yml
stored=testdata/demo/.perfweir/baseline/demo
"$work/perfweir" ci -c $suite --fresh >/dev/null 2>&1
red=0
for i in $(seq "$n"); do
	code=0
	"$work/perfweir" ci -c $suite --fresh >"$work/out" 2>/dev/null || code=$?
	worst=$(awk -F, 'NR > 1 && $10 == "lower" && $12 != "" && $31 != "" && $29 + 0 > m { m = $29 + 0; c = $1 " " $6 } END { printf "x%.2f %s", m, c }' perfweir-out/findings.csv)
	echo "run $i: exit $code, $(head -1 "$work/out"); worst: $worst"
	[ $code -eq 0 ] || { red=$((red + 1)); cat "$work/out"; }
	cp perfweir-out/results.json "$work/last.json"
	rm -f "$stored"/*.json
	cp "$work/last.json" "$stored/last.json"
done
echo "again: $red of $n unedited second runs were red"
[ "$red" -eq 0 ]
