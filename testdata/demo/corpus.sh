#!/bin/sh
# Copies four files of the Go installation into corpus/: the first that exist,
# since installations differ in what they leave out.
set -eu
cd "${0%/*}"
goroot=$(go env GOROOT)
mkdir -p corpus
n=0
for file in bin/gofmt \
	src/crypto/internal/boring/syso/goboringcrypto_linux_amd64.syso \
	src/debug/buildinfo/testdata/go117/go117.base64 \
	api/go1.1.txt \
	src/time/tzdata/zzipdata.go \
	src/cmd/compile/internal/ssa/opGen.go \
	src/unicode/tables.go; do
	[ "$n" -lt 4 ] || break
	[ -f "$goroot/$file" ] || continue
	cmp -s "$goroot/$file" "corpus/${file##*/}" || cp "$goroot/$file" "corpus/${file##*/}"
	n=$((n + 1))
done
[ "$n" -gt 0 ] || {
	echo "corpus.sh: no file to compress under $goroot" >&2
	exit 1
}
