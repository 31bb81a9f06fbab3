#!/usr/bin/env bash
# Builds what the suite measures.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p bin
go test -c -o bin/counted.test .
cc -O1 -o bin/work work/work.c
