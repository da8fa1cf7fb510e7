#!/bin/bash
# The way back when a custom resource of the older chart has a field that the newer CRD lacks: a dry run tells it
# before anything is written (lifecycle.md 7.4): to `alm rollback`, to who sets spec.upgrade.to, and to a failed upgrade.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - rollback that is refused # SKIP no kubectl"
	exit 0
}
# chart VERSION SPEC PROPERTY...: a CRD whose spec has these texts, and an object of it
chart() {
	local version=$1 spec=$2 c=$dir/chart p
	shift 2
	rm -rf "$c/crds"
	mkdir -p "$c/crds" "$c/templates"
	printf 'apiVersion: v2\nname: widget-operator\nversion: 0.0.0\n' >"$c/Chart.yaml"
	printf 'appType: widget.example.org\nprovides: [widgets.example.org/v1]\n' >"$c/alm.yaml"
	printf 'apiVersion: example.org/v1\nkind: Widget\nmetadata: {name: main}\nspec: %s\n' "$spec" >"$c/templates/widget.yaml"
	cat >"$c/crds/widgets.yaml" <<-END
		apiVersion: apiextensions.k8s.io/v1
		kind: CustomResourceDefinition
		metadata: {name: widgets.example.org}
		spec:
		  group: example.org
		  scope: Namespaced
		  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
		  versions:
		  - name: v1
		    served: true
		    storage: true
		    schema:
		      openAPIV3Schema:
		        type: object
		        properties:
		          spec:
		            type: object
		            properties:
	END
	for p in "$@"; do echo "              $p: {type: string}"; done >>"$c/crds/widgets.yaml"
	alm package build "$c" --version "$version" -o "$catalog" >/dev/null || not_ok "package $version builds"
}
installed() { k get apptype widget -o 'jsonpath={.status.installedVersion}'; }
strategy() { k get ist "install.$1.widget.example.org" -o "jsonpath=$2"; }
upgrade_to() { k patch apptype widget --type=merge -p "{\"spec\":{\"upgrade\":{\"to\":$1}}}" >/dev/null; }

up_start
manifests
chart 1.0.0 '{mode: a, size: b, tag: c}' mode size tag
k create -f "$dir/catalog.yaml" >/dev/null
k create -f - >/dev/null <<'END'
apiVersion: app.coreos.com/v1beta1
kind: AppType
metadata: {name: widget}
spec:
  type: example.org
  upgrade:
    waivers:
    - {rule: FieldRemoved, resource: widgets.example.org/v1, path: spec.size, reason: test}
    - {rule: FieldRemoved, resource: widgets.example.org/v1, path: spec.tag, reason: test}
END
soon "1.0.0 is installed" "1.0.0" installed
chart 2.0.0 '{mode: a, tag: c}' mode tag
soon "2.0.0, which has a field less, is installed" "2.0.0" installed

generation=$(k get apptype widget -o 'jsonpath={.metadata.generation}')
code "--dry-run tells the object and the field" 3 "RollbackRefused: Widget main of 1.0.0: " alm rollback widget --to 1.0.0 --dry-run
code "and so does the real one" 3 ".spec.size: field not declared in schema" alm rollback widget --to 1.0.0 --reason back
is "which has asked for nothing" "$generation" "$(k get apptype widget -o 'jsonpath={.metadata.generation}')"

upgrade_to '"1.0.0"'
soon "asked for by hand: Blocked before it begins" "Blocked RollbackRefused" \
	strategy 1.0.0 '{.status.phase} {.status.conditions[?(@.type=="PlanReady")].reason}'
decided() { alm audit query --type Decision --reason RollbackRefused -o json --data-dir "$data" | jq -r '"\(length) \(.[-1].body.verdict) \(.[-1].body.version.to)"'; }
is "the log has the decision" "1 deny 1.0.0" "$(decided)"
has "the condition has the server's words" ".spec.size: field not declared in schema" \
	"$(strategy 1.0.0 '{.status.conditions[?(@.type=="PlanReady")].message}')"
has "the steps lead out" "kubectl patch apptype widget" "$(strategy 1.0.0 '{.status.steps}')"
is "what runs is untouched" "2.0.0 True" "$(k get apptype widget -o \
	'jsonpath={.status.installedVersion} {.status.conditions[?(@.type=="Ready")].status}')"
run_step "the step, as it stands" "$(strategy 1.0.0 '{.status.steps[0]}')"
soon "ends it" "" k get apptype widget -o 'jsonpath={.spec.upgrade.to}'

cat >"$dir/chart/templates/hook.yaml" <<'END'
apiVersion: batch/v1
kind: Job
metadata: {name: never, annotations: {helm.sh/hook: post-upgrade}}
spec: {backoffLimit: 0, template: {spec: {restartPolicy: Never, containers: [{name: c, image: "job:fail"}]}}}
END
chart 3.0.0 '{mode: a}' mode
soon "an upgrade that fails and cannot go back says so at once" "Failed RollbackRefused" \
	strategy 3.0.0 '{.status.phase} {.status.conditions[?(@.type=="RolledBack")].reason}'
has "with the field" ".spec.tag: field not declared in schema" \
	"$(strategy 3.0.0 '{.status.conditions[?(@.type=="RolledBack")].message}')"
is "and so the log" "2 deny 3.0.0" "$(decided)"
steps_ran
up_stop
finish
