#!/usr/bin/env bash
# Builds the programs that Go packages embed from their C sources: the launcher, and
# the control cell's.
#
#	.ci/embedded.sh            writes them
#	.ci/embedded.sh --check    builds elsewhere and compares, byte for byte
#
# The bytes are those of Debian 12's compilers and linkers; --check refuses others,
# because a difference would say nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
want="12.2.0 2.40"

flags=(-std=gnu11 -Os -Wall -Wextra -Werror -Wno-main
	-ffreestanding -fno-builtin -fno-pic -fno-stack-protector -fno-ident
	-fno-asynchronous-unwind-tables -fno-unwind-tables -fno-tree-loop-distribute-patterns
	-static -nostdlib -no-pie
	-Wl,--build-id=none,-z,noexecstack,-z,norelro,-z,noseparate-code,-s)

compile() { # PLACE PROGRAM COMPILER OBJCOPY ARCHITECTURE FOLDER FLAG...
	local place=$1 program=$2 cc=$3 objcopy=$4 arch=$5 to=$6
	shift 6
	local have
	have="$($cc -dumpfullversion) $("${cc%gcc}ld" --version | sed -n '1s/.* //p')"
	[ "$have" = "$want" ] || { echo "$cc and its linker are $have: want Debian 12's $want"; exit 1; }
	"$cc" "${flags[@]}" "$@" -o "$to/${program}_$arch" "$place/src/$program.c"
	"$objcopy" -R .comment -R .note.gnu.property -R .note.GNU-stack "$to/${program}_$arch"
	chmod 0644 "$to/${program}_$arch"
}

both() { # PLACE PROGRAM FOLDER
	local amd64=(-fcf-protection=none -mno-red-zone -z max-page-size=4096)
	# Steps in vector registers would be other work on other processors.
	[ "$2" != control ] || amd64+=(-mgeneral-regs-only)
	compile "$1" "$2" gcc objcopy amd64 "$3" "${amd64[@]}"
	compile "$1" "$2" aarch64-linux-gnu-gcc aarch64-linux-gnu-objcopy arm64 "$3" -mno-outline-atomics -mgeneral-regs-only
}

for at in collect/launch/resident:launcher collect/control:control; do
	place=${at%:*} program=${at#*:}
	if [ "${1:-}" != --check ]; then
		both "$place" "$program" "$place"
		continue
	fi
	to=$(mktemp -d)
	trap 'rm -rf "$to"' EXIT
	both "$place" "$program" "$to"
	for arch in amd64 arm64; do
		cmp "$to/${program}_$arch" "$place/${program}_$arch" || { echo "${program}_$arch is not what its source gives: run .ci/embedded.sh and commit"; exit 1; }
	done
	rm -rf "$to"
	echo "the ${program}'s bytes are those of its source"
done
