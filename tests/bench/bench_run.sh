#!/bin/bash
# bench_run.sh: `alm run` on a folder of 1,000 objects: the first run, and one with nothing to do: requests that write, CPU.
# OBJECTS=N: so many.
set -euo pipefail
ALM=${ALM:-build/alm}
OBJECTS=${OBJECTS:-1000}
work=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null || true; rm -rf "$work"' EXIT

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$ALM" up --data-dir "$work/d" --listen 127.0.0.1:0 --metrics-listen "127.0.0.1:$port" >"$work/log" 2>&1 &
pid=$!
until [ -s "$work/log" ]; do sleep 0.05; done
mkdir "$work/m"
for i in $(seq "$OBJECTS"); do
	printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%s}\ndata: {n: "%s", text: "a value that is a bit longer than its key"}\n' "$i" "$i" >"$work/m/c$i.yaml"
done
writes() {
	curl -s "http://127.0.0.1:$port/metrics" |
		awk '/^alm_api_requests_total.*verb="(create|update|patch|apply|delete|deletecollection)"/ {n += $NF} END {print n + 0}'
}
one() { # NAME
	local before
	before=$(writes)
	TIMEFORMAT='%U %S'
	cpu=$({ time "$ALM" run --kubeconfig "$work/d/kubeconfig" --trigger oneoff --renderer.file.dir "$work/m" --name bench >"$work/out" 2>&1; } 2>&1)
	echo "$1: $(($(writes) - before)) requests that write, CPU (user system) $cpu s"
}
one "first run of $OBJECTS objects"
one "nothing to do (limit 0 and 0.15 s)"
