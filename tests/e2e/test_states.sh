#!/bin/bash
# States that lie or hang (lifecycle.md 4): each is told as it is, and has a way out that works.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - states # SKIP no kubectl"
	exit 0
}
up_start
manifests
cd "$dir" || exit 1
package 0.9.4 >/dev/null
k create -f catalog.yaml -f etcd-apptype.yaml >/dev/null
app_is etcd "status.installedVersion = '0.9.4'" >/dev/null
state() { k get apptype etcd -o 'jsonpath={.status.installedVersion} {.status.conditions[?(@.type=="Ready")].reason}'; }
values() { k patch apptype etcd --type=merge -p "{\"spec\":{\"values\":$1}}" >/dev/null; }

# B14: one made by hand that cannot be planned.
cat >hand.yaml <<EOF
apiVersion: opinstaller.coreos.com/v1beta1
kind: InstallStrategy
metadata: {name: install.7.etcd.com.tectonic.storage}
spec:
  appTypeRef: {name: etcd}
  version: 7.0.0
  strategy: {type: helm, helmChart: etcd-operator}
  resources: [etcds.etcd.coreos.com/v1]
EOF
k create -f hand.yaml >/dev/null
hand() { k get ist install.7.etcd.com.tectonic.storage -o 'jsonpath={.status.phase} {.status.conditions[?(@.status=="False")].reason}'; }
soon "B14 a strategy without its archive is Blocked" "Blocked FetchFailed" hand
step=$(next_steps etcd | head -1)
code "B14 why-not tells its reason" 3 "spec.strategy.sha256" alm why-not etcd 7.0.0
has "B14 why says so too" "FetchFailed" "$(alm why etcd)"
package 0.9.5 >/dev/null
is "B14 and no upgrade waits for it" "apptype.app.coreos.com/etcd" \
	"$(app_is etcd "status.installedVersion = '0.9.5'" 2>&1)"
run_step "B14 the step that is told" "$step"

# B3: changed values that fail; the former ones run again, and the app says which are in force.
ist() { k get ist install.0.9.5.etcd.com.tectonic.storage -o "jsonpath=$1"; }
k patch apptype etcd --type=merge -p '{"spec":{"upgrade":{"deadlines":{"verifying":"2s"}}}}' >/dev/null
revision=$(ist '{.status.revision}')
values '{"replicas":3,"image":{"tag":"x-fail"},"service":{"port":9090}}'
soon "B3 changed values that fail: the former run again" "0.9.5 UpgradeBlocked" state
is "B3 the strategy is Succeeded at its former revision" "Succeeded $revision" "$(ist '{.status.phase} {.status.revision}')"
is "B3 the operator runs as before" "1 1 quay.io/coreos/etcd-operator:0.9.5" \
	"$(k get deployment -n etcd etcd-operator -o 'jsonpath={.spec.replicas} {.status.readyReplicas} {.spec.template.spec.containers[0].image}')"
has "B3 alm status tells why, and how to try again" "next: alm retry etcd 0.9.5" "$(alm status)"
is "B3 the release has a record of the way back" "sh.helm.release.v1.etcd.v$((revision + 2))" \
	"$(k get secrets -n etcd -l owner=helm,status=deployed -o 'jsonpath={.items[*].metadata.name}')"
values '{"replicas":2,"image":null}'
soon "B3 good values start at once" "2 2" k get deployment -n etcd etcd-operator -o 'jsonpath={.spec.replicas} {.status.readyReplicas}'
soon "B3 and are installed" "0.9.5 Installed" state
values '{"replicas":1,"image":{"tag":"y-fail"}}'
soon "B3 bad again" "0.9.5 UpgradeBlocked" state
# The phase may be over before anybody looks: the log has it.
verified() { alm audit query --data-dir "$data" --type Transition --limit 10000 -o json | jq '[.[] | select(.body.to == "Verifying")] | length'; }
before=$(verified)
run_step "B3 the step" "$(next_steps etcd | head -1)"
none "B3 pins nothing" k get apptype etcd -o 'jsonpath={.spec.upgrade.to}'
soon "B3 the retry tries them again at once" $((before + 1)) verified
soon "B3 and they fail again" "0.9.5 UpgradeBlocked" state
k patch apptype etcd --type=merge -p '{"spec":{"upgrade":{"onFailure":"Stay","to":null}}}' >/dev/null
values '{"replicas":1,"image":{"tag":"z-fail"}}'
soon "B3 onFailure Stay: they stay, and what is installed is told" "0.9.5 Degraded" state
values '{"replicas":1,"image":null}'
soon "B3 other values are tried at once" "0.9.5 Installed" state

# B8: a way back is told, refused and taken like the controllers see it.
k patch apptype etcd --type=merge -p '{"spec":{"version":">=0.9.5"}}' >/dev/null
code "B8 rollback --dry-run sees the range" 3 "OutOfRange" alm rollback etcd --to 0.9.4 --dry-run
rm "$catalog"/*0.9.4.tgz
k patch apptype etcd --type=merge -p '{"spec":{"version":"*"}}' >/dev/null
soon "B8 the archive is gone" "0.9.5" k get apptype etcd -o 'jsonpath={.status.candidates[*].version}'
code "B8 what only the controllers see is refused by rollback" 3 "no catalog has 0.9.4" alm rollback etcd --to 0.9.4 --reason back
none "B8 and taken back" k get apptype etcd -o 'jsonpath={.spec.upgrade.to}'
package 0.9.4 >/dev/null
soon "B8 the archive is back" "0.9.5 0.9.4" k get apptype etcd -o 'jsonpath={.status.candidates[*].version}'
code "B8 a way back that is free has begun" 0 "etcd" alm rollback etcd --to 0.9.4 --reason back
soon "B8 and is gone" "0.9.4 Installed" state

# B12: drift that is only reported.
k patch apptype etcd --type=merge -p '{"spec":{"drift":"Report"}}' >/dev/null
k delete deployment etcd-operator -n etcd >/dev/null
soon "B12 drift Report and the operator gone: not Ready" "0.9.4 Degraded" state
has "B12 alm status says what is missing" "Deployment etcd/etcd-operator is missing" "$(alm status)"
run_step "B12 and never that nothing waits" "$(next_steps etcd | grep "^alm describe apptype" | head -1)"
k patch apptype etcd --type=merge -p '{"spec":{"drift":"Repair"}}' >/dev/null
soon "B12 Repair brings it back" "0.9.4 Installed" state
is "B12 each is a decision" "DriftLeft wait Report,DriftRepair allow Repair," \
	"$(alm audit query --type Decision -o json | jq -r '.[] | select(.reason | startswith("Drift")) | "\(.reason) \(.body.verdict) \(.body.rules[0].id)"' | tail -2 | tr '\n' ,)"
soon "B12 and no condition stays" "" k get apptype etcd -o 'jsonpath={.status.conditions[?(@.type=="Drifted")].status}{.status.conditions[?(@.type=="Degraded")].status}'

# B11: an autoscaler's replicas are its own, kubectl's are drift.
replicas() { k get deployment etcd-operator -n etcd -o 'jsonpath={.spec.replicas}'; }
scaled() { k patch deployment etcd-operator -n etcd --subresource=scale --field-manager="$1" --type=merge -p "{\"spec\":{\"replicas\":$2}}" >/dev/null; }
scaled kube-controller-manager 3
k patch deployment etcd-operator -n etcd --type=merge -p '{"spec":{"template":{"metadata":{"labels":{"app.kubernetes.io/name":"x"}}}}}' >/dev/null
soon "B11 drift beside the autoscaler is repaired" "etcd-operator" k get deployment etcd-operator -n etcd -o 'jsonpath={.spec.template.metadata.labels.app\.kubernetes\.io/name}'
is "B11 and its replicas are left alone" "3" "$(replicas)"
scaled kubectl 0
soon "B11 what a person scales comes back" "1" replicas
# ... five times in ten minutes, those before counted; then it is left for an hour.
left() { k get apptype etcd -o 'jsonpath={.status.conditions[?(@.type=="Degraded")].reason}: {.status.conditions[?(@.type=="Degraded")].message}'; }
over() { { [ "$(replicas)" = 1 ] || [[ $(left) = *"5 times"* ]]; } && echo over; }
for i in 1 2 3 4; do
	scaled kubectl 0
	soon "R6 an app's object is put back, or left (try $i)" over over
done
scaled kubectl 0
soon "R6 with whom it fights is told" "DriftNotRepaired: Deployment etcd/etcd-operator changed; not repaired: it was put back 5 times in 10 minutes, and from then on is once an hour: somebody else writes it, too: kubectl" left

# B13: instances whose finalizer needs the operator go before it. Here a loop is the operator.
k create -f etcd-instance.yaml >/dev/null
k patch etcd etcd-purple-ant --type=merge -p '{"metadata":{"finalizers":["etcd.coreos.com/backup"]}}' >/dev/null
operator() {
	while sleep 0.2; do
		[ -n "$(kubectl get etcd etcd-purple-ant -o 'jsonpath={.metadata.deletionTimestamp}' 2>/dev/null)" ] || continue
		kubectl get deployment etcd-operator -n etcd >/dev/null 2>&1 || continue
		kubectl patch etcd etcd-purple-ant --type=merge -p '{"metadata":{"finalizers":null}}' >/dev/null 2>&1
		return
	done
}
code "B13 a wrong name deletes no instance" 1 "not found" alm delete apptype nosuch --with-crd etcds.etcd.coreos.com=1
is "B13 it is there" "etcdcluster.etcd.coreos.com/etcd-purple-ant" "$(k get etcds -o name)"
operator &
operator=$!
code "B13 --with-crd: instances, operator, CRD" 0 "" alm delete apptype etcd --with-crd etcds.etcd.coreos.com=1 --timeout 60s
kill $operator 2>/dev/null
lacks "B13 all are gone" k get apptypes,crd,deployments -A -o name -- etcd

# B10: what the app said of its CRD goes with it.
k create -f etcd-apptype.yaml >/dev/null
crd() { k get crd etcds.etcd.coreos.com -o 'jsonpath={.status.conditions[?(@.type=="app.coreos.com/Resolved")].status} {.status.conditions[?(@.type=="app.coreos.com/Resolved")].reason}'; }
soon "B10 the CRD says who has it" "True Installed" crd
alm delete apptype etcd >/dev/null
soon "B10 and that nobody has" "False Released" crd
sed 's/^spec:/spec:\n  package: nothing/' etcd-apptype.yaml | k create -f - >/dev/null
soon "B10 an app that is refused has it, and it says so" "False NotInstallable" crd
k patch apptype etcd --type=merge -p '{"spec":{"package":null}}' >/dev/null
WAIT_S=30 soon "B10 until it is installed" "True Installed" crd

up_stop
code "and the log is whole" 0 "" alm audit verify --data-dir "$data"
steps_ran
finish
