#!/bin/bash
# Section 9 of the story and the lines about staying away: rollback, removal, restart, drift, changed values. By
# alm up, or on the cluster of ALM_TEST_CLUSTER.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - removal # SKIP no kubectl"
	exit 0
}
cluster_start
manifests
cd "$dir" || exit 1
image() { k get deployment etcd-operator -n etcd -o 'jsonpath={.spec.template.spec.containers[0].image}' 2>&1; }
installed() { app_is etcd "status.installedVersion = '$1'" 2>&1; }
app_patch() { k patch apptype etcd --type=merge -p "$1" >/dev/null; }
deployments() { k get deployments -A -o name; }
reason_of() { k get ist "install.$1.etcd.com.tectonic.storage" -o "jsonpath={.status.phase} {.status.conditions[?(@.type==\"$2\")].reason}"; }
rest() { app_is etcd "status.conditions[?type='Ready'].reason = 'Installed'" >/dev/null; }

package 0.9.4 >/dev/null
k create -f catalog.yaml -f etcd-apptype.yaml >/dev/null
installed 0.9.4 >/dev/null
package 0.9.5 >/dev/null
installed 0.9.5 >/dev/null

# A34, and approvals by kubectl alone
app_patch '{"spec":{"values":{"replicas":2}}}'
replicas() { k get deployment etcd-operator -n etcd -o 'jsonpath={.spec.replicas}/{.status.readyReplicas}'; }
soon "A34 changed values are rolled out" "2/2" replicas
rest
app_patch '{"spec":{"upgrade":{"mode":"Manual"}}}'
app_patch '{"spec":{"values":{"replicas":3}}}'
soon "A34 in mode Manual they wait" "AwaitingApproval ApprovalRequired" reason_of 0.9.5 Approved
is "A34 and nothing is applied" "2/2" "$(replicas)"
old=$(k get ist install.0.9.5.etcd.com.tectonic.storage -o 'jsonpath={.status.plan.digest}')
app_patch '{"spec":{"values":{"replicas":1}}}'
k wait ist/install.0.9.5.etcd.com.tectonic.storage --for=jsonpath='{.status.phase}'=AwaitingApproval --timeout=60s >/dev/null
newer() { [ "$(k get ist install.0.9.5.etcd.com.tectonic.storage -o 'jsonpath={.status.plan.digest}')" != "$old" ] && echo other; }
soon "A34 other values, another plan" "other" newer
approve() { k patch ist "install.$1.etcd.com.tectonic.storage" --type=merge -p \
	"{\"spec\":{\"approved\":true,\"approvedPlan\":\"$2\",\"approvalReason\":\"CHG-1\"}}" >/dev/null; }
approve 0.9.5 "$old"
soon "A20 approval of a plan that changed: ApprovalStale" "AwaitingApproval ApprovalStale" reason_of 0.9.5 Approved
is "A20 and nothing is applied" "2/2" "$(replicas)"
approve 0.9.5 "$(k get ist install.0.9.5.etcd.com.tectonic.storage -o 'jsonpath={.status.plan.digest}')"
soon "A4 approval with kubectl alone" "1/1" replicas
rest

package 0.9.6 >/dev/null
app_is etcd "status.conditions[?type='Ready'].reason = 'AwaitingApproval'" >/dev/null
app_patch '{"spec":{"upgrade":{"mode":"Automatic"}}}'
is "6 back to Automatic: the waiting version installs" "apptype.app.coreos.com/etcd" "$(installed 0.9.6)"
k create -f etcd-instance.yaml >/dev/null
rest

# A16: drift
app_patch '{"spec":{"drift":"Report"}}'
k delete etcd etcd-purple-ant >/dev/null
quiet_for 0.5
k delete deployment etcd-operator -n etcd >/dev/null
quiet_for 1.5
none "A16 drift Report: a deleted operator stays away" deployments
app_patch '{"spec":{"paused":true}}'
k create -f etcd-instance.yaml >/dev/null
quiet_for 1
none "A16 paused: an instance does not bring it back" deployments
is "A16 and a condition says so" "True" "$(k get apptype etcd -o 'jsonpath={.status.conditions[?(@.type=="Paused")].status}')"
app_patch '{"spec":{"paused":false}}'
soon "A16 an instance brings it back" "deployment.apps/etcd-operator" deployments
app_patch '{"spec":{"drift":"Repair"}}'
k delete deployment etcd-operator -n etcd >/dev/null
soon "A16 drift Repair: it is back by itself" "deployment.apps/etcd-operator" deployments
rest

# Rollback
is "A30 rollback --dry-run" "etcd can go back to 0.9.5; CRDs stay as they are
0" "$(alm rollback etcd --to 0.9.5 --dry-run; echo $?)"
is "9 rollback to 0.9.5" "apptype.app.coreos.com/etcd" "$(alm rollback etcd --to 0.9.5 --reason INC-12 -o name 2>&1)"
is "9 0.9.5 is installed" "apptype.app.coreos.com/etcd" "$(installed 0.9.5)"
is "9 the live operator is that of 0.9.5" "quay.io/coreos/etcd-operator:0.9.5" "$(image)"
is "9 the CRD keeps v2 as its storage version" "v2" \
	"$(k get crd etcds.etcd.coreos.com -o json | jq -r '.spec.versions[] | select(.storage) | .name')"
app_patch '{"spec":{"upgrade":{"to":null}}}'
is "9 released, it goes forward again" "apptype.app.coreos.com/etcd" "$(installed 0.9.6)"
rest

# The way back that is closed
code "9 v1 is still written by hand: exit 3" 3 "change what writes, or say --ignore-writers" \
	alm crd migrate etcds.etcd.coreos.com --to v2
forget=$(alm crd migrate etcds.etcd.coreos.com --to v2 2>&1 | sed -n 's/^  \(kubectl patch .*\)/\1/p')
run_step "9 the step it prints" "$forget"
is "9 is taken" "etcdcluster.etcd.coreos.com/etcd-purple-ant patched" "$said"
is "9 and then nobody writes v1" "default/etcd-purple-ant written as v2; storedVersions [v1 v2] -> [v2]" \
	"$(alm crd migrate etcds.etcd.coreos.com --to v2 2>&1)"
migrated() { k get ist install.0.9.6.etcd.com.tectonic.storage -o 'jsonpath={.status.conditions[?(@.type=="StorageMigrated")].message}' | sed 's/since [^;]*/since TIME/'; }
by="; asked for by admin"
! on_cluster || k auth whoami >/dev/null 2>&1 || by= # Kubernetes 1.27 does not say
soon "9 the status says who migrated" "etcds.etcd.coreos.com: stored as v2 alone, no longer as v1, since TIME$by" migrated
has "9 and the log" "StorageMigrated" "$(alm audit query --type Transition --reason StorageMigrated --data-dir "$data")"
package 1.0.0 >/dev/null
is "7 1.0.0" "apptype.app.coreos.com/etcd" "$(installed 1.0.0)"
is "9 rollback refused: exit 3" \
	"RollbackRefused: 0.9.6 manages etcds.etcd.coreos.com/v1, which the live CRD no longer serves; a CRD is never downgraded
3" "$(alm rollback etcd --to 0.9.6 --dry-run; echo $?)"
rest
rm -rf "$HOME/.kube/cache"

# Removal
told=$(alm delete apptype etcd --dry-run=server 2>said)
has "A1 a dry run deletes nothing" 'apptype.app.coreos.com "etcd" deleted (server dry run)' "$told"
none "A1 without advice to do what it does" cat said
has "A1 it names what would go" "goes with it:" "$(grep -x 'goes with it:' <<<"$told")"
has "A1 as the operator" "  Deployment etcd/etcd-operator" "$(sed -n '/^goes/,/^stays/p' <<<"$told")"
is "A1 and what stays, with its objects" "  CustomResourceDefinition etcds.etcd.coreos.com with 1 object" "$(sed -n '/^stays/,/^with/p' <<<"$told" | grep Custom)"
is "A1 and the command that takes that along" "with definitions and objects: alm delete apptype etcd --with-crd etcds.etcd.coreos.com=1" "$(tail -1 <<<"$told")"
if on_cluster; then
	skip "A1 kubectl's dry run says where that is listed" "a warning of our API server"
else
	has "A1 kubectl's dry run says where that is listed" "Warning: its operator goes with it: \`alm delete apptype etcd --dry-run=server\` lists" \
		"$(k delete apptype etcd --dry-run=server 2>&1)"
fi
code "A1 another word for a dry run is refused" 2 "--dry-run is server or none, not client" alm delete apptype etcd --dry-run=client
is "A1 and deletes nothing" "etcd" "$(k get apptype etcd -o 'jsonpath={.metadata.name}')"
code "A1 --with-crd with another count: exit 3" 3 "not 7" alm delete apptype etcd --with-crd etcds.etcd.coreos.com=7
is "A1 and nothing is deleted" "deployment.apps/etcd-operator" "$(deployments)"
is "9 kubectl delete apptype" 'apptype.app.coreos.com "etcd" deleted' "$(k delete apptype etcd --cascade=foreground 2>&1 | sed 's/ from .*//')"
none "A1 the operator is gone" deployments
none "A1 and all else of it" k get serviceaccounts,services,configmaps,roles,rolebindings,clusterroles,clusterrolebindings -A -l app.coreos.com/app=etcd -o name
is "A8 foreground deletion loses no instance" "etcdcluster.etcd.coreos.com/etcd-purple-ant" "$(k get etcds -o name)"
stays() { k get events -A --field-selector involvedObject.name=etcd,reason=Deleted -o 'jsonpath={.items[*].message}' | grep -cF 'CRDs and custom resources stay'; }
soon "A1 an Event says what stays" 1 stays # it is written after the finalizer is gone
up_stop
cluster_again
quiet_for 2
none "A1 after a restart nothing comes back" k get apptypes,ist -o name
none "A1 nor its operator" deployments
is "A1 CRD and instance are still there" "customresourcedefinition.apiextensions.k8s.io/etcds.etcd.coreos.com
etcdcluster.etcd.coreos.com/etcd-purple-ant" "$(k get crd etcds.etcd.coreos.com -o name; k get etcds -o name)"

# The app again: it adopts what was left behind; then all of it goes when named with its count
k create -f etcd-apptype.yaml >/dev/null
is "A1 created again, it takes over the CRD" "apptype.app.coreos.com/etcd" "$(installed 1.0.0)"
rest
for propagation in background orphan; do
	k delete apptype etcd --cascade=$propagation --timeout=30s >/dev/null 2>&1
	is "A8 $propagation deletion loses no instance" "etcdcluster.etcd.coreos.com/etcd-purple-ant" "$(k get etcds -o name 2>&1)"
	k create -f etcd-apptype.yaml >/dev/null
	installed 1.0.0 >/dev/null
	rest
done
rm -rf "$HOME/.kube/cache"
code "A1 the CRD goes when named with its count" 0 "" alm delete apptype etcd --with-crd etcds.etcd.coreos.com=1
gone() { k get apptypes,crd,deployments -A -o name 2>&1 | grep etcd; }
soon "A1 app, CRD and operator are gone" "" gone
steps_ran
finish
