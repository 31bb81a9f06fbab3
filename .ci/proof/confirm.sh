#!/usr/bin/env bash
# confirm.sh [SESSIONS [FOLDER]]: what stored sessions leave in doubt, measured again
# beside the base build in a real git repository. Ten cells of real compressors and
# filters, gate.reference: auto, budgets of 10 % on cpu_time and wall_time; SESSIONS
# (100) in which nothing changed and as many in which two cells take 1.5 times as
# long, against the five sessions before, and half as many with two cells that take
# twice as long, against three. Red before and after the confirmation, and what was
# found. 10 s a session on an idle machine. FOLDER keeps the verdicts.
set -euo pipefail
cd "$(dirname "$0")/../.."
sessions=${1:-100} keep=${2:-}
source .ci/tools.sh
need_packages gzip bzip2 xz-utils zstd git
at_desk
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
keep=${keep:-$work/verdicts}
mkdir -p "$keep"
keep=$(cd "$keep" && pwd)
go build -o "$work/perfweir" ./cmd/perfweir
go build -o "$work/confirm" ./.ci/proof/confirm
cp .ci/proof/aa/corpus.sh "$work"
"$work/corpus.sh"
export CORPUS="$work/corpus" GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
mkdir "$work/repo"
cp -r .ci/proof/confirm/suite/. "$work/repo"
cd "$work/repo"
git init -q
git config user.name proof
git config user.email proof@localhost
cells=(gzip-1 gzip-6 bzip2 xz zstd unzstd gunzip sha256 sort cat)
mkdir times
for c in "${cells[@]}"; do echo 2 >"times/$c"; done # a cell does its work twice: then thrice is 1.5 times as long
git add -A
git commit -q -m base

# session KIND STORED CELL...: one session of what is checked out, and its verdicts.
n=0
session() {
	local kind=$1 stored=$2 code=0
	shift 2
	git commit -q -a --allow-empty -m "$kind"
	n=$((n + 1))
	local to
	to=$keep/$(printf '%04d' $n)-$kind
	mkdir "$to"
	rm -rf "$work/stored"
	mkdir "$work/stored"
	for f in $(ls "$work"/all/*.json 2>/dev/null | tail -"$stored"); do cp "$f" "$work/stored"; done
	"$work/perfweir" ci --fresh --base HEAD~ --baseline "$work/stored" >"$work/out" 2>&1 || code=$?
	[ $code -le 3 ] && [ $code -ne 2 ] && [ -e perfweir-out/verdict.json ] || { cat "$work/out" >&2; exit 1; }
	cp perfweir-out/verdict.json "$to/after.json"
	printf '%s\n' "$@" >"$to/slowed"
	if [ "$kind" = unchanged ]; then cp perfweir-out/results.json "$work/all/$(printf '%04d' $n).json"; fi
	rm -rf perfweir-out/confirm perfweir-out/verdict.json
	code=0
	"$work/perfweir" gate perfweir-out -c perfweir.yml --baseline "$work/stored" >"$work/out" 2>&1 || code=$?
	[ $code -le 3 ] && [ $code -ne 2 ] && [ -e perfweir-out/verdict.json ] || { cat "$work/out" >&2; exit 1; }
	cp perfweir-out/verdict.json "$to/before.json"
	git reset -q --hard HEAD~
}

slow() { # TIMES CELL...
	local times=$1
	shift
	for c in "$@"; do echo "$times" >"times/$c"; done
}

mkdir "$work/all"
for _ in 1 2 3 4 5; do session unchanged 5; done
rm -rf "$keep"/*-unchanged # there was nothing, or little, to compare with
for i in $(seq 0 $((sessions - 1))); do
	two=("${cells[i % 5]}" "${cells[i % 5 + 5]}")
	session unchanged 5
	slow 3 "${two[@]}"
	session half 5 "${two[@]}"
	if [ $((i % 2)) -eq 0 ]; then
		slow 4 "${two[@]}"
		session twice 3 "${two[@]}"
	fi
done
echo "load average: $(cut -d' ' -f1-3 /proc/loadavg)"
"$work/confirm" "$keep"
