#!/bin/bash
# The gate's rows against a real API server: what it lets pass loses nothing, what it refuses would.
# ALM_TEST_CLUSTER is the kubeconfig of a cluster that may be written to.
set -u
: "${BUILD:=build}"
if [ -z "${ALM_TEST_CLUSTER:-}" ] || ! command -v kubectl >/dev/null; then
	echo "ok 1 - gate against a real server # SKIP ALM_TEST_CLUSTER names no kubeconfig"
	exit 0
fi
dir=$(mktemp -d)
export KUBECONFIG=$dir/kubeconfig
(umask 077 && cat "$ALM_TEST_CLUSTER" >"$KUBECONFIG")
kubectl proxy --port=0 >"$dir/out" 2>&1 &
pid=$!
trap 'kill $pid; rm -rf "$dir"' EXIT
for _ in $(seq 100); do
	address=$(grep -o '127\.0\.0\.1:[0-9]*' "$dir/out") && break
	sleep 0.1
done
# It prints the plan, 1..N, too.
timeout 500 python3 tests/e2e/gate_real.py "http://$address" "$PWD/$BUILD/alm"
