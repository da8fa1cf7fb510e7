#!/bin/bash
# What the CRD gate refuses rightly is accepted by one command, which is printed and runs as it stands: 1, 20 and 500
# findings; waivers that the app has already stay; names of fields that mean something to a shell.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
for need in kubectl jq; do
	command -v $need >/dev/null || {
		echo "ok 1 - waivers # SKIP no $need"
		exit 0
	}
done
# names FROM TO: of fields
names() { seq -f 'field%03g' "$1" "$2"; }
# chart VERSION NAME...: a package whose CRD has these fields of spec
chart() {
	local version=$1 c=$dir/chart
	shift
	mkdir -p "$c/crds" "$c/templates"
	printf 'apiVersion: v2\nname: widget-operator\nversion: 0.0.0\n' >"$c/Chart.yaml"
	printf 'appType: widget.example.org\nprovides: [widgets.example.org/v1]\n' >"$c/alm.yaml"
	printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: widget-operator}\ndata: {version: "%s"}\n' "$version" \
		>"$c/templates/config.yaml"
	printf '%s\n' "$@" | jq -Rn '{apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition",
		metadata: {name: "widgets.example.org"}, spec: {group: "example.org", scope: "Namespaced",
		names: {plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList"},
		versions: [{name: "v1", served: true, storage: true, schema: {openAPIV3Schema: {type: "object", properties: {
		spec: {type: "object", properties: ([inputs | {(.): {type: "string"}}] | add)}}}}}]}}' >"$c/crds/widgets.json"
	mv "$c/crds/widgets.json" "$c/crds/widgets.yaml"
	alm package build "$c" --version "$version" -o "$catalog" >/dev/null || not_ok "package $version builds"
}
# widget NAME FIELD...
widget() {
	local name=$1
	shift
	printf '%s\n' "$@" | jq -Rn --arg name "$name" '{apiVersion: "example.org/v1", kind: "Widget",
		metadata: {name: $name, namespace: "default"}, spec: ([inputs | {(.): "x"}] | add)}' | k create -f - >/dev/null
}
step() { k get ist "install.$1.widget.example.org" -o json | jq -r '.status.steps[0]'; }
blocked() { k get apptype widget -o 'jsonpath={.status.conditions[?(@.type=="UpgradeBlocked")].reason} {.status.availableVersion}'; }
installed() { k get apptype widget -o 'jsonpath={.status.installedVersion}'; }
waivers() { k get apptype widget -o json | jq -r ".spec.upgrade.waivers | $1"; }

up_start
manifests
hostile="it's \$(touch $dir/hacked) # \`x\`"
# shellcheck disable=SC2046
chart 1.0.0 keep "$hostile" $(names 1 520)
k create -f "$dir/catalog.yaml" >/dev/null
k create -f - >/dev/null <<'END'
{apiVersion: app.coreos.com/v1beta1, kind: AppType, metadata: {name: widget}, spec: {type: example.org}}
END
soon "1.0.0 is installed" "1.0.0" installed
# shellcheck disable=SC2046
widget a keep "$hostile" $(names 1 520)
widget b keep
k patch apptype widget --type=merge -p '{"spec":{"upgrade":{"waivers":[
	{"rule":"FieldRemoved","resource":"others.example.org/v1","path":"spec.x","reason":"it'"'"'s #1","expires":"2099-01-01T00:00:00Z"},
	{"rule":"FieldRemoved","resource":"widgets.example.org/v1","path":"spec.field001","reason":"old","expires":"2020-01-01T00:00:00Z"}]}}}' >/dev/null

# --- one, of a name that a shell would read ---
# shellcheck disable=SC2046
chart 1.1.0 keep $(names 1 520)
soon "one field goes that an object has: blocked" "CRDIncompatible 1.1.0" blocked
has "the step says what it accepts, and of how many objects" "accepts 1 finding: FieldRemoved widgets.example.org/v1 spec.it's" "$(step 1.1.0)"
has "counted" "(1 of 2 objects)" "$(step 1.1.0)"
code "alm why-not prints the command" 3 "  1. kubectl patch apptype widget --type=merge -p '{" alm why-not widget 1.1.0
has "alm status too" "next: kubectl patch apptype widget --type=merge -p '{" "$(alm status)"
has "the console and the alert have it of the candidate" "kubectl patch apptype widget" \
	"$(k get apptype widget -o json | jq -r '.status.candidates[] | select(.version == "1.1.0") | .steps[0]')"
is "the whole step runs as it stands, with its comment" "apptype.app.coreos.com/widget patched" "$(step 1.1.0 | sh 2>&1)"
soon "the upgrade goes on" "1.1.0" installed
is "nothing else was run" "no" "$([ -e "$dir/hacked" ] && echo yes || echo no)"
is "the waivers of before are there as they were" "spec.x it's #1 2099-01-01T00:00:00Z spec.field001 old 2020-01-01T00:00:00Z" \
	"$(waivers '.[:2][] | "\(.path) \(.reason) \(.expires)"' | xargs -d '\n')"
is "the new one has its reason" "FieldRemoved accepted for 1.1.0: 1 of 2 objects affected" "$(waivers '.[2] | "\(.rule) \(.reason)"')"

# --- twenty, one of them waived until it expired ---
# shellcheck disable=SC2046
chart 1.2.0 keep $(names 21 520)
soon "20 fields go: blocked" "CRDIncompatible 1.2.0" blocked
line=$(alm why-not widget 1.2.0 | sed -n 's/^  1\. //p')
has "one command has all 20" "kubectl patch apptype widget --type=merge -p '{" "$line"
run_step "run as it stands" "$line"
is "it does" "apptype.app.coreos.com/widget patched" "$said"
soon "the upgrade goes on" "1.2.0" installed
is "the expired waiver was replaced, the others stay" "22 accepted for 1.2.0: 1 of 2 objects affected" \
	"$(waivers '"\(length) \(.[] | select(.path == "spec.field001") | .reason)"')"

# --- five hundred ---
chart 1.3.0 keep
soon "500 fields go: blocked" "CRDIncompatible 1.3.0" blocked
line=$(alm why-not widget 1.3.0 | sed -n 's/^  1\. //p')
is "what is beyond the line goes through alm why-not -o yaml" \
	"alm why-not widget 1.3.0 -o yaml | kubectl patch apptype widget --type=merge --patch-file=/dev/stdin" "$line"
has "the first are told, the rest is counted" "and 480 more" "$(alm why-not widget 1.3.0)"
alm why-not widget 1.3.0 -o yaml >"$dir/waivers.yaml"
is "as a file: 522 waivers" 522 "$(grep -c '^    - ' "$dir/waivers.yaml")"
is "each with the number of objects" 500 "$(grep -c 'reason: .accepted for 1.3.0: 1 of 2 objects affected' "$dir/waivers.yaml")"
run_step "run as it stands" "$line"
is "it does" "apptype.app.coreos.com/widget patched" "$said"
soon "the upgrade goes on" "1.3.0" installed
code "there is nothing to waive then" 3 "the CRD gate refuses nothing of widget 1.3.0 that waivers would lift" alm why-not widget 1.3.0 -o yaml

# --- the limit, and what no waiver covers ---
many=$(jq -cn '[range(1001) | {rule: "FieldRemoved", resource: "a.b/v1", path: "spec.f\(.)", reason: "x"}]')
printf '{"spec":{"upgrade":{"waivers":%s}}}' "$many" >"$dir/many.json"
code "1000 waivers are the limit, by name of the field" 1 "spec.upgrade.waivers: Too many: 1001: must have at most 1000 items" \
	k patch apptype widget --type=merge --patch-file "$dir/many.json"
chart 2.0.0 keep
sed -i 's/"Namespaced"/"Cluster"/' "$dir/chart/crds/widgets.yaml"
alm package build "$dir/chart" --version 2.0.0 -o "$catalog" >/dev/null
soon "the scope changes: blocked" "CRDIncompatible 2.0.0" blocked
has "no waiver is offered, and why" "no waiver covers ServerRefused" "$(step 2.0.0)"
run_step "and the step shows the finding" "$(step 2.0.0)"
has "as it is" "spec.scope: Invalid value: \"Cluster\": field is immutable" "$said"
is "none in the plan" null "$(k get ist install.2.0.0.widget.example.org -o json | jq .status.plan.waivers)"
has "the log is whole, and replays" "replayed: " "$(alm audit verify --replay --data-dir "$data" 2>&1)"
steps_ran
finish
