#!/bin/bash
# The log of a controller whose server has another log (alm server, or the cluster whose kubeconfig ALM_TEST_CLUSTER is):
# what others do to instances and specs, which paths changed, and who approved.
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - a log beside another server # SKIP no kubectl"
	exit 0
}
if [ -n "${ALM_TEST_CLUSTER:-}" ]; then
	KUBECONFIG=$ALM_TEST_CLUSTER kubectl proxy --port=0 >"$dir/proxy" 2>&1 &
	server=$!
	timeout 60 sh -c "until grep -q 127.0.0.1: '$dir/proxy'; do sleep 0.1; done"
	export KUBECONFIG=$dir/kubeconfig
	kubectl config set-cluster c "--server=http://$(grep -o '127\.0\.0\.1:[0-9]*' "$dir/proxy")" >/dev/null
	kubectl config set-context c --cluster=c >/dev/null
	kubectl config use-context c >/dev/null
	k apply -f deploy/approver.yaml >/dev/null
else
	"$alm_bin" server --data-dir "$dir/server" --listen 127.0.0.1:0 --simulate-workloads >"$dir/out2" 2>>"$dir/err" &
	server=$!
	timeout 60 sh -c "until [ -s '$dir/out2' ]; do sleep 0.1; done"
	export KUBECONFIG=$dir/server/kubeconfig
fi
trap 'up_stop; kill "$server"; wait "$server"; rm -rf "$dir"' EXIT
controller() {
	"$alm_bin" controller --data-dir "$data" --catalog-root "$catalog" --metrics-listen off --verify-soak 1s >"$dir/out" 2>>"$dir/err" &
	pid=$!
}
rows() { # SUBJECT JQ
	alm audit query --data-dir "$data" --subject "$1" --type "${3:-Observe}" -o json | jq -c "[.[] | $2]"
}
controller
timeout 60 sh -c 'until kubectl wait --for=condition=Established crd/apps.app.coreos.com; do sleep 0.2; done' >/dev/null 2>&1
manifests
cd "$dir" || exit 1
package 0.9.5 >/dev/null
k create -f catalog.yaml -f etcd-apptype.yaml >/dev/null
app_is etcd "status.installedVersion = '0.9.5'" >/dev/null

is "an app's spec: whose manager wrote it" '[["kubectl-create","managedFields"]]' \
	"$(rows AppType/etcd 'select(.reason == "SpecChanged") | [.actor, .body.who.trust]')"
k patch apptype etcd --type=merge --field-manager=gitops -p '{"spec":{"upgrade":{"mode":"Manual"}}}' >/dev/null
soon "which paths a change of it changed" '["gitops",["spec.upgrade.mode"]]' sh -c "'$alm_bin' audit query --data-dir '$data' \
	--subject AppType/etcd --reason SpecChanged -o json | jq -c '.[-1] | [.actor, .body.changed]'"
k patch catalog community --type=merge --field-manager=gitops -p '{"spec":{"interval":"9m"}}' >/dev/null
soon "of a Catalog's, too" '["gitops",["spec.interval"]]' sh -c "'$alm_bin' audit query --data-dir '$data' \
	--subject Catalog/community --reason SpecChanged -o json | jq -c '.[-1] | [.actor, .body.changed]'"

instance() { printf 'apiVersion: etcd.coreos.com/v1\nkind: EtcdCluster\nmetadata: {name: purple}\nspec: {size: %s, password: %s}\n' "$1" "$2"; }
instance 3 rose | k create --validate=false -f - >/dev/null
told() { rows EtcdCluster/default/purple '[.reason, .actor]'; }
soon "an instance is created" '[["Created","kubectl-create"]]' told
k patch etcd purple --type=merge --field-manager=team -p '{"spec":{"size":5}}' >/dev/null
soon "respecified: by whom" '[["Created","kubectl-create"],["SpecChanged","team"]]' told
is "and what" '["spec.size"]' "$(rows EtcdCluster/default/purple .body.changed | jq -c '.[1]')"
is "the digest before is the one after the record before" true \
	"$(rows EtcdCluster/default/purple '.body' | jq -c '.[0].after == .[1].before and .[0].after != null')"
k annotate etcd purple note=x >/dev/null
k patch etcd purple --type=merge --subresource=status -p '{"status":{"ready":1}}' >/dev/null 2>&1
up_stop
k patch etcd purple --type=merge --field-manager=night -p '{"spec":{"size":7}}' >/dev/null
controller
soon "while no controller ran, too" '["SpecChanged","night"]' sh -c "'$alm_bin' audit query --data-dir '$data' \
	--subject EtcdCluster/default/purple --type Observe -o json | jq -c '.[-1] | [.reason, .actor]'"
is "its status and annotations make no record" 3 "$(told | jq length)"
has "diff has the fields" "spec.size: 3 -> 7" "$(alm audit diff --data-dir "$data" --from-at-seq "$(rows EtcdCluster/default/purple .seq | jq ".[0]")" | grep purple)"
k delete etcd purple >/dev/null
last() { told | jq -c '.[-1]'; }
soon "deleted" '["Deleted",null]' last
instance 1 tulip | k create --validate=false -f - >/dev/null
soon "made anew" '["Created","kubectl-create"]' last
up_stop
k delete etcd purple >/dev/null
controller
soon "deleted while no controller ran" '["Deleted",null]' last
secrets_told() { strings -a "$data"/alm.db* | seek -E 'rose|tulip' | seek -v managedFields; }
none "no value of a secret field is in the log" secrets_told

package 0.9.6 >/dev/null
ist=install.0.9.6.etcd.com.tectonic.storage
phase() { k get ist "$ist" -o jsonpath='{.status.phase}'; }
soon "an upgrade waits" AwaitingApproval phase
has "nobody approves as another" "approvedBy" \
	"$(k patch ist "$ist" --type=merge -p '{"spec":{"approved":true,"approvedBy":"ciso@corp"}}' 2>&1)"
sleep_until_settled() { # the policy must be there some seconds longer than the approval
	local since
	[ -n "${ALM_TEST_CLUSTER:-}" ] || return 0
	since=$(date -d "$(k get validatingadmissionpolicy approver.opinstaller.coreos.com -o jsonpath='{.metadata.creationTimestamp}')" +%s)
	timeout 30 sh -c "until [ \$((\$(date +%s) - $since)) -gt 7 ]; do sleep 0.3; done"
}
sleep_until_settled
alm approve etcd 0.9.6 --reason CHG-4711 >/dev/null || not_ok "alm approve"
app_is etcd "status.installedVersion = '0.9.6'" >/dev/null
me=$(k auth whoami -o jsonpath='{.status.userInfo.username}')
is "the approver has a name, by admission" "[[\"$me\",\"admission\",\"CHG-4711\"]]" \
	"$(rows "InstallStrategy/$ist" '[.actor, .body.who.trust, .body.justification]' Approval)"
has "which why tells" "$me (admission, alm-cli) \"CHG-4711\"" "$(alm audit why --data-dir "$data" apptype/etcd --version 0.9.6)"
is "a write of ALM over another object says which paths" '[["sha256:","spec.template.spec.containers[0].image"]]' \
	"$(rows Deployment/etcd/etcd-operator 'select(.body.rvBefore) | [.body.before[:7], (.body.changed // [] | .[] | select(test("image")))] | select(length > 1)' Write)"
has "an export beside it is not recorded, and says so" "the log does not say that it was exported" \
	"$(alm audit export --data-dir "$data" 2>&1 >/dev/null)"
verified() { alm audit verify --replay --data-dir "$data" >/dev/null 2>&1 && echo intact; } # a cluster may be busy with its definitions
soon "the log is intact" intact verified
k delete apptype etcd >/dev/null
finish
