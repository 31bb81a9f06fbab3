#!/bin/sh
# compress.sh --tool TOOL FILE OUT: the demo's program under test.
set -eu
tool=$2 file=$3 out=$4
case $tool in
gzip)
	read -r level <"${0%/*}/gzip.level"
	exec gzip -n -c "-$level" "$file" >"$out"
	;;
bzip2) exec bzip2 -6 -c "$file" >"$out" ;;
xz) exec xz -1 -T1 -c "$file" >"$out" ;;
zstd) exec zstd -9 -q -c --single-thread "$file" >"$out" ;;
*)
	echo "compress.sh: unknown tool $tool" >&2
	exit 64
	;;
esac
