#!/usr/bin/env bash
# Builds the launcher from its C source: the bytes that the Go package embeds.
#
#	.ci/launcher.sh            writes them
#	.ci/launcher.sh --check    builds elsewhere and compares, byte for byte
#
# The bytes are those of Debian 12's compilers and linkers; --check refuses others,
# because a difference would say nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
place=collect/launch/resident
want="12.2.0 2.40"

flags=(-std=gnu11 -Os -Wall -Wextra -Werror -Wno-main
	-ffreestanding -fno-builtin -fno-pic -fno-stack-protector -fno-ident
	-fno-asynchronous-unwind-tables -fno-unwind-tables -fno-tree-loop-distribute-patterns
	-static -nostdlib -no-pie
	-Wl,--build-id=none,-z,noexecstack,-z,norelro,-z,noseparate-code,-s)

compile() { # COMPILER OBJCOPY ARCHITECTURE FOLDER FLAG...
	local cc=$1 objcopy=$2 arch=$3 to=$4
	shift 4
	local have
	have="$($cc -dumpfullversion) $("${cc%gcc}ld" --version | sed -n '1s/.* //p')"
	[ "$have" = "$want" ] || { echo "$cc and its linker are $have: want Debian 12's $want"; exit 1; }
	"$cc" "${flags[@]}" "$@" -o "$to/launcher_$arch" "$place/src/launcher.c"
	"$objcopy" -R .comment -R .note.gnu.property -R .note.GNU-stack "$to/launcher_$arch"
	chmod 0644 "$to/launcher_$arch"
}

to=$place
if [ "${1:-}" = --check ]; then
	to=$(mktemp -d)
	trap 'rm -rf "$to"' EXIT
fi
compile gcc objcopy amd64 "$to" -fcf-protection=none -mno-red-zone -z max-page-size=4096
compile aarch64-linux-gnu-gcc aarch64-linux-gnu-objcopy arm64 "$to" -mno-outline-atomics -mgeneral-regs-only
if [ "$to" != "$place" ]; then
	for arch in amd64 arm64; do
		cmp "$to/launcher_$arch" "$place/launcher_$arch" || { echo "launcher_$arch is not what its source gives: run .ci/launcher.sh and commit"; exit 1; }
	done
	echo "the launcher's bytes are those of its source"
fi
