#!/usr/bin/env bash
# Builds the binaries of a release, the same bytes wherever and whenever it runs:
# neither the folder, nor the commit, nor git's tags are in them.
#
#	.ci/release.sh VERSION OUT     VERSION as in 0.1.0; OUT: a new or empty folder
#
# Prints the lines for .github/actions/checksums.txt; they are also OUT/checksums.txt.
# How a release is made: run this, put the lines into that file instead of its line
# "unreleased", commit, tag the commit vVERSION and push the tag. release.yml builds
# again, twice, refuses other bytes, and drafts the release. Afterwards the line
# "unreleased NEXT" takes their place.
#
# perfweir has no NVML source yet: the _nvml binary is what a build with cgo gives.
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:?usage: .ci/release.sh VERSION OUT} out=${2:?usage: .ci/release.sh VERSION OUT}
toolchain=go1.26.10
compiler="12.2.0 2.40" # Debian 12's gcc and binutils: parts of the cgo binary are theirs

fail() { echo "release: $1" >&2; exit 1; }

[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9a-z.]+)?$ ]] || fail "$version is no version such as 0.1.0"
mkdir -p "$out"
[ -z "$(ls -A "$out")" ] || fail "$out is not empty"
out=$(cd "$out" && pwd)
have="$(gcc -dumpfullversion) $(ld --version | sed -n '1s/.* //p')"
[ "$have" = "$compiler" ] || fail "gcc and its linker are $have: want Debian 12's $compiler"

# build ASSET ARCHITECTURE CGO: nothing of the caller's settings for Go or C.
build() {
	env -i PATH="$PATH" HOME="$HOME" GOPATH="$(go env GOPATH)" GOMODCACHE="$(go env GOMODCACHE)" GOCACHE="$(go env GOCACHE)" \
		GOPROXY="$(go env GOPROXY)" GOSUMDB="$(go env GOSUMDB)" GOENV=off GOWORK=off GOTOOLCHAIN="$toolchain" \
		GOOS=linux GOARCH="$2" GOAMD64=v1 GOARM64=v8.0 CGO_ENABLED="$3" CC=gcc LC_ALL=C \
		go build -trimpath -buildvcs=false -ldflags "-s -w -X github.com/perfweir/perfweir/cmd/perfweir/internal/cli.release=$version" \
		-o "$out/perfweir_${version}_linux_$1" ./cmd/perfweir
}
build amd64 amd64 0
build arm64 arm64 0
build amd64_nvml amd64 1

for asset in amd64 amd64_nvml; do
	said=$("$out/perfweir_${version}_linux_$asset" version)
	[[ $said == "perfweir $version "* ]] || fail "the $asset binary says of itself: $said"
done
{
	echo "release $version"
	(cd "$out" && sha256sum "perfweir_${version}_linux_"*)
} | tee "$out/checksums.txt"
