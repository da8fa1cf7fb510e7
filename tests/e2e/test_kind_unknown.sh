#!/bin/bash
# A chart with a kind that the server does not know (a PodSecurityPolicy, the custom resource of an operator that is not
# there) is refused before its first write, as helm does; it goes on by itself once the kind is served.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - a kind that is not known # SKIP no kubectl"
	exit 0
}
mkdir -p "$dir/web/templates"
printf 'apiVersion: v2\nname: web\nversion: 1.0.0\n' >"$dir/web/Chart.yaml"
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n' >"$dir/web/templates/a.yaml"
printf 'apiVersion: mon.example.org/v1\nkind: Monitor\nmetadata: {name: web}\nspec: {}\n' >"$dir/web/templates/b.yaml"
alm package build "$dir/web" -o "$catalog" >/dev/null
up_start
manifests
k create -f "$dir/catalog.yaml" >/dev/null
k create -f - >/dev/null <<'END'
{apiVersion: app.coreos.com/v1beta1, kind: AppType, metadata: {name: web}, spec: {type: io.ops}}
END
strategy() { k get ist install.1.0.0.web.io.ops -o "jsonpath=$1"; }
soon "it is Blocked, and says why" "Blocked KindNotServed" \
	strategy '{.status.phase} {.status.conditions[?(@.type=="PlanReady")].reason}'
has "the object and its kind are named" "Monitor web: mon.example.org/v1" \
	"$(strategy '{.status.conditions[?(@.type=="PlanReady")].message}')"
run_step "the step shows what the server has" "$(next_steps web)"
none "nothing was written" k get configmap -n web web -o name --ignore-not-found
k create -f - >/dev/null <<'END'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: monitors.mon.example.org}
spec:
  group: mon.example.org
  scope: Namespaced
  names: {plural: monitors, kind: Monitor}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
END
soon "with the CRD it gets on: now rights are missing" "Forbidden" \
	strategy '{.status.conditions[?(@.type=="PlanReady")].reason}'
alm rbac web --to 1.0.0 | k apply -f - >/dev/null
soon "and is installed" 1.0.0 k get apps web -o 'jsonpath={.status.installedVersion}'
steps_ran
finish
