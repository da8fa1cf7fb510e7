#!/bin/bash
# bench_start.sh: start to first answered request, idle memory, writes of an idle time, size of the program.
# Limits are those of the design; the figures are counts and sizes, the one time is the median of seven starts.
set -euo pipefail
ALM=${ALM:-build/alm}
IDLE=${IDLE:-60}
work=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null || true; rm -rf "$work"' EXIT

start() { # until /readyz answers, in ms
	local from to
	from=$(date +%s%N)
	"$ALM" up --data-dir "$1" --listen 127.0.0.1:0 --metrics-listen off >"$work/log" 2>&1 &
	pid=$!
	until [ -s "$1/kubeconfig" ]; do sleep 0.002; done
	server=$(sed -n 's/ *server: //p' "$1/kubeconfig")
	until [ "$(curl -sk "$server/readyz")" = ok ]; do sleep 0.002; done
	to=$(date +%s%N)
	ms=$(((to - from) / 1000000))
}
stop() { kill "$pid"; wait "$pid" 2>/dev/null || true; pid=; }
rows() { sqlite3 -readonly "$work/d/alm.db" 'select (select count(*) from audit) + (select max(id) from objects)'; }

# median of seven starts; "new" makes the data folder each time, with its keys and some 30 flushed writes
median() {
	local times=''
	for _ in 1 2 3 4 5 6 7; do
		[ "$1" = again ] || rm -rf "$work/s"
		start "$work/s"
		times="$times $ms"
		stop
	done
	# shellcheck disable=SC2086 # a list of words
	printf '%s\n' $times | sort -n | sed -n 4p
}
echo "start to first answered request, new data folder:   $(median new) ms, median of 7 (limit 100)"
echo "start to first answered request, same data folder:  $(median again) ms, median of 7 (limit 100)"
start "$work/d"
sleep 3
before=$(rows)
sleep "$IDLE"
after=$(rows)
echo "idle RSS of alm up: $(($(awk '/VmRSS/ {print $2}' /proc/$pid/status) / 1024)) MiB (limit 20), sandbox zygote not counted"
echo "API writes and audit rows in $IDLE idle s: $((after - before)) (limit 0)"
cp "$ALM" "$work/alm"
strip "$work/alm"
echo "program, stripped: $(($(stat -c %s "$work/alm") / 1024)) KiB (limit 5120)"
