#!/usr/bin/env bash
# Builds what the suite measures: the loops, and data that is as long as amount/gzip
# and amount/md5sum say in percent. Zeros take no space on the disk.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p bin data
cc -O1 -o bin/loop loop/loop.c
src=$(go env GOROOT)/src
cat "$src"/go/types/*.go "$src"/net/http/*.go >data/all
head -c $((12000 * $(cat amount/gzip))) data/all >data/text
truncate -s $((280000 * $(cat amount/md5sum))) data/zeros
