#!/usr/bin/env bash
# Builds the stand-in for actions/upload-artifact that runs under act: GitHub's own
# artifact client, in one file.
#
#	.ci/standin.sh OUT
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?usage: standin.sh OUT}
mkdir -p "$out"
stamp=$(cat "$here"/standin/* "$0" | sha256sum)
if [ "$(cat "$out/.stamp" 2>/dev/null)" = "$stamp" ]; then exit 0; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here"/standin/* "$work"
cd "$work"
npm install --no-audit --no-fund --loglevel=error
# The client tells its classes by name, and wants require.
npx esbuild main.mjs --bundle --platform=node --format=esm --target=node20 --keep-names --log-level=warning \
	--banner:js='import{createRequire}from"node:module";const require=createRequire(import.meta.url);' --outfile=index.mjs
cp action.yml index.mjs "$out"
echo "$stamp" >"$out/.stamp"
