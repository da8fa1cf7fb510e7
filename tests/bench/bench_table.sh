#!/bin/bash
# bench_table.sh: start, memory, requests, lists, watches: ALM beside a real kube-apiserver with etcd in one run (table.py): the same
# load on each in turn, ratios and limits. ORACLE is a program as bench_replay.sh has it: `ORACLE start DIR PORT`, `ORACLE stop DIR`.
# PORT=28443. ROUNDS=1: of each load the best of so many; IDLE=10 s of doing nothing; SCALE=30000: the most objects.
set -euo pipefail
skipped() {
	echo "bench_table: skipped, $1"
	exit 0
}
[ -n "${ORACLE:-}" ] || skipped "ORACLE names no program that starts a real Kubernetes"
exec python3 "$(dirname "$0")/table.py" "${ALM:-build/alm}" "${BUILD:-build}/load"
