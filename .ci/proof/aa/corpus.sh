#!/usr/bin/env bash
# The data of the self-test: text of the Go installation, always the same bytes for
# one version of Go, and what some of the cells read.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p corpus
[ ! -e corpus/done ] || exit 0
src=$(go env GOROOT)/src
cat "$src"/go/types/*.go "$src"/net/http/*.go >corpus/all
head -c 400000 corpus/all >corpus/text
head -c 200000 corpus/all >corpus/short
head -c 60000 corpus/all >corpus/shorter
head -c 2000000 corpus/all >corpus/long
for _ in 1 2 3 4 5 6 7 8; do cat corpus/long; done >corpus/longest
gzip -9 -c corpus/long >corpus/long.gz
zstd -q -f -19 corpus/long -o corpus/long.zst
rm corpus/all
touch corpus/done
