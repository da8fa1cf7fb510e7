#!/bin/bash
# Who may write the status of an app can forge its transitionSeq: it is put back from the log, which says who it was,
# and the app goes on. On a cluster, where the log may be the one that is behind, nothing is done until the gap is accepted.
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - forged statuses # SKIP no kubectl"
	exit 0
}
echo 'bobs-token,bob,7,""' >"$dir/tokens"
chmod 600 "$dir/tokens"
up_start --token-file "$dir/tokens"
manifests
cd "$dir" || exit 1
package 0.9.4 >/dev/null
k create -f catalog.yaml -f etcd-apptype.yaml >/dev/null
k create clusterrole st --verb=get,patch,update --resource=apps.app.coreos.com/status >/dev/null
k create clusterrole ap --verb=get,list --resource=apps.app.coreos.com >/dev/null
k create clusterrolebinding st --clusterrole=st --user=bob >/dev/null
k create clusterrolebinding ap --clusterrole=ap --user=bob >/dev/null
app_is etcd "status.conditions[?type='Ready'].reason = 'Installed'" >/dev/null
status() { k get apptype etcd -o 'jsonpath={.status.installedVersion} {.status.conditions[?(@.type=="Ready")].reason}'; }
forge() { kubectl --kubeconfig="$dir/bob" patch apptype etcd --subresource=status --type=merge -p "{\"status\":$1}" >/dev/null || not_ok "forge $1"; }
sed "s/token: .*/token: bobs-token/" "$KUBECONFIG" >"$dir/bob"
rows() { k get auditrecords --field-selector "subject.name=etcd,reason=$1" -o json | jq -r '[.items[].actor] | "\(length) \(.[-1])"'; }

forge '{"installedVersion":"0.0.1","transitionSeq":99999}'
soon "a transitionSeq ahead of the log: restored" "0.9.4 Installed" status
soon "the log says who it was" "1 bob" rows StatusEdited
soon "and that it was put back" "1 null" rows StatusRestored
forge '{"installedVersion":"0.0.1","transitionSeq":1}'
soon "one far behind: restored" "0.9.4 Installed" status
soon "as one that went back" "1 null" rows StatusRegressed
forge '{"installedVersion":"0.0.1"}'
soon "another content under the same one: restored" "0.9.4 Installed" status
soon "by the same person" "3 bob" rows StatusEdited
for v in 5 6 7; do
	forge "{\"installedVersion\":\"0.0.$v\",\"transitionSeq\":$((90000 + v))}"
	soon "again and again: $v" "0.9.4 Installed" status
done
package 0.9.5 >/dev/null
is "and the app is upgraded as ever" "apptype.app.coreos.com/etcd" "$(app_is etcd "status.installedVersion = '0.9.5'")"
code "the log is intact" 0 "transitions" alm audit verify --replay --data-dir "$data"
up_stop

# alm controller: its log may be the one that is behind
"$alm_bin" server --data-dir "$dir/server" --listen 127.0.0.1:0 --simulate-workloads >"$dir/out2" 2>>"$dir/err" &
server=$!
trap 'kill "$server" 2>/dev/null; up_stop; rm -rf "$dir"' EXIT
timeout 60 sh -c "until [ -s '$dir/out2' ]; do sleep 0.1; done"
export KUBECONFIG=$dir/server/kubeconfig
controller() {
	"$alm_bin" controller --data-dir "$dir/controller" --catalog-root "$catalog" --metrics-listen off --verify-soak 1s >"$dir/out3" 2>>"$dir/err" &
	pid=$!
}
controller
timeout 60 sh -c 'until kubectl wait --for=condition=Established crd/apps.app.coreos.com; do sleep 0.2; done' >/dev/null 2>&1
k create -f catalog.yaml -f etcd-apptype.yaml >/dev/null
app_is etcd "status.installedVersion = '0.9.5'" >/dev/null
k patch apptype etcd --subresource=status --type=merge -p '{"status":{"transitionSeq":77}}' >/dev/null
package 0.9.6 >/dev/null
told() { alm audit query --data-dir "$dir/controller" --reason LogBehindStatus -o json | jq length; }
soon "elsewhere: LogBehindStatus, once" 1 told
is "and nothing is done for it" "0.9.5" "$(k get apptype etcd -o 'jsonpath={.status.installedVersion}')"
up_stop
code "until the gap is accepted" 0 "begins anew as" alm audit accept-gap --data-dir "$dir/controller" --reason "INC-9"
controller
is "then it goes on" "apptype.app.coreos.com/etcd" "$(app_is etcd "status.installedVersion = '0.9.6'")"
is "from where the status was" yes "$([ "$(k get apptype etcd -o 'jsonpath={.status.transitionSeq}')" -gt 77 ] && echo yes)"
code "and its new log is intact" 0 "transitions" alm audit verify --replay --data-dir "$dir/controller"
code "that of the server too" 0 "objects as logged" alm audit verify --replay --data-dir "$dir/server"
finish
