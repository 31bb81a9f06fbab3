#!/usr/bin/env bash
# readme.sh N: prints the N-th command of the README's first code block.
set -euo pipefail
cd "$(dirname "$0")/.."
command=$(awk '/^```/ { inside = !inside; if (!inside) exit; next } inside && NF && !/^#/' README.md | sed -n "${1}p")
[ -n "$command" ] || { echo "README.md has no command $1 in its first code block" >&2; exit 1; }
echo "$command"
