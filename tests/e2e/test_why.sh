#!/bin/bash
# `alm why` and `alm why-not`: the output a user reads, formats and exit codes; from files (--offline), live, and
# from the log (--at). T1: absent, out of range and no upgrade path are three different reasons.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
for v in 0.9.4 0.9.5 0.9.6 1.0.0; do package $v >/dev/null; done
files="judged from files: live objects and the CRD gate were not asked"

# --- offline ---
is "offline: nothing is installed" "etcd  not installed  Automatic  community@sha256:D…  channel stable  range *
  1.0.0       yes  chosen
  0.9.6       ?    NotEvaluated     a preferred version is installable
  0.9.5       ?    NotEvaluated     a preferred version is installable
  0.9.4       ?    NotEvaluated     a preferred version is installable
$files" "$(alm why etcd --offline --catalog "community=$catalog")"
is "offline: from an installed version" "etcd  installed 0.9.5  Automatic  community@sha256:D…  channel stable  range *
  1.0.0       no   ResourceDropped  etcds.etcd.coreos.com/v1: objects not counted, taken as in use
  0.9.6       yes  chosen           0.9.5 -> 0.9.6
  0.9.5       -    installed
  1 lower version: NotNewer
$files" "$(alm why etcd --offline --catalog "community=$catalog" --installed 0.9.5)"
code "offline: why-not exits 3 with the steps" 3 "  1. alm upgrade etcd --to 1.0.0 --accept-dropped etcds.etcd.coreos.com/v1 --reason TEXT" \
	alm why-not etcd 1.0.0 --offline --catalog "$catalog" --installed 0.9.5
code "offline: why-not exits 0 for an installable one" 0 "etcd 0.9.6 is installable" \
	alm why-not etcd 0.9.6 --offline --catalog "$catalog" --installed 0.9.5
code "offline: why-not exits 1 for one that is not there" 1 "etcd has no candidate 7" \
	alm why-not etcd 7 --offline --catalog "$catalog"
code "offline: out of range" 3 'etcd 1.0.0 is not installable: OutOfRange: spec.version is <1' \
	alm why-not etcd 1.0.0 --offline --catalog "$catalog" --range '<1'
code "offline: wide tells kubectl's way" 3 "kubectl patch apptype etcd --type=merge -p '{\"spec\":{\"version\":\"<1 || =1.0.0\"}}'" \
	alm why-not etcd 1.0.0 --offline --catalog "$catalog" --range '<1' -o wide
is "offline: json has the same facts" "ResourceDropped False etcds.etcd.coreos.com/v1" "$(
	alm why-not etcd 1.0.0 --offline --catalog "$catalog" --installed 0.9.5 -o json |
		python3 -c 'import json, sys; o = json.load(sys.stdin); print(o["reason"], o["installable"], o["dropped"][0])'
)"
code "offline: an unknown app" 1 "no catalog has a package for an app named nobody" alm why nobody --offline --catalog "$catalog"
code "offline: a bad range" 2 "--range: improper constraint: bla" alm why etcd --offline --catalog "$catalog" --range bla
code "offline: no catalog" 2 "--offline needs a catalog" alm why etcd --offline
code "offline: no such folder" 1 "No such file or directory" alm why etcd --offline --catalog "$dir/nowhere"
code "--catalog without --offline" 2 "--catalog needs --offline" alm why etcd --catalog "$catalog"
code "a format that is none" 2 "-o toml: want json, yaml or wide" alm why etcd --offline --catalog "$catalog" -o toml
has "yaml is the same facts" "  installable: true" "$(alm why etcd --offline --catalog "$catalog" -o yaml)"
manifests
sed 's/^spec:/spec:\n  channel: beta/' "$dir/etcd-apptype.yaml" >"$dir/beta.yaml"
is "offline: AppType and Catalog from files" "etcd  not installed  Automatic  community@sha256:D…  channel beta  range *
  1.0.0       yes  chosen" "$(alm why etcd --offline -f "$dir/beta.yaml" -f "$dir/catalog.yaml" | head -2)"

# --- live ---
rm -f "$catalog"/*.tgz
command -v kubectl >/dev/null || {
	finish
	exit 0
}
up_start
cd "$dir" || exit 1
state_is() { app_is etcd "status.conditions[?type='Ready'].reason = '$1'" >/dev/null; }
patch() { k patch apptype etcd --type=merge -p "$1" >/dev/null; }
status_is() { soon "$1" "$2" alm status; }
status_is "status: nothing is declared" "No app is declared: \`kubectl create -f\` an AppType."
k create -f catalog.yaml -f etcd-apptype.yaml >/dev/null
status_is "status: nothing installs it" "APP    INSTALLED   AVAILABLE   MODE        READY   STATE
etcd   -           -           Automatic   False   Unresolved

etcd: Unresolved: no package installs etcd.com.tectonic.storage (asked: community); spec.package names one of theirs
  next: alm why etcd"
package 0.9.4 >/dev/null
state_is Installed
status_is "status: all is well" "APP    INSTALLED   AVAILABLE   MODE        READY   STATE
etcd   0.9.4       0.9.4       Automatic   True    Installed

Nothing waits."

# A20: shown, and nothing is written before a person says so
patch '{"spec":{"upgrade":{"mode":"Manual"}}}'
written() {
	k get deployments,services,serviceaccounts,configmaps,roles,rolebindings -n etcd \
		-o 'jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.resourceVersion}{"\n"}{end}'
}
before=$(written)
package 0.9.5 >/dev/null
state_is AwaitingApproval
plan=$(k get ist install.0.9.5.etcd.com.tectonic.storage -o 'jsonpath={.status.plan.digest}')
is "A20 alm status shows what waits, and the step" "APP    INSTALLED   AVAILABLE   MODE     READY   STATE
etcd   0.9.4       0.9.5       Manual   True    AwaitingApproval

etcd 0.9.5: ApprovalRequired: mode Manual: approve plan ${plan:0:19}…
  next: alm approve etcd 0.9.5 --reason TEXT" "$(alm status)"
is "A20 kubectl get apps shows it" "0.9.4 0.9.5 Manual True AwaitingApproval" \
	"$(k get apps etcd --no-headers | awk '{print $3, $4, $5, $6, $7}')"
has "alm why names the step" "0.9.5 waits for approval: alm approve etcd 0.9.5 --reason TEXT" "$(alm why etcd)"
code "why-not: it can be installed" 0 "etcd 0.9.5 is installable" alm why-not etcd 0.9.5
quiet_for 2
is "A20 no object was written" "$before" "$(written)"
is "the row of the decision says the same as the status" "$(alm why etcd | grep -v 'waits for approval')" \
	"$(alm why etcd --at "$(alm why etcd | grep -o '#[0-9]*' | tr -d '#')" --data-dir "$data")"
alm approve etcd 0.9.5 --reason CHG-1 >/dev/null
is "A20 approved: it is installed" "apptype.app.coreos.com/etcd" "$(app_is etcd "status.installedVersion = '0.9.5'")"
is "A20 the plan that was approved" "$plan" \
	"$(k get ist install.0.9.5.etcd.com.tectonic.storage -o 'jsonpath={.status.approval.digest}')"

# T1: three different reasons, from the status alone
mkdir -p far && cp -R "$demo/charts/etcd-operator" far/ && cp -R "$demo/charts/overlays/0.9.6/." far/etcd-operator/
echo 'replaces: 0.9.8' >>far/etcd-operator/alm.yaml
package 0.9.6 >/dev/null
alm package build far/etcd-operator --version 0.9.9 -o "$catalog" >/dev/null
package 1.0.0 >/dev/null
patch '{"spec":{"version":"<1"}}'
reason_of() { alm why-not etcd "$1" -o json | python3 -c 'import json, sys; print(json.load(sys.stdin)["reason"])'; }
soon "T1 out of range" "OutOfRange" reason_of 1.0.0
soon "T1 no upgrade path" "NoUpgradePath" reason_of 0.9.9
code "T1 absent" 1 "etcd has no candidate 2.0.0; \`alm why etcd\` lists them" alm why-not etcd 2.0.0
code "why-not: no upgrade path" 3 "no upgrade path from 0.9.5: it replaces 0.9.8" alm why-not etcd 0.9.9
code "why: an unknown app" 1 "there is no app nobody" alm why nobody
code "status: an unknown app" 1 "there is no app nobody" alm status nobody
is "status: json" "etcd 0.9.5 Manual" "$(alm status -o json |
	python3 -c 'import json, sys; a = json.load(sys.stdin)["apps"][0]; print(a["name"], a["installed"], a["mode"])')"

finish
