#!/usr/bin/env bash
# counted.sh [SESSIONS]: +5 % of allocations (`go test -bench -benchmem`) or of
# instructions (callgrind) in one cell of six, under budgets of 2 %: each found, two
# runs a side, and nothing else. SESSIONS (20) of each kind and as many in which
# nothing changes; each is held against five stored sessions and against one. A change
# that is missed, or seen where there is none, fails. Four to five seconds a session.
set -euo pipefail
cd "$(dirname "$0")/../.."
sessions=${1:-20}
source .ci/tools.sh
need_packages valgrind gcc libc6-dev
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
at_desk
go build -o "$work/perfweir" ./cmd/perfweir
go build -o "$work/counted" ./.ci/proof/counted
cp -r .ci/proof/counted/suite "$work/suite"
cd "$work/suite"
printf 'module example.com/counted\n\ngo 1.26\n' >go.mod
mkdir "$work/stored"

# verdict DESIGN KIND NAME COMMAND...: keeps the verdict that the command comes to.
verdict() {
	local to="$work/verdicts/$1/$2" name=$3
	shift 3
	# 0 and 1 are verdicts that are counted below; anything else is none.
	"$@" >"$work/log" 2>&1 || [ $? -eq 1 ] || { cat "$work/log" >&2; exit 1; }
	mkdir -p "$to"
	cp perfweir-out/verdict.json "$to/$name.json"
}
# session KIND NAME: measured and held against the five, and the same documents
# against the first of them.
session() {
	rm -rf "$work/baseline"
	cp -r "$work/stored" "$work/baseline" # a session that passes is added to it
	verdict five "$1" "$2" "$work/perfweir" ci --fresh --baseline "$work/baseline"
	verdict one "$1" "$2" "$work/perfweir" gate perfweir-out --baseline "$work/stored/1.json"
}

for i in 1 2 3 4 5; do
	"$work/perfweir" run --fresh >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
	cp perfweir-out/results.json "$work/stored/$i.json"
done
go=(tree index encode) callgrind=(sort hash list)
for i in $(seq "$sessions"); do
	session unchanged "$i-"
	for kind in allocations instructions; do
		[ $kind = allocations ] && cell=${go[i % 3]} || cell=${callgrind[i % 3]}
		echo 105 >"amount/$cell"
		session $kind "$i-$cell"
		echo 100 >"amount/$cell"
	done
done
echo "load average: $(cut -d' ' -f1-3 /proc/loadavg)"
"$work/counted" "$work/verdicts"
