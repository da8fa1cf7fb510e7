#!/bin/bash
# `alm controller` apart from its server: what it holds does not grow with the namespaces of the cluster (P1), a
# definition of 1 MiB is installed, and while the controller is down the cluster works as before (P23).
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	skip "controller apart" "no kubectl"
	finish
	exit 0
}
manifests
cd "$dir" || exit 1
server_start
one=
trap '[ -z "$one" ] || kill -9 "$one" 2>/dev/null; up_stop; rm -rf "$dir"' EXIT
"$alm_bin" controller --data-dir "$dir/one" --catalog-root "$catalog" --metrics-listen off --verify-soak 1s >one.out 2>one.err &
one=$!
crds() { k get crd apps.app.coreos.com catalogs.app.coreos.com -o name 2>/dev/null | wc -l; }
WAIT_S=90 soon "the controller has brought its CRDs" 2 crds
# A package whose definition has about 1 MiB: 4,000 fields with their descriptions.
mkdir -p big/crds
printf 'apiVersion: v2\nname: big\nversion: 1.0.0\n' >big/Chart.yaml
python3 - >big/crds/bigs.yaml <<'PY'
import json
text = "what it is for, and what happens without it; " * 5
spec = {"field%04d" % i: {"type": "string", "description": text} for i in range(4000)}
schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": spec}}}
print(json.dumps({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "bigs.example.com"},
	"spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "bigs", "singular": "big", "kind": "Big", "listKind": "BigList"},
	"versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]}}))
PY
is "P23 the definition has about 1 MiB" yes "$([ "$(wc -c <big/crds/bigs.yaml)" -gt 1000000 ] && echo yes)"
alm package build big -o "$catalog" >/dev/null
k create -f catalog.yaml >/dev/null
printf 'apiVersion: app.coreos.com/v1beta1\nkind: AppType\nmetadata: {name: big}\nspec: {type: com.example}\n' | k create -f - >/dev/null
installed() { k get apptype big -o 'jsonpath={.status.installedVersion} {.status.conditions[?(@.type=="Ready")].status}'; }
soon "P23 it is installed" "1.0.0 True" installed

# --- namespaces ---
rss() { awk '/^VmRSS/ {print $2}' "/proc/$one/status"; }
namespaces() { # FROM TO
	for i in $(seq "$1" "$2"); do printf -- '---\n{apiVersion: v1, kind: Namespace, metadata: {name: n%s}}\n' "$i"; done | alm create -f - >/dev/null
}
seen() { # N: the controller has seen the newest namespace, and what was written after it
	k annotate apptype big "seen=$1" --overwrite >/dev/null
	soon "P1 $1 namespaces" "$2" eval "k get namespaces -o name | wc -l"
}
namespaces 1 50
base=$(k get namespaces -o name | wc -l)
seen 50 "$base"
before=$(rss)
namespaces 51 1050
seen 1050 $((base + 1000))
k delete namespace n1050 >/dev/null
# at rest: what the event of the deletion took is given back
grown() { [ $(($(rss) - before)) -lt 4096 ] && echo yes; }
case $BUILD in
*address*) skip "P1 a thousand more cost the controller less than 4 MiB" "sanitizers keep what is freed" ;;
*) soon "P1 a thousand more cost the controller less than 4 MiB" yes grown ;;
esac
echo "# $before KiB with $base namespaces, $(rss) KiB with 1000 more"

# --- without it ---
kill "$one"
wait "$one" 2>/dev/null
one=
printf 'apiVersion: example.com/v1\nkind: Big\nmetadata: {name: a, namespace: default}\nspec: {field0001: x}\n' | k create -f - >/dev/null
is "P23 without the controller: custom resources" "x" "$(k get big a -o 'jsonpath={.spec.field0001}')"
has "P23 discovery" "bigs" "$(k api-resources --api-group=example.com)"
has "P23 discovery of all" "deployments.apps" "$(k api-resources -o name)"
is "P23 and changes" "y" "$(k patch big a --type=merge -p '{"spec":{"field0002":"y"}}' -o 'jsonpath={.spec.field0002}')"
OR_EMPTY=1 lacks "P23 none of it asks an aggregated API" k get apiservices -o name -- -i coreos
finish
