#!/bin/bash
# Releases that helm made go on as ALM's, and ALM's are helm's to read and change: history, objects, values, fields
# and CRDs of both. With the real helm (HELM, PATH or the oracles) where there is one; else what helm 4.1.4 left
# is replayed (helm/helm-release*.json: record and objects of this test's chart).
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
recorded=$PWD/tests/e2e/helm
command -v kubectl >/dev/null || {
	echo "ok 1 - takeover # SKIP no kubectl"
	echo "1..1"
	exit 0
}
helm=${HELM:-$(command -v helm || echo "$(getent passwd "$(id -u)" | cut -d: -f6)/.cache/alm-oracles/bin/helm")}
helm() { timeout 60 "$helm" "$@" 2>&1; }
cluster_start
manifests
cd "$dir" || exit 1

mkdir -p web/templates web/crds
# definition SINGULAR KIND
definition() {
	cat <<-END
		apiVersion: apiextensions.k8s.io/v1
		kind: CustomResourceDefinition
		metadata: {name: $1s.example.com}
		spec:
		  group: example.com
		  scope: Namespaced
		  names: {plural: $1s, singular: $1, kind: $2, listKind: $2List}
		  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
	END
}
definition gear Gear >web/crds/gear.yaml
# chart VERSION: web as of this version, in $dir/web
chart() {
	printf 'apiVersion: v2\nname: web\nversion: %s\n' "$1" >web/Chart.yaml
	cat >web/templates/all.yaml <<-END
		apiVersion: v1
		kind: ConfigMap
		metadata: {name: web}
		data:
		  version: "$1"
		  upgrade: {{ .Release.IsUpgrade | quote }}
		  color: {{ .Values.color | quote }}
		$([ "$1" = 1.0.0 ] && echo '  former: "yes"')
		---
		apiVersion: v1
		kind: ConfigMap
		metadata: {name: kept, annotations: {helm.sh/resource-policy: keep}}
		---
		apiVersion: v1
		kind: Service
		metadata: {name: web}
		spec: {ports: [{port: 80}], selector: {app: web}}
	END
	echo 'color: red' >web/values.yaml
	rm -f web/templates/old.yaml
	definition bolt Bolt >web/templates/bolt.yaml # a definition that came with 1.1.0, among the templates
	[ "$1" != 1.0.0 ] || rm web/templates/bolt.yaml
	[ "$1" != 1.0.0 ] || cat >web/templates/old.yaml <<-'END'
		apiVersion: v1
		kind: ConfigMap
		metadata: {name: old}
	END
}
# app NAME [SPEC]: an AppType of package web
app() {
	cat <<-END
		apiVersion: app.coreos.com/v1beta1
		kind: AppType
		metadata: {name: $1}
		spec: {type: com.example, package: web, ${2:-}upgrade: {mode: Automatic}}
	END
}
# release NAME: what `helm install NAME web --set color=blue` of 1.0.0 leaves
release() {
	chart 1.0.0
	namespace_for "$1"
	if [ -x "$helm" ]; then
		helm install "$1" ./web -n "$1" --set color=blue >/dev/null
		return
	fi
	sed "s/RELEASE/$1/g" "$recorded/helm-release-objects.json" >"$1.json"
	k apply --server-side --field-manager=helm -f "$1.json" -f web/crds/gear.yaml >/dev/null
	k create secret generic "sh.helm.release.v1.$1.v1" -n "$1" --type=helm.sh/release.v1 \
		"--from-literal=release=$(sed "s/RELEASE/$1/g" "$recorded/helm-release.json" | gzip -n | base64 -w0)" >/dev/null
	k label secret "sh.helm.release.v1.$1.v1" -n "$1" "name=$1" owner=helm status=deployed version=1 "modifiedAt=$(date +%s)" >/dev/null
}
# The definitions are given to the app, as its namespace is.
give_crds() { k get crd -o name | grep 'example\.com$' | xargs -I{} kubectl annotate {} --overwrite "app.coreos.com/owner=$1.com.example" >/dev/null; }
data() { k get configmap "$2" -n "$1" -o "jsonpath={.data.$3}"; }
configmaps() { k get configmaps -n "$1" -o name | grep -v kube-root-ca | sed 's|configmap/||' | sort | xargs; }
records() { k get secrets -n "$1" -l "owner=helm,name=$1" -o 'jsonpath={range .items[*]}{.metadata.labels.version} {.metadata.labels.status}{"\n"}{end}' | sort -n; }
blocked() { k get ist -o "jsonpath={.items[?(@.spec.appTypeRef.name=='$1')].status.conditions[?(@.type=='PlanReady')].reason}"; }
message() { k get ist -o "jsonpath={.items[?(@.spec.appTypeRef.name=='$1')].status.conditions[?(@.type=='PlanReady')].message}"; }

# A release of helm
release shop
[ "$(records shop)" = "1 deployed" ] || not_ok "helm has a release" "$(records shop)"
uid=$(k get configmap web -n shop -o 'jsonpath={.metadata.uid}')
chart 1.1.0
alm package build web -o "$catalog" >/dev/null
app shop >app.yaml
k create -f catalog.yaml -f app.yaml >/dev/null
timeout 60 sh -c 'until kubectl get ist -o name | grep -q .; do sleep 0.3; done' 2>/dev/null
soon "values that only helm knows are not dropped" ValuesNotTaken blocked shop
has "it says which" "release shop in shop has values that helm was given" "$(message shop)"
is "nothing has changed" "blue 1 deployed" "$(data shop web color) $(records shop)"
if [ -x "$helm" ]; then
	run_step "the step takes them" "$(next_steps shop)"
	is "all of them" '{"color":"blue"}' "$(k get apptype shop -o 'jsonpath={.spec.values}')"
else
	k patch apptype shop --type merge -p '{"spec":{"values":{"color":"blue"}}}' >/dev/null
fi
soon "a definition that says nothing of the app is not taken" Forbidden blocked shop
has "it is named" "CRD gears.example.com was there before and is marked for nobody" "$(message shop)"
give_crds shop
is "takeover" "apptype.app.coreos.com/shop" "$(app_is shop "status.installedVersion = '1.1.0'" 2>&1)"
is "the history goes on" "1 superseded
2 deployed" "$(records shop)"
is "the object is the same, changed, and it was an upgrade" "$uid 1.1.0 blue true" \
	"$(k get configmap web -n shop -o 'jsonpath={.metadata.uid} {.data.version} {.data.color} {.data.upgrade}')"
none "a field that left the chart is gone" data shop web former
is "an object that left the chart is gone, but for what is kept" "kept web" "$(configmaps shop)"
is "our field manager has it all" "alm" \
	"$(k get configmap web -n shop --show-managed-fields -o json | jq -r '[.metadata.managedFields[].manager] | unique | join(" ")')"

if [ -x "$helm" ]; then
	history() { helm history "$1" -n "$1" -o json | jq -r '.[] | "\(.revision) \(.status) \(.chart) \(.description)"'; }
	but_bolt() { awk 'BEGIN {RS = "---\n"} !/templates\/bolt.yaml/ {printf "%s", $0}'; }
	is "helm history" "1 superseded web-1.0.0 Install complete
2 deployed web-1.1.0 Upgrade complete" "$(history shop)"
	is "helm list" "shop 2 deployed web-1.1.0" "$(helm list -n shop -o json | jq -r '.[] | "\(.name) \(.revision) \(.status) \(.chart)"')"
	is "helm get values" '{"color":"blue"}' "$(helm get values shop -n shop -o json)"
	is "helm get manifest" "$(helm template shop ./web -n shop --is-upgrade --set color=blue | but_bolt)" \
		"$(helm get manifest shop -n shop | but_bolt)"
	k create -f - >/dev/null <<-'END'
		{"apiVersion": "example.com/v1", "kind": "Bolt", "metadata": {"name": "precious", "namespace": "shop"}}
	END
	has "helm rollback" "Rollback was a success" "$(helm rollback shop 1 -n shop)"
	soon "the AppType wants 1.1.0: repaired, and history says so" "1 superseded web-1.0.0 Install complete
2 superseded web-1.1.0 Upgrade complete
3 superseded web-1.0.0 Rollback to 1
4 deployed web-1.1.0 Repaired as its AppType wants it" history shop
	is "with its data" "1.1.0 blue" "$(data shop web version) $(data shop web color)"
	has "helm uninstall" 'release "shop" uninstalled' "$(helm uninstall shop -n shop)"
	is "neither took the definition of the templates and what is stored by it" "precious" \
		"$(k get bolt precious -n shop -o 'jsonpath={.metadata.name}')"
	soon "comes back, for its AppType is there" "4 deployed" records shop
	soon "with its objects" "kept web" configmaps shop
else
	ok "helm reads and changes it # SKIP no helm (set HELM)"
fi
k delete apptype shop >/dev/null
soon "without its AppType nothing of it comes back" "kept" configmaps shop
soon "nor its records" "" records shop
is "the CRDs of crds/ and templates stay" "bolts.example.com gears.example.com" \
	"$(k get crd -o name | grep example.com | sed 's|.*/||' | sort | xargs)"

# What may not be taken
namespace_for other
give_crds other
k create configmap web -n other >/dev/null
k label configmap web -n other app.kubernetes.io/managed-by=Helm >/dev/null
k annotate configmap web -n other meta.helm.sh/release-name=theirs meta.helm.sh/release-namespace=other >/dev/null
app other 'values: {color: blue}, ' | k create -f - >/dev/null
soon "another release's object" ObjectNotOwned blocked other
has "is named with its owner" "ConfigMap/other/web belongs to release theirs in other" "$(message other)"
step=$(next_steps other | head -1)
k delete apptype other >/dev/null
soon "removed, it leaves what it never had" "web" configmaps other
run_step "the step gives it to the release" "$step"
is "by helm's marks" "Helm other" "$(k get configmap web -n other -o 'jsonpath={.metadata.labels.app\.kubernetes\.io/managed-by} {.metadata.annotations.meta\.helm\.sh/release-name}')"
release busy
give_crds busy
k label secret sh.helm.release.v1.busy.v1 -n busy --overwrite status=pending-upgrade "modifiedAt=$(date +%s)" >/dev/null
app busy 'values: {color: blue}, ' | k create -f - >/dev/null
soon "helm at work is waited for" OtherInProgress blocked busy
[ ! -x "$helm" ] || run_step "the step shows what it does" "$(next_steps busy)"
k label secret sh.helm.release.v1.busy.v1 -n busy --overwrite status=pending-upgrade "modifiedAt=$(($(date +%s) - 3600))" >/dev/null
is "a helm that was killed is not" "apptype.app.coreos.com/busy" "$(app_is busy "status.installedVersion = '1.1.0'" 2>&1)"
rm -rf web/templates/* web/crds
printf 'apiVersion: v2\nname: side\nversion: 1.0.0\n' >web/Chart.yaml
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: side}\n' >web/templates/side.yaml
alm package build web -o "$catalog" >/dev/null
k annotate namespace busy --overwrite app.coreos.com/apps=busy,side >/dev/null
app side 'installNamespace: busy, ' | sed 's/package: web/package: side/' | k create -f - >/dev/null
is "another app may live in its namespace" "apptype.app.coreos.com/side" "$(app_is side "status.installedVersion = '1.0.0'" 2>&1)"
is "which nobody has changed" "busy,side" "$(k get namespace busy -o 'jsonpath={.metadata.annotations.app\.coreos\.com/apps}{.metadata.labels.app\.coreos\.com/app}')"
is "its record failed" "1 failed
2 deployed" "$(records busy)"
release third
app third | sed 's/package: web/package: side/' | k create -f - >/dev/null
soon "a release of another chart" ObjectNotOwned blocked third
has "is named" "release third in third is chart web, made by helm; this is chart side" "$(message third)"
if [ -x "$helm" ]; then
	run_step "the step removes it" "$(next_steps third)"
	is "and the app is installed" "apptype.app.coreos.com/third" "$(app_is third "status.installedVersion = '1.0.0'" 2>&1)"
fi
steps_ran
finish
