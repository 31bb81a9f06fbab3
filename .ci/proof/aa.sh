#!/usr/bin/env bash
# aa.sh [SESSIONS [INJECTED [FOLDER]]]: real processes, 300 sessions of ten cells in
# which nothing changes, and 100 sessions for each of four slowdowns of a known amount:
# the five cells slowed in a session share what moved the machine in that second, so of
# 30 sessions the share found is known to some 10 % only.
# Counts red sessions (at most 2), and whether slowdowns of the size that the gate says
# it finds in nine of ten cases are found, in the cells and metrics that they move and
# in no other. One to two seconds a session on an idle machine. FOLDER keeps the
# documents, and the recorded runs for compare.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
sessions=${1:-300} injected=${2:-100} keep=${3:-}
source .ci/tools.sh
need_packages gzip bzip2 xz-utils zstd
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/perfweir" ./cmd/perfweir
go build -o "$work/compare" ./.ci/proof/compare
go build -o "$work/aa" ./.ci/proof/aa
cp -r .ci/proof/aa "$work/suite"
limit=$((2 + sessions / 60))h
cd "$work/suite"
"$work/perfweir" selftest --aa "$sessions" --time-limit "$limit" -o "$work/aa.json" --keep "$work/unchanged-sessions" 2>"$work/err" || { cat "$work/err"; exit 1; }
"$work/perfweir" selftest --aa "$((injected + 10))" --injected "$injected" --inject cpu=auto --inject sleep=auto --inject memory=auto \
	--inject write=4MiB --time-limit "$limit" -o "$work/injected.json" --keep "$work/injected-sessions" 2>"$work/err" || { cat "$work/err"; exit 1; }
echo "load average: $(cut -d' ' -f1-3 /proc/loadavg)"
if [ -n "$keep" ]; then
	mkdir -p "$keep"
	cp "$work/aa.json" "$work/injected.json" "$keep"
	"$work/compare" record "$work/unchanged-sessions" >"$keep/aa.txt"
	"$work/compare" record "$work/injected-sessions" >"$keep/injected.txt"
fi
"$work/aa" "$work/aa.json" "$work/injected.json"
