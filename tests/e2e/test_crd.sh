#!/bin/sh
# test_crd.sh: `alm crd check` and `alm crd diff` on files, with their exit codes.
set -u
ALM=${BUILD:-build}/alm
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0

report() { # NAME STATUS
	n=$((n + 1))
	if [ "$2" -eq 0 ]; then echo "ok $n - $1"; else echo "not ok $n - $1"; fi
}

definition() { # FIELDS
	cat <<YAML
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: etcds.etcd.coreos.com}
spec:
  group: etcd.coreos.com
  scope: Namespaced
  names: {plural: etcds, kind: Etcd}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {$1}}}}}
YAML
}

mkdir -p "$dir/chart/crds" "$dir/chart/templates"
definition 'size: {type: integer}, old: {type: string}' >"$dir/old.yaml"
definition 'size: {type: integer, maximum: 5}, old: {type: string}' >"$dir/tight.yaml"
definition 'size: {type: integer}' >"$dir/chart/crds/crd.yaml"
echo 'name: c' >"$dir/chart/Chart.yaml"
echo '{{ not yaml' >"$dir/chart/templates/x.yaml"
printf 'apiVersion: etcd.coreos.com/v1\nkind: Etcd\nmetadata: {name: e, namespace: d}\nspec: {size: 7}\n' >"$dir/object.yaml"

"$ALM" crd check "$dir/old.yaml" "$dir/old.yaml" >"$dir/out" 2>&1
code=$?
[ $code -eq 0 ] && grep -q 'nothing refused' "$dir/out"
report "no change passes" $?

"$ALM" crd check "$dir/old.yaml" "$dir/tight.yaml" >"$dir/out" 2>&1
code=$?
[ $code -eq 0 ] && grep -q '^warn  *BoundTightened' "$dir/out"
report "without objects a bound warns" $?

"$ALM" crd check "$dir/old.yaml" "$dir/tight.yaml" --objects "$dir/object.yaml" >"$dir/out" 2>&1
code=$?
[ $code -eq 3 ] && grep -q '1 affected: d/e' "$dir/out"
report "an object over the bound refuses with 3" $?

"$ALM" crd check "$dir/old.yaml" "$dir/chart" -o json >"$dir/out" 2>&1
code=$?
[ $code -eq 3 ] && grep -q '"rule": "FieldRemoved"' "$dir/out"
report "a chart's crds are read, its templates are not" $?

"$ALM" crd check "$dir/old.yaml" "$dir/chart" -o sarif >"$dir/out" 2>&1
code=$?
[ $code -eq 3 ] && grep -q '"ruleId": "FieldRemoved"' "$dir/out"
report "SARIF" $?

"$ALM" crd diff "$dir/old.yaml" "$dir/tight.yaml" >"$dir/out" 2>&1
[ "$(cat "$dir/out")" = 'etcds.etcd.coreos.com/v1 spec.size: maximum none -> 5' ]
report "diff in words" $?

"$ALM" crd check "$dir/old.yaml" "$dir/absent.yaml" >"$dir/out" 2>&1
code=$?
[ $code -eq 1 ]
report "a missing file ends with 1" $?
echo "1..$n"
