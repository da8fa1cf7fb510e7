#!/bin/bash
# bench_run.sh: `alm run` on folders of 1, 100, 1,000 and 10,000 objects: the first run, and one with nothing to do: requests that
# write, time, CPU, memory. OBJECTS="N ...": so many.
set -euo pipefail
ALM=${ALM:-build/alm}
OBJECTS=${OBJECTS:-1 100 1000 10000}
work=$(mktemp -d)
pid=
ended() {
	set +e # whatever ended, and how
	[ -n "$pid" ] && kill "$pid" 2>/dev/null && wait "$pid"
	rm -rf "$work"
}
trap ended EXIT

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$ALM" up --data-dir "$work/d" --listen 127.0.0.1:0 --metrics-listen "127.0.0.1:$port" >"$work/log" 2>&1 &
pid=$!
until [ -s "$work/log" ]; do sleep 0.05; done
writes() {
	curl -s "http://127.0.0.1:$port/metrics" |
		awk '/^alm_api_requests_total.*verb="(create|update|patch|apply|delete|deletecollection)"/ && !/resource="leases"/ {n += $NF} END {print n + 0}'
}
# OUTPUT COMMAND...: what it took
spent() {
	python3 - "$@" <<'P'
import os, sys, time
began = time.monotonic()
with open(sys.argv[1], "wb") as out:
    pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1), (os.POSIX_SPAWN_DUP2, out.fileno(), 2)])
    _, status, r = os.wait4(pid, 0)
print(f"{time.monotonic() - began:.2f} s, CPU {r.ru_utime + r.ru_stime:.3f} s, {r.ru_maxrss / 1024:.0f} MiB")
sys.exit(os.waitstatus_to_exitcode(status) != 0)
P
}
one() { # NAME
	local before took
	before=$(writes)
	took=$(spent "$work/out" "$ALM" run --kubeconfig "$work/d/kubeconfig" --trigger oneoff --renderer.file.dir "$work/m" --name "bench$n")
	echo "$1: $(($(writes) - before)) requests that write, $took"
}
for n in $OBJECTS; do
	mkdir "$work/m"
	for i in $(seq "$n"); do
		printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%s}\ndata: {n: "%s", text: "a value that is a bit longer than its key"}\n' "$n.$i" "$i" >"$work/m/c$i.yaml"
	done
	one "first run of $n objects"
	one "$n objects, nothing to do$([ "$n" != 1000 ] || echo ' (limit 0 and 0.15 s)')"
	rm -r "$work/m"
done
