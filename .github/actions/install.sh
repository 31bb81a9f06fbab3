#!/usr/bin/env bash
# Gives the action its binary and says which, before any code under test runs:
#
#   1. the input `binary`, a path;
#   2. the release's binary whose SHA-256 is in checksums.txt beside this file, and
#      so in the commit that the workflow names: from the runner's tool cache, else
#      downloaded; compared at every use;
#   3. of a commit without a release: built with go from the action's own folder.
#
# A binary that is not what checksums.txt says ends the job. It is never replaced
# by another source: whoever could change it would choose that.
#
# Outputs: path and sha256 of the binary. Exit codes: 3 could not be had, 4 refused.
set -Eeuo pipefail
shopt -s inherit_errexit

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
limit_mib=128 # no binary of ours is near it
part=''       # what is being downloaded
trap 'rm -f -- "$part"' EXIT
# Any other failure is none of a budget's: exit code 1 would say that.
trap 'fail 3 "line $LINENO: $BASH_COMMAND"' ERR

# fail CODE TEXT: as an annotation; %, CR and LF would end or fake a command.
fail() {
	local text=${2//'%'/%25}
	text=${text//$'\r'/%0D}
	printf '::error title=perfweir install::%s\n' "${text//$'\n'/%0A}"
	exit "$1"
}

sha256() { sha256sum <"$1" | cut -d ' ' -f 1; }

declare -A sums # by the end of an asset's name

# read_checksums FILE: sets state, version and sums[ASSET]. Strict, so that a
# damaged file is refused and is not taken for a commit without a release.
read_checksums() {
	local file=$1 line number=0
	state='' version='' sums=()
	local head='^(unreleased|release) ([0-9]+\.[0-9]+\.[0-9]+(-[0-9a-z.]+)?)$'
	local asset='^([0-9a-f]{64})  perfweir_([^_ ]+)_linux_((amd64|arm64)(_nvml)?)$'
	while IFS= read -r line || [ -n "$line" ]; do
		number=$((number + 1))
		if [[ $line == '#'* ]]; then
			continue
		elif [ -z "$state" ] && [[ $line =~ $head ]]; then
			state=${BASH_REMATCH[1]} version=${BASH_REMATCH[2]}
		elif [ "$state" = release ] && [[ $line =~ $asset ]] && [ "${BASH_REMATCH[2]}" = "$version" ] && [ -z "${sums[${BASH_REMATCH[3]}]:-}" ]; then
			sums[${BASH_REMATCH[3]}]=${BASH_REMATCH[1]}
		else
			fail 4 "$file:$number is damaged: take the action from a whole checkout of its commit"
		fi
	done <"$file"
	[ -n "$state" ] || fail 4 "$file names no version: take the action from a whole checkout of its commit"
	[ "$state" = unreleased ] && return
	for line in amd64 arm64 amd64_nvml; do
		[ -n "${sums[$line]:-}" ] || fail 4 "$file has no line for $line: take the action from a whole checkout of its commit"
	done
}

machine() {
	[ "$(uname -s)" = Linux ] || fail 4 "perfweir runs on Linux, this is $(uname -s)"
	case $(uname -m) in
	x86_64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	*) fail 4 "perfweir has no binary for $(uname -m): build one and name it in the input binary" ;;
	esac
}

# has_nvml: whether NVIDIA's management library is there. The folders are those of
# Debian, Fedora, Jetson, WSL, NixOS and the container toolkit.
has_nvml() {
	local dir
	# Not grep -q: it would end ldconfig by a broken pipe, which pipefail calls a failure.
	{ ldconfig -p || /sbin/ldconfig -p; } 2>/dev/null | grep 'libnvidia-ml\.so\.1 ' >/dev/null && return
	for dir in /usr/lib/{x86_64,aarch64}-linux-gnu{,/nvidia,/tegra,/nvidia/current} /usr/lib64 /usr/lib /usr/lib/wsl/lib /run/opengl-driver/lib /usr/local/nvidia/lib64; do
		[ -e "$dir/libnvidia-ml.so.1" ] && return
	done
	return 1
}

# starts FILE: sets said to what it says of itself. An empty environment, so that
# only the file is asked.
starts() { said=$(env -i "$1" version 2>&1); }

# take FILE SHA256 FROM: the choice, for the steps that follow and for people.
take() {
	starts "$1" || fail 3 "$1, from $3, does not start here: ${said:0:500}"
	[[ $1 != *[$'\r\n']* ]] || fail 4 "the path of the binary has a line break"
	printf 'perfweir from %s\n  path    %s\n  sha256  %s\n  version %s\n' "$3" "$1" "$2" "${said//[$'\r\n']/ }"
	printf 'path=%s\nsha256=%s\n' "$1" "$2" >>"${GITHUB_OUTPUT:-/dev/null}"
}

# place FILE: a copy of our own, which no build of the suite overwrites by chance.
place() {
	local dir
	dir=$(mktemp -d "${RUNNER_TEMP:-/tmp}/perfweir-bin-XXXXXX")
	cp -- "$1" "$dir/perfweir"
	chmod 0755 "$dir/perfweir"
	printf '%s' "$dir/perfweir"
}

# download URL FILE: bounded in size (also where the server does not tell it) and time.
download() {
	local protocols='=https'
	[ -z "${PERFWEIR_INPUT_DOWNLOAD_URL:-}" ] || protocols='=https,http' # a mirror inside a network; the checksum decides
	command -v curl >/dev/null || fail 3 "curl is missing: install it, or name a perfweir in the input binary"
	(
		ulimit -f $((limit_mib * 1024))
		exec curl --fail --silent --show-error --location --proto "$protocols" --proto-redir "$protocols" --max-redirs 5 \
			--connect-timeout 20 --max-time 300 --retry 3 --retry-delay 2 --retry-max-time 600 --max-filesize $((limit_mib << 20)) \
			--output "$2" -- "$1"
	) || fail 3 "cannot download $1: see the lines above; the inputs binary and download-url are for machines that do not reach it"
}

# release_asset NAME: sets file to the asset, from the tool cache or downloaded.
release_asset() {
	local key=$1 name=perfweir_${version}_linux_$1 dir have
	local url=${PERFWEIR_INPUT_DOWNLOAD_URL:-https://github.com/perfweir/perfweir/releases/download/v$version}
	dir=${RUNNER_TOOL_CACHE:-${RUNNER_TEMP:-/tmp}}/perfweir/$version/$arch
	file=$dir/$name from="the tool cache"
	if [ ! -e "$file" ]; then
		from=${url%/}/$name
		mkdir -p "$dir" || fail 3 "cannot make the folder $dir"
		part=$(mktemp "$dir/.part-XXXXXX")
		download "$from" "$part"
		have=$(sha256 "$part")
		[ "$have" = "${sums[$key]}" ] || fail 4 "$from has the SHA-256 $have, this commit of the action wants ${sums[$key]}: it is not the release's binary"
		chmod 0755 "$part"
		mv -f "$part" "$file" # whole or not at all: other runners share the folder
		return
	fi
	have=$(sha256 "$file")
	[ "$have" = "${sums[$key]}" ] || fail 4 "$file has the SHA-256 $have, this commit of the action wants ${sums[$key]}: something on this machine changed it; find out what, then delete it"
}

install_release() {
	if [ -n "${sums[${arch}_nvml]:-}" ] && has_nvml; then
		release_asset "${arch}_nvml"
		if starts "$file"; then
			take "$file" "${sums[${arch}_nvml]}" "$from, with NVML"
			return
		fi
		echo "the binary with NVML does not start here (it needs a newer C library?): taking the static one, which reads no GPU"
	fi
	release_asset "$arch"
	take "$file" "${sums[$arch]}" "$from"
}

# build: only the module's own settings, whatever the machine's are.
build() {
	local top dir cgo=0
	top=$(cd "$here/../.." && pwd -P)
	command -v go >/dev/null || fail 3 "this commit of the action has no released binary and go is missing: use a release's commit, install go (actions/setup-go), or name a perfweir in the input binary"
	if has_nvml && command -v gcc >/dev/null; then cgo=1; fi # NVML is read through C
	dir=$(mktemp -d "${RUNNER_TEMP:-/tmp}/perfweir-bin-XXXXXX")
	(cd "$top" && GOFLAGS='' GOWORK=off CGO_ENABLED=$cgo go build -trimpath -buildvcs=false \
		-ldflags "-s -w -X github.com/perfweir/perfweir/cmd/perfweir/internal/cli.release=$version-unreleased" \
		-o "$dir/perfweir" ./cmd/perfweir) || fail 3 "go build of $top did not work: see the lines above"
	take "$dir/perfweir" "$(sha256 "$dir/perfweir")" "go build, as this commit has no release"
}

main() {
	local file from said='' arch state version
	machine
	if [ -n "${PERFWEIR_INPUT_BINARY:-}" ]; then
		[ -f "$PERFWEIR_INPUT_BINARY" ] || fail 4 "the input binary is $PERFWEIR_INPUT_BINARY, which is no file"
		file=$(place "$PERFWEIR_INPUT_BINARY")
		take "$file" "$(sha256 "$file")" "the input binary ($PERFWEIR_INPUT_BINARY)"
		return
	fi
	read_checksums "$here/checksums.txt"
	case $state in
	release) install_release ;;
	unreleased) build ;;
	esac
}

main "$@"
