#!/bin/sh
# A program written with client-go 0.36 (clientgo/main.go) against `alm server` and against it with simulated workloads: typed, dynamic
# and metadata clients, informers, leader election and recorders, each with its own content type. Skipped until
# tests/e2e/clientgo/build has made it one of the oracles (ALM_ORACLES).
set -u
program=${ALM_ORACLES:-${XDG_CACHE_HOME:-$HOME/.cache}/alm-oracles}/bin/alm-client-go
[ -x "$program" ] || {
	echo "ok 1 - client-go # SKIP no $program: tests/e2e/clientgo/build makes it, with Go"
	echo "1..1"
	exit 0
}
# shellcheck source=tests/lib/server.sh
. tests/lib/server.sh

# play NAME: each line of the program, under that name
play() {
	timeout 120 "$program" "$KUBECONFIG" >"$dir/told" 2>"$dir/log"
	status=$?
	grep -v '^ *#' "$dir/told" >"$dir/lines"
	while IFS= read -r line; do
		case $line in
		"ok "*) ok "$1: ${line#* - }" ;;
		"not ok "*) not_ok "$1: ${line#* - }" "$(grep -A 3 -F "$line" "$dir/told" | tail -n +2)" ;;
		esac
	done <"$dir/lines"
	if [ "$status" = 0 ] && tail -1 "$dir/told" | grep -q '^1\.\.19$'; then ok "$1: it ends"; else
		not_ok "$1: it ends" "exit $status
$(tail -5 "$dir/log")"
	fi
}

for name in "alm server" "simulated workloads"; do
	rm -rf "$dir/data"
	[ "$name" = "alm server" ] || set -- --simulate-workloads
	server_start "$@" || not_ok "$name: it starts"
	play "$name"
	server_stop
done
finish
