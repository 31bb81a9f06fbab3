#!/usr/bin/env bash
# Builds what the suite measures: the loops, and zeros, as many as amount/md5sum says in
# percent; they take no space on the disk.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p bin data
cc -O1 -o bin/loop loop/loop.c
truncate -s $((280000 * $(cat amount/md5sum))) data/zeros
