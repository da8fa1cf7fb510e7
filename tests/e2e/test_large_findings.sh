#!/bin/bash
# A version whose CRDs break more than a row of the audit log or a status can hold is judged like any other: refused with
# its findings, or installed; the log has every finding, the status the weightiest.
. tests/e2e/lib.sh

# definition N FIELDS: version v1 with 60 fields of that many characters each
definition() {
	cat <<YAML
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: kind$1s.x.io}
spec:
  group: x.io
  scope: Namespaced
  names: {plural: kind$1s, singular: kind$1, kind: Kind$1}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {last: {type: string}$2}}}}}
YAML
}

# fields FROM TO SCHEMA
long=$(printf 'long%.0s' $(seq 12))
fields() { for i in $(seq "$1" "$2"); do printf ', %s%d: {%s}' "$long" "$i" "$3"; done; }

# chart VERSION FIELDS
chart() {
	mkdir -p "$dir/big/crds" "$dir/big/templates"
	printf 'apiVersion: v2\nname: big\nversion: %s\n' "$1" >"$dir/big/Chart.yaml"
	printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: big}\n' >"$dir/big/templates/cm.yaml"
	for n in 1 2 3 4 5; do definition $n "$2" >"$dir/big/crds/$n.yaml"; done
	alm package build "$dir/big" -o "$catalog" >/dev/null
}

chart 1.0.0 "$(fields 1 60 'type: string, default: a')"
up_start
k create -f - >/dev/null <<YAML
{apiVersion: app.coreos.com/v1alpha1, kind: Catalog, metadata: {name: ops}, spec: {source: {url: "dir://$catalog"}, interval: 5s}}
YAML
printf 'apiVersion: app.coreos.com/v1beta1\nkind: AppType\nmetadata: {name: big}\nspec: {type: io.ops}\n' | k create -f - >/dev/null
soon "it is installed" 1.0.0 k get apps big -o 'jsonpath={.status.installedVersion}'

# 300 warnings: 150 KiB of them
chart 1.1.0 "$(fields 1 60 'type: string, default: b')"
soon "300 warnings do not hold it up" 1.1.0 k get apps big -o 'jsonpath={.status.installedVersion}'
plan=$(k get ist install.1.1.0.big.io.ops -o json | jq '.status.plan')
is "the status lists 100 of them at most" true "$(echo "$plan" | jq '(.findings | length) <= 100 and (.findings | length) > 20')"
is "and counts the rest" 300 "$(echo "$plan" | jq '(.findings | length) + .findingsOmitted')"
is "each CRD is judged" 5 "$(echo "$plan" | jq '.judged | length')"
is "the row says what was moved" '["findings"]' \
	"$(alm audit query --reason CRDJudged -o json --data-dir "$data" | jq -c '.[-1].body.moved')"

# 300 refusals
chart 1.2.0 ""
soon "300 refusals are told" CRDIncompatible \
	k get ist install.1.2.0.big.io.ops -o 'jsonpath={.status.conditions[?(@.type=="CRDCompatible")].reason}'
none "and nothing failed" seek -o 'pass failed.*' "$dir/err"
up_stop
code "the log is whole" 0 "blobs ok" alm audit verify --replay --data-dir "$data"
finish
