#!/bin/sh
# Real kubectl against `alm server`: the commands of kube-api.md 2, with a cold and a warm cache.
# KUBECTLS="PATH PATH" names the binaries; else the one in PATH, and the oldest and newest beside it.
set -u
. tests/lib/server.sh
files=tests/e2e/kubectl

if [ -z "${KUBECTLS:-}" ]; then
	KUBECTLS=$(command -v kubectl)
	real=${KUBECTLS%/*}/real/kubectl # behind tests/lib/kubectl.sh
	[ ! -x "$real" ] || KUBECTLS=$real
	beside=$(dirname "$(readlink -f "${KUBECTLS:-/nonexistent}")")
	all=$(find "$beside" -maxdepth 1 -name 'kubectl.1.*' 2>/dev/null | sort -t. -k3 -n)
	KUBECTLS="$KUBECTLS $(echo "$all" | head -1) $(echo "$all" | tail -1)"
	[ -x /opt/kubectl120/usr/bin/kubectl ] && KUBECTLS="/opt/kubectl120/usr/bin/kubectl $KUBECTLS"
fi
[ -n "${KUBECTLS# }" ] || {
	echo "ok 1 - kubectl # SKIP no kubectl"
	exit 0
}

# step TEXT ARGUMENT...: the output must contain TEXT.
step() {
	want=$1
	shift
	got=$(timeout 30 "$kubectl" --cache-dir "$dir/cache" "$@" 2>&1)
	case $got in
	*"$want"*) ;;
	*) failures="$failures
kubectl $*: wanted $want
$got" ;;
	esac
}

run_all() {
	ns=n$minor
	rm -rf "$dir/cache"
	step "configmaps" api-resources
	step "apps/v1" api-versions
	step "namespace/$ns created" create namespace "$ns"
	step "configmap/cm created" -n "$ns" create configmap cm --from-literal=a=b
	step "secret/s created" -n "$ns" create secret generic s --from-literal=p=x
	step "p:  1 bytes" -n "$ns" describe secret s
	step "r created" -n "$ns" create role r --verb=get,list --resource=pods
	step "rb created" -n "$ns" create rolebinding rb --role=r --user=alice
	step "yes" -n "$ns" auth can-i get pods --as alice
	step "no" -n "$ns" auth can-i delete pods --as alice
	step 'cannot delete resource "pods"' -n "$ns" delete pod x --as alice
	step "*.*" auth can-i --list
	[ "$minor" -lt 27 ] || step "system:masters" auth whoami
	[ "$minor" -lt 24 ] || step "eyJ" -n "$ns" create token default
	step "deployment.apps/web created" -n "$ns" create deployment web --image=nginx:1 --replicas=2
	step "service/web created" -n "$ns" create service clusterip web --tcp=80:8080
	step "80/TCP" -n "$ns" get svc -o wide
	step "RollingUpdateStrategy:  25% max unavailable, 25% max surge" -n "$ns" describe deployment web
	step "Session Affinity:" -n "$ns" describe svc web
	[ "$minor" -lt 27 ] || step "DESCRIPTION" explain deployment.spec
	[ "$minor" -lt 27 ] || step "maxSurge" explain deployment.spec.strategy.rollingUpdate

	step "created" apply -f $files/crd.yaml
	step "condition met" wait --for=condition=Established crd/gears.kt.example.com --timeout=60s
	step "gears" api-resources --api-group=kt.example.com
	step "gear.kt.example.com/a created" -n "$ns" apply -f $files/gear4.yaml
	step "unchanged" -n "$ns" apply -f $files/gear4.yaml
	step "+  size: 5" -n "$ns" diff -f $files/gear5.yaml
	step "server dry run" -n "$ns" apply --dry-run=server -f $files/gear5.yaml
	step "a      4" -n "$ns" get gr
	step "configured" -n "$ns" apply -f $files/gear5.yaml
	step "size: 5" -n "$ns" get gear a -o yaml
	step "serverside-applied" -n "$ns" apply --server-side --force-conflicts -f $files/gear4.yaml
	step "scaled" -n "$ns" scale gear a --replicas=3
	step "3" -n "$ns" get gear a -o 'jsonpath={.spec.replicas}'
	step "patched" -n "$ns" patch gear a --type merge -p '{"spec":{"size":7}}'
	step "labeled" -n "$ns" label gear a x=y
	step "x=y" -n "$ns" get gr -l x=y --show-labels
	step "gear.kt.example.com/a" -n "$ns" get all
	step "Teeth" -n "$ns" get gear a -o 'custom-columns=Teeth:.spec.size'
	step "Kind:         Gear" -n "$ns" describe gear a
	if [ "$minor" -ge 27 ]; then
		step "A gear turns." explain gears
		step "Number of teeth." explain gears.spec.size
		step 'unknown field "spec.bogus"' -n "$ns" apply -f $files/bad.yaml
	fi
	step "deployment.apps/d created" -n "$ns" apply -f $files/deployment.yaml
	step "unchanged" -n "$ns" apply -f $files/deployment.yaml
	step "image updated" -n "$ns" set image deploy/d c=x:2
	step "successfully rolled out" -n "$ns" rollout status deploy/d --timeout=60s
	step "x:2" -n "$ns" get deploy d -o wide
	step "configmap/cm annotate" -n "$ns" annotate cm cm q=r
	step '"a" deleted' -n "$ns" delete gear a
	step "not found" -n "$ns" get gear a
	step "deleted" delete crd gears.kt.example.com
	step "\"$ns\" deleted" delete namespace "$ns"
	step "not found" get namespace "$ns"
}

server_start --simulate-workloads || {
	not_ok "kubectl: the server starts"
	exit 1
}
HOME=$dir
export HOME
for kubectl in $KUBECTLS; do
	minor=$("$kubectl" version --client -o json 2>/dev/null | grep -o '"minor": "[0-9]*' | grep -o '[0-9]*$')
	case " ${seen:-} " in *" $minor "*) continue ;; esac
	seen="${seen:-} $minor"
	failures=
	run_all
	if [ -z "$failures" ]; then
		ok "kubectl 1.$minor"
	else
		not_ok "kubectl 1.$minor" "$failures"
	fi
done
finish
