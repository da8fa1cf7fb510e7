#!/bin/bash
# Which files of a chart are CRDs: crds/ of the chart and its subcharts; what lies below templates/crds/ is a template and
# its definitions are found by rendering. Catalog, app, gate and `alm crd check` agree.
helm=${HELM:-$(command -v helm || echo "$HOME/.cache/alm-oracles/bin/helm")}
. tests/e2e/lib.sh

definition() { # NAME VERSION FIELDS
	cat <<YAML
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: $1s.x.io}
spec:
  group: x.io
  scope: Cluster
  names: {plural: $1s, singular: $1, kind: K$1}
  versions:
  - name: $2
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {$3}}}}}
YAML
}

# chart VERSION SERVED FIELDS: like public charts, with a subchart named crds and definitions in templates/crds
chart() {
	rm -rf "$dir/web"
	mkdir -p "$dir/web/templates/crds" "$dir/web/charts/crds/crds" "$dir/web/charts/crds/templates"
	printf 'apiVersion: v2\nname: web\nversion: %s\n' "$1" >"$dir/web/Chart.yaml"
	printf 'crds: {install: true}\n' >"$dir/web/values.yaml"
	printf 'apiVersion: v2\nname: crds\nversion: 1.0.0\n' >"$dir/web/charts/crds/Chart.yaml"
	printf '{{- if true }}\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: sub}\n{{- end }}\n' >"$dir/web/charts/crds/templates/a.yaml"
	definition sub v1 'a: {type: string}' >"$dir/web/charts/crds/crds/sub.YAML"
	{
		echo '{{- if .Values.crds.install }}'
		definition web "$2" "$3"
		echo '{{- end }}'
	} >"$dir/web/templates/crds/crd-web.yaml"
	alm package build "$dir/web" -o "${4:-$catalog}" >/dev/null
}

chart 1.0.0 v1 'size: {type: integer}, name: {type: string}'
out=$(alm catalog lint "$catalog" 2>&1)
is "a chart with templates/crds and a subchart named crds has no errors" "0 errors" "$(echo "$out" | grep -o '[0-9]* errors')"

up_start
k create -f - >/dev/null <<YAML
{apiVersion: app.coreos.com/v1alpha1, kind: Catalog, metadata: {name: ops}, spec: {source: {url: "dir://$catalog"}, interval: 5s}}
YAML
printf 'apiVersion: app.coreos.com/v1beta1\nkind: AppType\nmetadata: {name: web}\nspec: {type: io.ops}\n' | k create -f - >/dev/null
soon "it is installed" 1.0.0 k get apps web -o 'jsonpath={.status.installedVersion}'
is "and manages what its templates and its subchart define" "subs.x.io/v1 webs.x.io/v1" \
	"$(k get ist -o 'jsonpath={.items[0].spec.resources}' | jq -r '. | sort | join(" ")')"
is "both are there" "2" "$(k get crd subs.x.io webs.x.io -o name | wc -l)"

printf 'apiVersion: x.io/v1\nkind: Kweb\nmetadata: {name: one}\nspec: {size: 3, name: a}\n' | k create -f - >/dev/null
chart 2.0.0 v2 'size: {type: integer}, name: {type: string}'
soon "a version whose templates serve it no more is refused for that" ResourceDropped \
	k get apps web -o 'jsonpath={.status.candidates[?(@.version=="2.0.0")].reason}'

mkdir "$dir/next"
chart 1.1.0 v1 'size: {type: integer}' "$dir/next"
code "alm crd check sees what templates define, of an archive" 3 'FieldRemoved   webs.x.io/v1   spec.name' \
	alm crd check "$catalog/web-1.0.0.tgz" "$dir/next/web-1.1.0.tgz"
code "and of a folder" 3 'FieldRemoved   webs.x.io/v1   spec.name' alm crd check "$catalog/web-1.0.0.tgz" "$dir/web"

# As helm decides it.
if "$helm" version --short >/dev/null 2>&1; then
	is "alm template finds the CRD files that helm finds" "$("$helm" template web "$dir/web" --include-crds 2>&1)" \
		"$(alm template web "$dir/web" --include-crds 2>&1)"
else
	tests=$((tests + 1))
	echo "ok $tests - alm template finds the CRD files that helm finds # SKIP no helm (set HELM)"
fi
finish
