#!/usr/bin/env bash
# A release's binaries are the same bytes when they are built again: from a copy in
# another folder without git, with an empty build cache, under other settings. Of a
# release's commit they are also those of .github/actions/checksums.txt. A minute.
set -euo pipefail
cd "$(dirname "$0")/../.."
source .ci/tools.sh
need_packages gcc libc6-dev binutils
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
promised=$(grep -v '^#' .github/actions/checksums.txt)
version=$(sed -n '1s/^[a-z]* //p' <<<"$promised")

.ci/release.sh "$version" "$work/one"
mkdir "$work/copy"
while IFS= read -r -d '' f; do
	[ ! -e "$f" ] || cp --parents "$f" "$work/copy"
done < <(git ls-files -z --cached --others --exclude-standard)
(
	export GOCACHE="$work/cache" GOFLAGS=-race CGO_CFLAGS=-O3 TZ=Asia/Tokyo
	umask 027
	"$work/copy/.ci/release.sh" "$version" "$work/two" >/dev/null
)
for f in "$work/one"/*; do
	cmp "$f" "$work/two/${f##*/}"
done
if [[ $promised == release* ]]; then
	diff <(echo "$promised") "$work/one/checksums.txt"
	echo "release: the bytes of checksums.txt, twice"
else
	echo "release: the same bytes twice; $version is not released yet"
fi
