#!/bin/bash
# bench_cluster.sh: installs by alm controller on a real Kubernetes, beside helm (cluster.py has what can be set). ALM_TEST_CLUSTER is the
# kubeconfig of an empty cluster, of an administrator, which it leaves full: of kind, k3s, whatever serves 1.27 or newer. An app has a
# Service: APPS above 250 need a --service-cluster-ip-range wider than /24, or the rest of them stay Installing and say so.
set -euo pipefail
helm=${HELM:-$(command -v helm || echo "${XDG_CACHE_HOME:-$HOME/.cache}/alm-oracles/bin/helm")}
skipped() {
	echo "bench_cluster: skipped, $1"
	exit 0
}
[ -n "${ALM_TEST_CLUSTER:-}" ] || skipped "ALM_TEST_CLUSTER names no kubeconfig of a real Kubernetes"
[ -x "$helm" ] || skipped "no helm"
command -v kubectl >/dev/null || skipped "no kubectl"
if KUBECONFIG=$ALM_TEST_CLUSTER kubectl get namespace alm-system >/dev/null 2>&1; then
	echo "bench_cluster: the cluster has a namespace alm-system: take an empty one" >&2
	exit 2
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(umask 077 && KUBECONFIG=$ALM_TEST_CLUSTER kubectl config view --raw --flatten --minify >"$work/kubeconfig")
KUBECONFIG=$work/kubeconfig HELM=$helm python3 "$(dirname "$0")/cluster.py" "${ALM:-build/alm}" "$work/run"
