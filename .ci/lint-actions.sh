#!/usr/bin/env bash
# Checks what GitHub reads: every workflow and every example of docs/github.md by
# actionlint, those and every action.yml by action-validator, the scripts that the
# action runs by shellcheck. A tool that cannot be had fails.
set -euo pipefail
cd "$(dirname "$0")/.."
top=$PWD
cache=${PERFWEIR_CI_CACHE:-$top/.cache}
mkdir -p "$cache/bin"
export PATH="$cache/bin:$PATH"
source .ci/tools.sh

fail() { echo "lint-actions: $1" >&2; exit 1; }

# need_validator: npm's package, by exact version, without its scripts.
need_validator() {
	local version=0.6.0 dir=$cache/action-validator
	command -v npm >/dev/null || need_packages nodejs npm
	if [ ! -e "$dir/.$version" ]; then
		rm -rf "$dir"
		mkdir -p "$dir"
		npm install --prefix "$dir" --ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error \
			"@action-validator/cli@$version" "@action-validator/core@$version"
		touch "$dir/.$version"
	fi
	validator=$dir/node_modules/.bin/action-validator
	[ -x "$validator" ] || fail "$validator is missing"
}

# examples FOLDER: a project with the workflows of docs/github.md. Each names its
# file in its first line. Our action becomes the one that is here, so that actionlint
# checks inputs and outputs against it.
examples() {
	mkdir -p "$1/.git" "$1/.github/workflows" # by .git actionlint knows a project
	cp action.yml "$1"
	cp -r .github/actions .github/actionlint.yaml "$1/.github"
	awk -v dir="$1/" '
		/^```/ { file = ""; first = /^```yaml/; next }
		first { first = 0; if ($1 == "#" && $2 ~ /^\.github\/workflows\/[a-z-]+\.yml$/) file = dir $2 }
		file { gsub(/perfweir\/perfweir\/\.github\/actions\/run@COMMIT/, "./.github/actions/run"); gsub(/uses: perfweir\/perfweir@COMMIT/, "uses: ./"); print > file }
	' docs/github.md
}

need_packages shellcheck
need_tool actionlint github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
need_validator
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

examples "$work"
count=$(find "$work/.github/workflows" -name '*.yml' | wc -l)
[ "$count" -ge 8 ] || fail "docs/github.md has $count examples, want at least 8"
grep -L 'uses: \./' "$work"/.github/workflows/*.yml | { ! grep . || fail "an example does not use the action"; }
actionlint -pyflakes= -shellcheck=shellcheck .github/workflows/*.yml
(cd "$work" && actionlint -pyflakes= -shellcheck=shellcheck .github/workflows/*.yml)

# action-validator goes by the file's name. Its schema is older than the permission
# attestations, which actionlint knows.
mkdir "$work/ours"
for f in .github/workflows/*.yml; do
	sed '/^ *attestations: write$/d' "$f" >"$work/ours/$(basename "$f")"
done
actions=$(git ls-files --cached --others --exclude-standard 'action.yml' '**/action.yml')
[ "$(echo "$actions" | wc -l)" -ge 2 ] || fail "two action.yml are expected, there are: $actions"
for f in $actions "$work"/ours/*.yml "$work"/.github/workflows/*.yml; do
	"$validator" "$f" || fail "action-validator refuses $f"
done
shellcheck -x .github/actions/install.sh .ci/lint-actions.sh .ci/release.sh .ci/proof/release.sh
echo "lint-actions: $(echo "$actions" | wc -l) actions, $(find "$work/ours" -type f | wc -l) workflows and $count examples are as GitHub wants them"
