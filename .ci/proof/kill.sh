#!/usr/bin/env bash
# kill.sh [N]: N kill -9 of the runner at random moments, each followed by a
# resume, until every matrix is done. Every repeat must be there once, and no
# journalled run may be executed again: the command counts its own executions in
# a file. Prints how many runs were lost in flight.
set -euo pipefail
cd "$(dirname "$0")/../.."
kills=${1:-1000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/perfweir" ./cmd/perfweir
cat >"$work/perfweir.yml" <<'Y'
version: 1
suite: kill
defaults: {repeats: 10}
benchmarks:
  - name: a
    run: [sh, -c, 'echo "$0 $PERFWEIR_OUT" >>count; sleep 0.00$(($$ % 9))', x]
    variants: [{name: one}, {name: two, args: {add: [y]}}, {name: three, args: {add: [z]}}]
Y
cd "$work"
done_kills=0 matrices=0 lost=0
while [ "$done_kills" -lt "$kills" ]; do
	rm -rf perfweir-out count
	resume=
	while :; do
		./perfweir run $resume >log 2>&1 &
		pid=$!
		sleep "0.$(printf '%03d' $((RANDOM % 150 + 5)))"
		if kill -9 "$pid" 2>/dev/null; then done_kills=$((done_kills + 1)); fi
		code=0
		wait "$pid" 2>/dev/null || code=$?
		[ -s perfweir-out/journal.jsonl ] && resume=--resume || { resume=--fresh; [ -e perfweir-out/plan.json ] || resume=; }
		[ $code -ne 0 ] || break
		[ $code -eq 137 ] || { cat log; echo "exit code $code" >&2; exit 1; }
	done
	matrices=$((matrices + 1))
	# 3 cells x 10 repeats, each in the journal once and no other.
	runs=$(grep -o '"run":{"cell":[0-9]*,"repeat":[0-9]*,"attempt":[0-9]*' perfweir-out/journal.jsonl | sort)
	[ "$(echo "$runs" | wc -l)" -eq 30 ] && [ "$(echo "$runs" | uniq | wc -l)" -eq 30 ] || { echo "journal has: $runs" >&2; exit 1; }
	# Executions: one a repeat, and one more for each that was lost in flight.
	executed=$(wc -l <count)
	[ "$(sort -u count | wc -l)" -eq 30 ] || { sort count | uniq -c; echo "not every repeat was executed" >&2; exit 1; }
	lost=$((lost + executed - 30))
	[ "$executed" -le $((30 + done_kills)) ] || { echo "$executed executions" >&2; exit 1; }
done
echo "kill: $done_kills kill -9 over $matrices matrices of 30 runs: every repeat there once; $lost runs were in flight when the runner died and were done again"
