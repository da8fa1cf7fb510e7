#!/bin/bash
# The CRD gate in an upgrade (lifecycle.md 3): refused with findings in status, Event, metric and log; the
# upgrade goes on by itself when the object is changed or a waiver is added; a waiver covers one path only.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - gate in an upgrade # SKIP no kubectl"
	exit 0
}
crd() {
	cat <<-END
		apiVersion: apiextensions.k8s.io/v1
		kind: CustomResourceDefinition
		metadata:
		  name: widgets.example.org
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
		$(printf '%s\n' "$@" | sed 's/^/              /')
	END
}
# chart VERSION PROPERTY...: a package whose CRD has these properties of spec
chart() {
	local version=$1 c=$dir/chart
	shift
	rm -rf "$c"
	mkdir -p "$c/crds" "$c/templates"
	printf 'apiVersion: v2\nname: widget-operator\nversion: 0.0.0\n' >"$c/Chart.yaml"
	printf 'appType: widget.example.org\nprovides: [widgets.example.org/v1]\n' >"$c/alm.yaml"
	printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: widget-operator}\ndata: {version: "%s"}\n' "$version" \
		>"$c/templates/config.yaml"
	crd "$@" >"$c/crds/widgets.yaml"
	alm package build "$c" --version "$version" -o "$catalog" >/dev/null || not_ok "package $version builds"
}
widget() {
	k apply -f - >/dev/null <<-END
		{apiVersion: example.org/v1, kind: Widget, metadata: {name: "$1", namespace: default}, spec: {mode: $2${3-, size: 3}}}
	END
}
strategy() { k get ist "install.$1.widget.example.org" -o "jsonpath=$2"; }
blocked() { k get apptype widget -o 'jsonpath={.status.conditions[?(@.type=="UpgradeBlocked")].reason} {.status.availableVersion}'; }
installed() { k get apptype widget -o 'jsonpath={.status.installedVersion}'; }
gauge() { curl -s "http://$metrics/metrics" | grep '^alm_upgrade_blocked' | grep '1$'; }

up_start
manifests
chart 1.0.0 'mode: {type: string}' 'size: {type: integer}'
k create -f "$dir/catalog.yaml" >/dev/null
k create -f - >/dev/null <<'END'
{apiVersion: app.coreos.com/v1beta1, kind: AppType, metadata: {name: widget}, spec: {type: example.org}}
END
soon "1.0.0 is installed" "1.0.0" installed
widget a odd
widget b fast

chart 1.1.0 'mode: {type: string, enum: [fast, slow]}' 'size: {type: integer}'
soon "a value that an object has is taken away: blocked" "CRDIncompatible 1.1.0" blocked
is "the strategy is Blocked, and says why" "Blocked CRDIncompatible" \
	"$(strategy 1.1.0 '{.status.phase} {.status.conditions[?(@.type=="CRDCompatible")].reason}')"
is "the finding names rule, resource, path, outcome" "EnumNarrowed widgets.example.org/v1 spec.mode refuse" \
	"$(strategy 1.1.0 '{.status.plan.findings[0].rule} {.status.plan.findings[0].resource} {.status.plan.findings[0].path} {.status.plan.findings[0].outcome}')"
is "it counts the objects, and names the first" "1 of 2: default/a" \
	"$(strategy 1.1.0 '{.status.plan.findings[0].objects.affected} of {.status.plan.findings[0].objects.seen}: {.status.plan.findings[0].objects.first[0]}')"
warned() {
	k get events --field-selector involvedObject.name=widget,reason=UpgradeBlocked -o 'jsonpath={.items[0].type} {.items[0].message}' |
		grep -cF 'Warning 1.1.0: CRDIncompatible: EnumNarrowed widgets.example.org/v1 spec.mode:'
}
soon "an Event warns" 1 warned # it is written after the status
soon "the metric is set" 'alm_upgrade_blocked{app="widget",version="1.1.0",reason="CRDIncompatible",resource="widgets.example.org/v1"} 1' gauge
has "alm why says it" "no   CRDIncompatible" "$(alm why widget 2>&1)"
is "the log has the refusal as a decision, once" "1 deny EnumNarrowed 1.1.0" "$(alm audit query --type Decision --reason GateRefused -o json --data-dir "$data" |
	jq -r '"\(length) \(.[0].body.verdict) \(.[0].body.findings[0].rule) \(.[0].body.version.to)"')"
has "alm audit why-not has it" "GateRefused" "$(alm audit why-not "ist/$(k get ist -o 'jsonpath={.items[?(@.spec.version=="1.1.0")].metadata.name}')" --data-dir "$data" 2>&1)"
none "nothing of the version was written" k get crd widgets.example.org -o 'jsonpath={.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.mode.enum}'
writes() { k get auditrecords -o name | wc -l; }
rests "a blocked upgrade writes nothing while nothing changes" writes
widget a slow
soon "the object is changed: the upgrade goes on by itself" "1.1.0" installed
soon "the condition is gone with its cause" "NotBlocked 1.1.0" blocked
soon "the metric too" "" gauge

chart 1.2.0 'mode: {type: string, enum: [slow, lengthy]}'
soon "a field that objects have is taken away: blocked" "CRDIncompatible 1.2.0" blocked
is "both findings are told" "EnumNarrowed spec.mode FieldRemoved spec.size" \
	"$(strategy 1.2.0 '{range .status.plan.findings[*]}{.rule} {.path}{"\n"}{end}' | sort | xargs)"
waive() { k patch apptype widget --type=merge -p "{\"spec\":{\"upgrade\":{\"waivers\":[$1]}}}" >/dev/null; }
w1='{"rule":"FieldRemoved","resource":"widgets.example.org/v1","path":"spec.size","reason":"never read"}'
w2='{"rule":"EnumNarrowed","resource":"widgets.example.org/v1","path":"spec.mode","reason":"b goes"}'
waive "$w1"
soon "T5 a waiver of one finding leaves the other" "FieldRemoved waived EnumNarrowed refuse" \
	sh -c "kubectl get ist install.1.2.0.widget.example.org -o 'jsonpath={range .status.plan.findings[*]}{.rule} {.outcome}{\"\n\"}{end}' | sort -r | xargs"
is "T5 and it stays blocked" "CRDIncompatible 1.2.0" "$(blocked)"
waive "$w1,${w2/\"reason\"/\"expires\":\"2020-01-01T00:00:00Z\",\"reason\"}"
quiet_for 2
is "T5 an expired waiver covers nothing" "CRDIncompatible 1.2.0" "$(blocked)"
waive "$w1,$w2"
soon "both waived: the upgrade goes on by itself" "1.2.0" installed

k patch apptype widget --type=merge -p '{"spec":{"upgrade":{"mode":"Manual","waivers":null}}}' >/dev/null
chart 1.3.0 'mode: {type: string, maxLength: 4}'
soon "Manual: a warning waits for approval with the rest" "AwaitingApproval Warnings" \
	strategy 1.3.0 '{.status.phase} {.status.conditions[?(@.type=="CRDCompatible")].reason}'
digest=$(strategy 1.3.0 '{.status.plan.digest}')
k patch widget b --type=merge -p '{"spec":{"mode":"slow"}}' >/dev/null
widget c slow ''
quiet_for 3
is "objects that pass leave the plan as it is" "$digest" "$(strategy 1.3.0 '{.status.plan.digest}')"
widget c lengthy ''
soon "an object that fails now: Blocked" "Blocked CRDIncompatible" \
	strategy 1.3.0 '{.status.phase} {.status.conditions[?(@.type=="CRDCompatible")].reason}'
code "A23 approve is refused, with the finding" 3 "BoundTightened widgets.example.org/v1 spec.mode" alm approve widget 1.3.0 --reason x
k delete widget c >/dev/null
soon "the object goes: it waits for approval again" "AwaitingApproval $digest" strategy 1.3.0 '{.status.phase} {.status.plan.digest}'
alm approve widget 1.3.0 --reason ok >/dev/null
soon "approved: installed" "1.3.0" installed

k patch apptype widget --type=merge -p '{"spec":{"upgrade":{"mode":"Automatic"}}}' >/dev/null
chart 1.4.0 "mode: {type: string, maxLength: 4, x-kubernetes-validations: [{rule: \"self != 'slow'\"}]}"
soon "a rule that objects break, as the server evaluates it: blocked" "CRDIncompatible 1.4.0" blocked
is "the finding counts them" "CELChanged evaluated by the server 2" \
	"$(strategy 1.4.0 '{.status.plan.findings[0].rule} {.status.plan.findings[0].note} {.status.plan.findings[0].objects.affected}')"
none "the temporary CRD is gone" k get crd -l app.coreos.com/shadow -o name
k patch widget a --type=merge -p '{"spec":{"mode":"fast"}}' >/dev/null
k patch widget b --type=merge -p '{"spec":{"mode":"fast"}}' >/dev/null
soon "they are changed: installed" "1.4.0" installed

# The same gate by hand: files, folders, archives, the cluster.
crd "mode: {type: string, enum: [slow]}" >"$dir/narrow.yaml"
code "check live:NAME is judged by the cluster's objects" 3 "2 affected: default/a" alm crd check live:widgets.example.org "$dir/narrow.yaml"
code "check of archives" 3 "FieldRemoved" alm crd check "$catalog/widget-operator-1.0.0.tgz" "$catalog/widget-operator-1.3.0.tgz"
code "check of a folder" 3 "FieldRemoved" alm crd check "$catalog/widget-operator-1.0.0.tgz" "$dir/chart/crds"
code "diff of the cluster in words" 0 "spec.mode: " alm crd diff live:widgets.example.org "$dir/narrow.yaml"
if command -v script >/dev/null; then
	has "a terminal shows how many were read" "2 objects read" \
		"$(script -qec "$alm_bin crd check live:widgets.example.org $dir/narrow.yaml" /dev/null </dev/null)"
fi

# A drop is a major version.
mkdir "$dir/lint"
(catalog=$dir/lint; chart 1.0.0 'mode: {type: string}')
sed -i 's/v1/v2/' "$dir/chart/alm.yaml"
sed -i 's/- name: v1/- name: v2/' "$dir/chart/crds/widgets.yaml"
alm package build "$dir/chart" --version 2.0.0 -o "$dir/lint" >/dev/null
lacks "A25 a drop in a major version" alm catalog lint "$dir/lint" -- -o drop-in-minor
alm package build "$dir/chart" --version 1.1.0 -o "$dir/lint" >/dev/null
code "A25 and in a minor one" 1 "drop-in-minor" alm catalog lint "$dir/lint"

# Back to the version before: its objects, not its CRD.
alm rollback widget --to 1.3.0 --reason back >"$dir/rollback" 2>&1
soon "rolled back" "1.3.0" installed
is "a CRD is never downgraded" "1.4.0 self != 'slow'" "$(k get crd widgets.example.org -o \
	'jsonpath={.metadata.annotations.app\.coreos\.com/crd-version} {.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.mode.x-kubernetes-validations[0].rule}')"

# The stored version of a kind moves (lifecycle.md 7.5).
gadgets() {
	crd 'num: {type: integer}' | sed "s/widget/gadget/g; s/Widget/Gadget/g; s/storage: true/storage: $1/"
	crd 'num: {type: integer}' | sed "s/storage: true/storage: $2/; s/name: v1/name: v2/" | sed -n '/- name: v2/,$p'
}
gadgets true false | k apply -f - >/dev/null
soon "gadgets are served" "" k get gadgets -o name
for i in 1 2 3; do
	k create -f - >/dev/null <<-END
		{apiVersion: example.org/v1, kind: Gadget, metadata: {name: g$i, namespace: default}, spec: {num: $i}}
	END
done
code "7.5 only to the storage version" 3 "v2 is not the storage version of gadgets.example.org" alm crd migrate gadgets.example.org --to v2
next_second
gadgets false true | k apply -f - >/dev/null
is "7.5 --dry-run only counts" "3 objects would be written as v2" "$(alm crd migrate gadgets.example.org --to v2 --dry-run)"
next_second
k patch gadgets.v1.example.org g2 --type=merge -p '{"spec":{"num":9}}' >/dev/null
code "7.5 refused while somebody writes the old version" 3 "kubectl-patch: default/g2" alm crd migrate gadgets.example.org --to v2
is "7.5 told to: all are written" "3 objects written as v2; storedVersions [v1 v2] -> [v2]" \
	"$(alm crd migrate gadgets.example.org --to v2 --ignore-writers 2>/dev/null)"
is "7.5 the list is trimmed" '["v2"]' "$(k get crd gadgets.example.org -o 'jsonpath={.status.storedVersions}')"
rows() { k get auditrecords -o json | jq -r '.items[] | select(.type == "Write" and .subject.kind == "Gadget" and .body.verb == "update" and .body.outcome == "Applied") | .body.apiVersion' | sort | uniq -c | xargs; }
command -v jq >/dev/null && is "7.5 every write that changes what is stored is in the log" "2 example.org/v2" "$(rows)" # g2 is stored as v2 since kubectl-patch
if command -v script >/dev/null; then
	has "7.5 a terminal shows a bar" "[##############################] 3 of 3" \
		"$(script -qec "$alm_bin crd migrate gadgets.example.org --to v2 --ignore-writers" /dev/null </dev/null)"
fi
has "the log is whole, and replays" "replayed: " "$(alm audit verify --replay --data-dir "$data" 2>&1)"
finish
