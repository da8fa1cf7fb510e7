#!/bin/bash
# bench_start.sh: start to first answered request, idle memory, writes of an idle time, size of the program.
# Limits are those of the design; the figures are counts and sizes; times are medians of seven, beside the disk's own.
set -euo pipefail
ALM=${ALM:-build/alm}
IDLE=${IDLE:-60}
work=$(mktemp -d)
pid=
ended() {
	set +e # whatever ended, and how
	[ -n "$pid" ] && kill "$pid" 2>/dev/null && wait "$pid"
	rm -rf "$work"
}
trap ended EXIT

start() { # and waits until it answers
	"$ALM" up --data-dir "$1" --listen 127.0.0.1:0 --metrics-listen off >"$work/log" 2>&1 &
	pid=$!
	until [ -s "$1/kubeconfig" ]; do sleep 0.002; done
	server=$(sed -n 's/ *server: //p' "$1/kubeconfig")
	until [ "$(curl -sk "$server/readyz")" = ok ]; do sleep 0.01; done
}
rows() { sqlite3 -readonly "$work/d/alm.db" 'select (select count(*) from audit) + (select max(id) from objects)'; }

here=$(dirname "$0")
python3 "$here/start.py" "$ALM" "$work/s"
start "$work/d"
sleep 3 # sleep: what it does at first is no part of an idle time
before=$(rows)
sleep "$IDLE" # sleep: the idle time that is measured
after=$(rows)
echo "idle RSS of alm up: $(($(awk '/VmRSS/ {print $2}' /proc/$pid/status) / 1024)) MiB (limit 20), sandbox zygote not counted"
echo "API writes and audit rows in $IDLE idle s: $((after - before)) (limit 0)"
cp "$ALM" "$work/alm"
strip "$work/alm"
echo "program, stripped: $(($(stat -c %s "$work/alm") / 1000)) kB (limit 5000)"
