#!/bin/sh
# expect.sh [JSONNET]: what Debian's jsonnet prints for each case, into its expected.json. A case is a folder with main.jsonnet,
# ext (NAME=VALUE lines, --ext-str), jpath (folders, -J) and config.json (what alm-runtime/config imports). Run in the root of
# the repository; tests/e2e/test_jsonnet.sh fails on a difference.
set -eu
jsonnet=${1:-jsonnet}
live=$(mktemp -d)
trap 'rm -rf "$live"' EXIT
for main in tests/golden/jsonnet/*/main.jsonnet; do
	dir=${main%/main.jsonnet}
	set -- -J "$live"
	if [ -f "$dir/config.json" ]; then
		for name in alm-runtime locutus-runtime generic-operator; do
			mkdir -p "$live/$name"
			cp "$dir/config.json" "$live/$name/config"
		done
	fi
	[ ! -f "$dir/jpath" ] || while read -r path; do set -- "$@" -J "$path"; done <"$dir/jpath"
	[ ! -f "$dir/ext" ] || while read -r pair; do set -- "$@" --ext-str "$pair"; done <"$dir/ext"
	"$jsonnet" "$@" "$main" >"${OUT:-$dir}/${OUT:+${dir##*/}.}expected.json"
done
