#!/bin/sh
# The real kube-controller-manager, kube-scheduler and kwok of the oracles (ALM_ORACLES; skipped without) lead on `alm server` and
# roll workloads out: what they look for in objects, watches and Leases is there.
set -u
oracles=${ALM_ORACLES:-${XDG_CACHE_HOME:-$HOME/.cache}/alm-oracles}/bin
for program in kube-controller-manager kube-scheduler kwok; do
	[ -x "$oracles/$program" ] || {
		echo "ok 1 - real controllers # SKIP no $program in $oracles"
		echo "1..1"
		exit 0
	}
done
# shellcheck source=tests/lib/server.sh
. tests/lib/server.sh
server_start "$@" || {
	not_ok "the server starts"
	echo "1..1"
	exit 1
}
openssl genrsa -out "$dir/sa.key" 2048 2>/dev/null
run() {
	name=$1
	shift
	"$@" >"$dir/$name.log" 2>&1 &
	echo $! >>"$dir/pids"
}
end_programs() {
	while read -r p; do kill "$p" 2>/dev/null; done <"$dir/pids"
	: >"$dir/pids"
}
: >"$dir/pids"
trap 'end_programs; server_stop; rm -rf "$dir"' EXIT
k=$KUBECONFIG
run kcm "$oracles/kube-controller-manager" --kubeconfig="$k" --authentication-kubeconfig="$k" --authorization-kubeconfig="$k" \
	--secure-port=0 --leader-elect=true --service-account-private-key-file="$dir/sa.key" --use-service-account-credentials=false
run scheduler "$oracles/kube-scheduler" --kubeconfig="$k" --authentication-kubeconfig="$k" --authorization-kubeconfig="$k" \
	--secure-port=0 --leader-elect=true
run kwok "$oracles/kwok" --kubeconfig="$k" --manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake --cidr=10.0.0.1/24 \
	--server-address= --node-lease-duration-seconds=40

# check NAME COMMAND...: within a minute it succeeds
check() {
	name=$1
	shift
	for _ in $(seq 300); do
		out=$("$@" 2>&1) && ok "$name" && return
		sleep 0.2
	done
	not_ok "$name" "$out
$(grep -h '^E' "$dir"/*.log | tail -5)"
}
says() {
	want=$1
	shift
	out=$("$@" 2>/dev/null) && [ "$out" = "$want" ]
}

kubectl create -f - >/dev/null <<'E'
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: {name: node-1, annotations: {kwok.x-k8s.io/node: fake}}
  status: {allocatable: {cpu: "64", memory: 256Gi, pods: "1000"}, capacity: {cpu: "64", memory: 256Gi, pods: "1000"}}
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: d}
  spec:
    replicas: 2
    selector: {matchLabels: {a: b}}
    template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}
- apiVersion: v1
  kind: Service
  metadata: {name: s}
  spec: {selector: {a: b}, ports: [{port: 80}]}
- apiVersion: apps/v1
  kind: StatefulSet
  metadata: {name: st}
  spec: {serviceName: s, replicas: 2, selector: {matchLabels: {s: t}}, template: {metadata: {labels: {s: t}}, spec: {containers: [{name: c, image: i}]}}}
E
check "the controller manager leads" kubectl -n kube-system get lease kube-controller-manager
check "a Deployment is rolled out" kubectl rollout status deployment/d --timeout=1s
check "a StatefulSet is rolled out" kubectl rollout status statefulset/st --timeout=1s
check "its Pods were created once" says "" kubectl get events --field-selector reason=FailedCreate -o name
check "the Service has its endpoints" says 2 sh -c "kubectl get endpointslices -o jsonpath='{.items[*].endpoints[*].addresses[0]}' | wc -w"
kubectl set image deployment/d c=j >/dev/null
check "another image is rolled out" kubectl rollout status deployment/d --timeout=1s
check "a foreground deletion ends" kubectl delete deployment d --cascade=foreground --timeout=30s
check "and its Pods are gone" says "" kubectl get pods -l a=b -o name
end_programs
finish
