#!/usr/bin/env bash
# looks.sh [ROUNDS [STORED]]: how many runs planned looks save. Six commands of 30 to 80
# ms, a budget of 5 % on cpu_time, looks after 5, 10 and 20 runs against STORED (5)
# sessions of 20 runs, and after 6, 10 and 20 blocks beside a base build. Each of ROUNDS
# (24) has a session of both in which nothing changes, and one in which a cell does 15 %
# more work. Cells with a CV up to 3 % that take more than half of 20 runs, or are mostly
# undecided, fail; so do more false fails than 5 % of sessions would give. 20 seconds a
# round on an idle machine.
set -euo pipefail
cd "$(dirname "$0")/../.."
rounds=${1:-24} stored=${2:-5}
source .ci/tools.sh
need_packages gcc libc6-dev git
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
at_desk
go build -o "$work/perfweir" ./cmd/perfweir
go build -o "$work/looks" ./.ci/proof/looks
mkdir -p "$work/temp" "$work/all/baseline"
export TMPDIR="$work/temp" # the base build's folder too
cp -r .ci/proof/looks/suite "$work/repository"
cd "$work/repository"
mv gitignore .gitignore
sed 's/looks: \[5, 10, 20\]/looks: [6, 10, 20]/' perfweir.yml >paired.yml
git init -q .
commit() { git -c user.name=looks -c user.email=looks@example.com -c commit.gpgsign=false commit -q --allow-empty -a -m "$1"; }
git add .
commit "the base"
base=$(git rev-parse HEAD)
commit "nothing"

# session DESIGN CELL NUMBER OPTIONS...: a session in which CELL does more.
session() {
	local to="$work/all/$1/$2" number=$3
	shift 3
	# 0 and 1 are verdicts that are counted below; anything else is none.
	"$work/perfweir" ci --fresh "$@" >"$work/log" 2>&1 || [ $? -eq 1 ] || { cat "$work/log" >&2; exit 1; }
	mkdir -p "$to"
	cp perfweir-out/verdict.json "$to/$number.verdict.json"
	cp perfweir-out/results.json "$to/$number.results.json"
}
# both CELL NUMBER: one against stored sessions, one beside the base build.
both() {
	rm -rf "$work/baseline"
	cp -r "$work/all/baseline" "$work/baseline" # a session that passes is added to it
	session stored "$1" "$2" --baseline "$work/baseline"
	session paired "$1" "$2" -c paired.yml --base "$base"
}

for i in $(seq "$stored"); do
	"$work/perfweir" run --fresh >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
	cp perfweir-out/results.json "$work/all/baseline/$i.json"
done
cells=(integers floats table divide chase md5sum)
for i in $(seq "$rounds"); do
	both none "$i"
	cell=${cells[i % 6]}
	echo 115 >"amount/$cell"
	commit "more work in $cell"
	both "$cell" "$i"
	echo 100 >"amount/$cell"
	commit "as before"
done
echo "load average: $(cut -d' ' -f1-3 /proc/loadavg)"
"$work/looks" "$work/all"
