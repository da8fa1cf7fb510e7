#!/bin/bash
# Every step printed anywhere is a command that runs as it stands: the table of steps.txt is whole (tests/lint/steps.py),
# and here run those that no other script has a reason to run.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
none "every step is made in one place, begins with a program, and has a script that runs it" both python3 tests/lint/steps.py
command -v kubectl >/dev/null || {
	echo "ok 2 - steps # SKIP no kubectl"
	finish
	exit 0
}
metrics=off
up_start
manifests
cd "$dir" || exit 1
patch() { k patch apptype etcd --type=merge -p "$1" >/dev/null; }
reason() { k get apptype "${1:-etcd}" -o "jsonpath={.status.conditions[?(@.type==\"${2:-Ready}\")].reason}"; }
installed() { k get apptype "${1:-etcd}" -o 'jsonpath={.status.installedVersion}'; }
candidate() { k get apptype "${3:-etcd}" -o json | jq -r ".status.candidates[]? | select(.version == \"$1\") | $2"; }
first_step() { alm why-not "$@" | sed -n 's/^  1\. //p'; } # APP VERSION

printf '{apiVersion: app.coreos.com/v1alpha1, kind: Catalog, metadata: {name: lost}, spec: {source: {url: "dir:///nowhere"}}}\n' | k create -f - >/dev/null
soon "a catalog that cannot be read" "alm describe catalog lost" next_steps
run_step "its step" "$(next_steps)"
k delete catalog lost >/dev/null
k create -f catalog.yaml -f etcd-apptype.yaml >/dev/null
soon "an app without a package" "alm why etcd" next_steps
run_step "its step" "$(next_steps etcd)"
package 0.9.4 >/dev/null
soon "is installed" 0.9.4 installed

# --- versions that wait ---
patch '{"spec":{"upgrade":{"mode":"None"}}}'
package 0.9.5 >/dev/null
soon "mode None" ModeNone reason etcd UpgradeAvailable
run_step "its step" "$(next_steps etcd)"
soon "installs it" 0.9.5 installed
patch '{"spec":{"paused":true,"upgrade":{"to":null,"mode":"Automatic"}}}'
package 0.9.6 >/dev/null
soon "a pause" Paused reason etcd UpgradeAvailable
run_step "its step" "$(next_steps etcd | head -1)"
soon "installs it" 0.9.6 installed
run_step "back: the step of a lower version" "$(first_step etcd 0.9.5 --offline --catalog "$catalog" --installed 0.9.6)"
soon "goes there" 0.9.5 installed
patch '{"spec":{"version":"<0.9.6","upgrade":{"to":null}}}'
soon "out of range" OutOfRange candidate 0.9.6 .reason
patch '{"spec":{"upgrade":{"mode":"Manual"}}}'
run_step "the step widens the range" "$(first_step etcd 0.9.6)"
soon "which asks for approval" AwaitingApproval reason
run_step "its step" "$(next_steps etcd | head -1)"
soon "installs it" 0.9.6 installed
patch '{"spec":{"version":"*","upgrade":{"mode":"Automatic","deadlines":{"verifying":"banana"}}}}'
mkdir next && cp -R "$demo/charts/etcd-operator" next/ && cp -R "$demo/charts/overlays/0.9.6/." next/etcd-operator/
alm package build next/etcd-operator --version 0.9.7 -o "$catalog" >/dev/null
soon "what cannot be read" Unreadable reason etcd UpgradeAvailable
run_step "its step opens an editor" "$(next_steps etcd | head -1)"
patch '{"spec":{"upgrade":{"deadlines":{"verifying":"2s"}},"values":{"image":{"tag":"x-fail"}}}}'
soon "a version that fails" PreviouslyFailed candidate 0.9.7 .reason
with_kubectl=$(candidate 0.9.7 '.kubectl[0]')
run_step "its step" "$(first_step etcd 0.9.7)"
run_step "the same with kubectl alone" "$with_kubectl"
patch '{"spec":{"version":"<0.9.7","values":{"image":null}}}'
soon "out of range it is no trouble" 0.9.6 installed

# --- what goes, what is missing ---
steps_of() { k get ist -o json | jq -r ".items[] | select(.spec.appTypeRef.name | startswith(\"$1\")) | .status.steps[]?"; }
gear() { # VERSION DEFINITIONS PROVIDED: a package with a CRD
	mkdir -p gear/crds
	printf 'apiVersion: v2\nname: gear\nversion: %s\n' "$1" >gear/Chart.yaml
	printf 'provides: [%s]\n' "$3" >gear/alm.yaml
	cat >gear/crds/gears.yaml <<-END
		apiVersion: apiextensions.k8s.io/v1
		kind: CustomResourceDefinition
		metadata: {name: gears.example.com}
		spec:
		  group: example.com
		  scope: Namespaced
		  names: {plural: gears, singular: gear, kind: Gear, listKind: GearList}
		  versions: [$2]
	END
	alm package build gear -o "$catalog" >/dev/null
}
v() { echo "{name: $1, served: true, storage: $2, schema: {openAPIV3Schema: {type: object}}}"; }
app() { printf '{apiVersion: app.coreos.com/v1beta1, kind: AppType, metadata: {name: %s}, spec: {type: com.example%s}}\n' "$1" "${2:+, $2}" | k create -f - >/dev/null; }
gear 1.0.0 "$(v v1 false), $(v v2 true)" "gears.example.com/v1, gears.example.com/v2"
k create -f gear/crds/gears.yaml >/dev/null
k annotate crd gears.example.com app.coreos.com/owner=other.com.example >/dev/null
app other 'package: none'
app gear
soon "a definition of another app" ResourceConflict candidate 1.0.0 .reason gear
run_step "its step" "$(first_step gear 1.0.0)"
soon "takes it" 1.0.0 installed gear
gear 2.0.0 "$(v v2 true)" gears.example.com/v2
soon "a version goes that nothing is stored in" ResourceDropped candidate 2.0.0 .reason gear
run_step "its step" "$(first_step gear 2.0.0)"
soon "accepts that" 2.0.0 installed gear
sum=$(sha256sum "$catalog"/etcd-operator-0.9.6.tgz | cut -c1-64)
printf 'apiVersion: opinstaller.coreos.com/v1beta1\nkind: InstallStrategy\nmetadata: {name: hand}\nspec: {appTypeRef: {name: etcd}, version: 7.0.0, strategy: {type: helm, helmChart: etcd-operator, sha256: %s, image: x}}\n' "$sum" |
	k create -f - >/dev/null
soon "what is not supported" "alm why-not etcd 7.0.0" eval "next_steps etcd | grep 7.0.0"
run_step "its step" "$(next_steps etcd | grep 7.0.0)"
k delete ist hand >/dev/null

# --- accounts ---
mkdir -p plain/templates
printf 'apiVersion: v2\nname: plain\nversion: 1.0.0\n' >plain/Chart.yaml
printf '{apiVersion: v1, kind: ConfigMap, metadata: {name: plain}}\n' >plain/templates/c.yaml
alm package build plain -o "$catalog" >/dev/null
app plain 'installNamespace: kube-extra'
soon "a namespace that ALM does not make" "kubectl create namespace kube-extra" eval 'steps_of plain | head -1'
all=$(steps_of plain)
while read -r step; do run_step "its step" "$step"; done <<<"$all"
soon "and it is installed" 1.0.0 installed plain
k delete apptype plain >/dev/null
app plain 'serviceAccountName: boss'
soon "an account that is not there" "kubectl create serviceaccount boss -n plain" eval 'steps_of plain | head -1'
all=$(steps_of plain)
while read -r step; do run_step "its step" "$step"; done <<<"$all"
soon "then it lacks rights alone" "lacks" eval "k get ist -o json | grep -o 'plain:boss lacks' | head -1 | cut -d' ' -f2"
steps_ran
finish
