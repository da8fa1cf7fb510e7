#!/bin/bash
# bench_install.sh: apps of one catalog, each with a chart of two objects of its own, installed all at once in a new
# `alm up`. What one app costs shall be the same with ten beside it and with hundreds: CPU of the whole program (server
# included, the sandboxes' children not), memory at its peak and ten seconds after the last.
# APPS="10 100 300" names the numbers of apps. PARSES=1 counts JSON parses, too (root and perf; slower).
set -euo pipefail
ALM=$(realpath "${ALM:-build/alm}")
APPS=${APPS:-10 100 300}
work=$(mktemp -d)
pid=
perf=
stop() {
	[ -z "$perf" ] || { kill -INT "$perf" && wait "$perf"; } 2>/dev/null || true
	[ -z "$pid" ] || { kill "$pid" && wait "$pid"; } 2>/dev/null || true
	pid='' perf=''
}
probe() { perf probe -q "$@" >/dev/null; }
# shellcheck disable=SC2154
trap 'stop; [ -z "${PARSES:-}" ] || probe -d "bench_alm:*" || true; rm -rf "$work"' EXIT

chart() { # NUMBER FOLDER
	mkdir -p "$work/chart/templates"
	printf 'apiVersion: v2\nname: web%s\nversion: 1.0.0\n' "$1" >"$work/chart/Chart.yaml"
	printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web%s}\ndata: {v: "1"}\n' "$1" \
		>"$work/chart/templates/cm.yaml"
	printf 'apiVersion: v1\nkind: Service\nmetadata: {name: web%s}\nspec: {ports: [{port: 80}]}\n' "$1" \
		>"$work/chart/templates/svc.yaml"
	"$ALM" package build "$work/chart" -o "$2" >/dev/null
}
of_status() { awk -v key="$1:" '$1 == key { printf "%d", $2 / 1024 }' "/proc/$pid/status"; }
cpu() { awk '{ printf "%.1f", ($14 + $15) / 100 }' "/proc/$pid/stat"; }
left() {
	kubectl get apptypes -o 'jsonpath={range .items[*]}{.status.installedVersion}{"\n"}{end}' | grep -cv 1.0.0 || true
}

run() { # APPS
	local n=$1 begin seconds parses=-
	rm -rf "$work/d" "$work/catalog"
	mkdir "$work/catalog"
	for i in $(seq "$n"); do chart "$i" "$work/catalog"; done
	"$ALM" up --data-dir "$work/d" --listen 127.0.0.1:0 --metrics-listen off --verify-soak 1s \
		--catalog-root "$work/catalog" >"$work/log" 2>&1 &
	pid=$!
	export KUBECONFIG=$work/d/kubeconfig
	until kubectl get apptypes >/dev/null 2>&1; do sleep 0.2; done
	for i in $(seq "$n"); do
		printf -- '---\napiVersion: app.coreos.com/v1beta1\nkind: AppType\nmetadata: {name: web%s}\n' "$i"
		printf 'spec: {type: org.example}\n'
	done | kubectl create -f - >/dev/null
	if [ -n "${PARSES:-}" ]; then
		perf stat -x' ' -e bench_alm:parses -p "$pid" -o "$work/parses" &
		perf=$!
	fi
	begin=$(date +%s.%N)
	"$ALM" catalog add bench "dir://$work/catalog" --interval 1h >/dev/null
	until [ "$(left)" -eq 0 ]; do
		sleep 2
		[ "$(echo "$(date +%s.%N) - $begin > ${LIMIT:-600}" | bc)" = 0 ] || break
	done
	seconds=$(echo "$(date +%s.%N) - $begin" | bc)
	sleep 10
	if [ -n "$perf" ]; then
		{ kill -INT "$perf" && wait "$perf"; } || true
		perf=
		parses=$(awk '/parses/ { print $1 }' "$work/parses")
	fi
	printf '%6d %9d %9.1f %9s %9d %9d %10s\n' "$n" "$((n - $(left)))" "$seconds" "$(cpu)" "$(of_status VmHWM)" \
		"$(of_status VmRSS)" "$parses"
	stop
}

[ -z "${PARSES:-}" ] || probe -x "$ALM" 'bench_alm:parses=json_parse'
printf '%6s %9s %9s %9s %9s %9s %10s\n' apps installed seconds 'CPU s' 'peak MiB' 'rest MiB' parses
for n in $APPS; do run "$n"; done
