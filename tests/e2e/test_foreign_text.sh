#!/bin/bash
# Foreign text (PROGRAMME.md row 30): escape sequences, C1, bidirectional overrides, newlines and bad bytes in every object,
# catalog, chart and answer that a command or the log prints: they are shown, not obeyed.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
texts=$PWD/tests/e2e/foreign_text.py
metrics=off
up_start --log-level debug
manifests
package 0.9.4 >/dev/null
sed -i 's/mode: Automatic/mode: Manual\n    approveFirst: true/' "$dir/etcd-apptype.yaml"
alm create -f "$dir/catalog.yaml" -f "$dir/etcd-apptype.yaml" >/dev/null
while IFS= read -r line; do
	case $line in
	"ok "*) ok "${line#ok }" ;;
	"not ok "*)
		name=${line#not ok }
		not_ok "${name%%: *}" "$line"
		;;
	*) echo "# $line" ;;
	esac
done < <(python3 "$texts" "$alm_bin" "$data" "$catalog" 2>&1)
# the log of the server: every line begins as a line of ours does
LC_ALL=C none "the log obeys nothing" seek -naP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]' "$dir/err"
none "  and has no forged line" seek -vE '^(time|level)=' "$dir/err"
up_stop
finish
