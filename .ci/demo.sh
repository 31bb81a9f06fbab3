#!/usr/bin/env bash
# The README's first command as a newcomer runs it: twice, then with its edit.
# Works on a copy of the tracked files, so that the checkout stays as it is.
set -euo pipefail
cd "$(dirname "$0")/.."
source .ci/tools.sh
at_desk
first=$(.ci/readme.sh 1)
edit=$(awk '/^echo .*gzip\.level/' README.md)
[ -n "$edit" ] || { echo "README.md has no edit of gzip.level" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone -q . "$work/clone"
cd "$work/clone"

fail() { echo "demo: $1" >&2; exit 1; }

# run EXPECTED: the command, its output shown and kept. `go run` turns every
# failure into 1, so the verdict's own exit code is read from verdict.json.
run() {
	local code=0
	bash -euo pipefail -c "$first" >"$work/out" 2>"$work/err" || code=$?
	cat "$work/err" "$work/out"
	[ "$code" -eq "$1" ] || fail "exit code $code, want $1"
	grep -q "\"exit_code\":$1" perfweir-out/verdict.json || fail "verdict.json has another exit code"
}

echo "-- first: $first"
run 0
grep -q 'no baseline yet' "$work/out" || fail "the first run does not say that there is no baseline yet"
for f in plan.json journal.jsonl results.json verdict.json exhibits.json report.md junit.xml measurements.csv findings.csv LOG; do
	[ -s "perfweir-out/$f" ] || fail "$f is missing"
done

echo "-- second: the same again"
run 0
grep -q 'session allowance' "$work/out" || fail "the second run does not tell the session allowance"

echo "-- third: $edit"
bash -euo pipefail -c "$edit"
run 1
# Columns of findings.csv: 1 cell, 6 metric, 12 outcome. By cpu_time, for gzip's cells and no others, and those first everywhere.
failed=$(awk -F, 'NR > 1 && $12 == "fail" { print $1 }' perfweir-out/findings.csv | sort -u)
gzip_cells=$(awk -F, 'NR > 1 { print $1 }' perfweir-out/findings.csv | grep '^pack/gzip/' | sort -u)
[ -n "$gzip_cells" ] && [ "$failed" = "$gzip_cells" ] || fail "failed cells are: $failed"
cpu=$(awk -F, 'NR > 1 && $12 == "fail" && $6 == "cpu_time" { print $1 }' perfweir-out/findings.csv | sort -u)
[ "$cpu" = "$gzip_cells" ] || fail "cells that failed by cpu_time are: $cpu"
awk '/^\| `pack\// { print; exit }' perfweir-out/report.md | grep -q 'pack/gzip/' || fail "report.md does not begin with a failed cell"
grep -m1 '<testcase' perfweir-out/junit.xml | grep -q 'pack/gzip/' || fail "junit.xml does not begin with a failed cell"
awk '/ pack\// { print; exit }' "$work/out" | grep -q 'pack/gzip/' || fail "the terminal does not begin with a failed cell"
xmllint --noout --schema gate/report/testdata/xsd/jenkins-junit-10.xsd perfweir-out/junit.xml
echo "demo: as the README says"
