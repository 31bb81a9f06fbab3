# Sourced by .ci/run and the proofs: installs tools by exact version, once.

# at_desk: perfweir works as at a desk, also where a workflow runs the script.
at_desk() {
	unset "${!GITHUB_@}" RUNNER_TEMP CI
}

need_packages() {
	local missing=()
	for p in "$@"; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || missing+=("$p")
	done
	[ ${#missing[@]} -eq 0 ] && return
	local sudo=
	[ "$(id -u)" -eq 0 ] || sudo=sudo
	$sudo apt-get update -q
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# need_node: what the action's own tools run on, 20 or newer.
need_node() {
	command -v npm >/dev/null || need_packages nodejs npm
	local major
	major=$(node -p 'process.versions.node.split(".")[0]')
	[ "$major" -ge 20 ] || { echo "node is version $major, and 20 or newer is needed" >&2; return 1; }
}

# need_tool NAME MODULE@VERSION
need_tool() {
	local stamp="$cache/bin/.$1-${2##*@}"
	[ -x "$cache/bin/$1" ] && [ -e "$stamp" ] && return
	GOBIN="$cache/bin" go install "$2"
	touch "$stamp"
}

# The vulnerability database as files, so that the check needs no service.
need_vulnerabilities() {
	local version=v0.0.0-20261105234957-e22db6528018
	[ -e "$cache/vulndb/.$version" ] && return
	need_tool indexdb "golang.org/x/vulndb/cmd/indexdb@$version"
	local dir
	dir=$(cd "$cache" && go mod download -json "golang.org/x/vulndb@$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
	rm -rf "$cache/vulndb"
	indexdb -out "$cache/vulndb" -vulns "$dir/data/osv"
	touch "$cache/vulndb/.$version"
}

# check_vulnerabilities fails on every vulnerability that our code calls and that
# .ci/known-vulnerabilities does not answer for. The standard library is that of
# the toolchain that releases are built with: who builds with another has its own.
check_vulnerabilities() {
	local code=0 found known toolchain
	toolchain=$(sed -n 's/^toolchain=//p' .ci/release.sh)
	GOTOOLCHAIN=$toolchain govulncheck -db "file://$cache/vulndb" ./... >"$cache/govulncheck.txt" || code=$?
	[ $code -eq 0 ] || [ $code -eq 3 ] || { cat "$cache/govulncheck.txt"; return 1; }
	found=$(sed -n 's/^Vulnerability #[0-9]*: //p' "$cache/govulncheck.txt" | sort -u)
	known=$(sed -n 's/^\(GO-[0-9-]*\) .*/\1/p' .ci/known-vulnerabilities | sort -u)
	local unknown
	unknown=$(comm -23 <(echo "$found") <(echo "$known"))
	if [ -n "$unknown" ]; then
		cat "$cache/govulncheck.txt"
		echo "not answered for in .ci/known-vulnerabilities: $unknown" >&2
		return 1
	fi
	echo "vulnerabilities called, built with $toolchain: ${found:-none}; each is answered for in .ci/known-vulnerabilities"
}

# as_nobody PACKAGE TEST: runs a test that root cannot, as a user without rights.
as_nobody() {
	local dir
	dir=$(mktemp -d)
	go test -c -o "$dir/test" "$1"
	chmod 755 "$dir" "$dir/test"
	mkdir -m 1777 "$dir/tmp"
	if [ "$(id -u)" -eq 0 ]; then
		(cd "$dir" && TMPDIR="$dir/tmp" setpriv --reuid=65534 --regid=65534 --clear-groups ./test -test.run "$2" -test.v) >"$dir/out" || { cat "$dir/out"; return 1; }
	else
		(cd "$dir" && ./test -test.run "$2" -test.v) >"$dir/out" || { cat "$dir/out"; return 1; }
	fi
	cat "$dir/out"
	grep -q -- "--- PASS: $2" "$dir/out" || { echo "$2 did not run" >&2; return 1; }
	rm -rf "$dir"
}
