#!/bin/bash
# `alm audit verify` says "altered" (exit 4) of an altered log and of nothing else: after each everyday act it exits 0.
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - audit verify # SKIP no kubectl"
	exit 0
}
log=$data
intact() {
	local out
	if out=$(alm audit verify --replay --data-dir "$log" 2>&1); then ok "intact: $1"; else not_ok "intact: $1, exit $?" "$out"; fi
}
crash() {
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	pid=
}
gone() { k get "$@" -o name --ignore-not-found; }

up_start
intact "a new log"
manifests
cd "$dir" || exit 1
k create -f catalog.yaml >/dev/null
app_is() { alm wait apptype "$1" "$2" --timeout 60s -o name; }
sync() { k wait catalog/community --for=jsonpath='{.status.versions}' --timeout=60s >/dev/null; }
sync
k delete catalog community >/dev/null
intact "a Catalog deleted"
k create -f catalog.yaml >/dev/null
package 0.9.4 >/dev/null
k create -f etcd-apptype.yaml >/dev/null
app_is etcd "status.installedVersion = '0.9.4'" >/dev/null
intact "an app installed"

sed -e 's/install.1/install.0.1.0/; s/version: 1$/version: 0.1.0/' etcd-installstrategy.yaml | k create -f - >/dev/null
k wait ist/install.0.1.0.etcd.com.tectonic.storage --for=jsonpath='{.status.phase}'=Blocked --timeout=60s >/dev/null
k delete ist install.0.1.0.etcd.com.tectonic.storage >/dev/null
intact "a Blocked strategy deleted"

k patch apptype etcd --type=merge -p '{"spec":{"historyLimit":1}}' >/dev/null
for v in 0.9.5 0.9.6; do
	package "$v" >/dev/null
	app_is etcd "status.installedVersion = '$v'" >/dev/null
done
soon "historyLimit prunes the oldest strategy" "" gone ist install.0.9.4.etcd.com.tectonic.storage
intact "strategies pruned by historyLimit"

crash
intact "killed"
up_start
app_is etcd "status.installedVersion = '0.9.6'" >/dev/null
k patch apptype etcd --subresource=status --type=merge -p '{"status":{"installedVersion":"0.0.1"}}' >/dev/null
intact "a status written by a user"
app_is etcd "status.installedVersion = '0.9.6'" >/dev/null
intact "and put back"
alm rollback etcd --to 0.9.5 --reason "bad disk" >/dev/null
app_is etcd "status.installedVersion = '0.9.5'" >/dev/null
intact "rolled back"
k patch apptype etcd --type=merge -p '{"metadata":{"annotations":{"app.coreos.com/reason":"freeze"}},"spec":{"upgrade":{"mode":"Manual","to":null}}}' >/dev/null
waiting() { k get ist install.0.9.6.etcd.com.tectonic.storage -o jsonpath='{.status.phase}'; }
soon "a version waits" AwaitingApproval waiting
intact "a version waits"
k patch apptype etcd --type=merge -p '{"spec":{"historyLimit":3}}' >/dev/null
timeout 60 sh -c "until [ \"\$(kubectl get apptype etcd -o jsonpath='{.status.observedGeneration}')\" = \"\$(kubectl get apptype etcd -o jsonpath='{.metadata.generation}')\" ]; do sleep 0.2; done"
crash
before=$(sqlite3 "$log/alm.db" 'SELECT max(seq) FROM audit')
rm "$catalog"/*0.9.4* # so that the log tells when the folder was read
up_start
read_again() { sqlite3 "$log/alm.db" "SELECT min(seq) > 0 FROM audit WHERE reason = 'CatalogChanged' AND seq > $before"; }
soon "the folder was read again" 1 read_again
none "nothing is said of apps before that" sqlite3 "$log/alm.db" "SELECT type, reason, name FROM audit WHERE seq > $before AND
	type IN ('Transition', 'Decision') AND kind <> 'Catalog' AND
	seq < (SELECT min(seq) FROM audit WHERE reason = 'CatalogChanged' AND seq > $before)"
alm approve etcd 0.9.6 --reason CHG-4711 >/dev/null || not_ok "alm approve"
app_is etcd "status.installedVersion = '0.9.6'" >/dev/null
intact "approved"
reasons=$(alm audit query --data-dir "$log" --type Approval -o json | jq -r '.[].body.justification' | sort -u | tr '\n' ,)
is "every reason that a person gave is in the log" "CHG-4711,bad disk,freeze," "$(echo "$reasons" | sed 's/^null,//; s/,null,/,/')"
has "why names the reason" CHG-4711 "$(alm audit why --data-dir "$log" apptype/etcd --version 0.9.6)"
has "also of the rollback" "bad disk" "$(alm audit why --data-dir "$log" apptype/etcd --version 0.9.5)"
k delete apptype etcd >/dev/null
intact "an app deleted"
k create -f etcd-apptype.yaml >/dev/null
app_is etcd "status.installedVersion = '0.9.6'" >/dev/null
intact "and created again"
k delete catalogs --all >/dev/null
intact "every Catalog deleted"
up_stop
intact "stopped"
up_start
intact "started again"
up_stop

# alm server with alm controller beside it: two logs
"$alm_bin" server --data-dir "$dir/server" --listen 127.0.0.1:0 --simulate-workloads >"$dir/out2" 2>>"$dir/err" &
server=$!
timeout 60 sh -c "until [ -s '$dir/out2' ]; do sleep 0.1; done"
export KUBECONFIG=$dir/server/kubeconfig
"$alm_bin" controller --data-dir "$dir/controller" --catalog-root "$catalog" --metrics-listen off --verify-soak 1s >"$dir/out3" 2>>"$dir/err" &
pid=$!
both() {
	log=$dir/server
	intact "$1, the log of alm server"
	log=$dir/controller
	intact "$1, the log of alm controller"
}
timeout 60 sh -c 'until kubectl wait --for=condition=Established crd/apps.app.coreos.com; do sleep 0.2; done' >/dev/null 2>&1
k create -f catalog.yaml -f etcd-apptype.yaml >/dev/null
app_is etcd "status.installedVersion = '0.9.6'" >/dev/null
both "an app installed"
k delete crd catalogs.app.coreos.com >/dev/null
both "a CRD of ours deleted with its objects"
soon "it is put back" "" k create -f catalog.yaml -o 'jsonpath={.x}'
k delete catalog community >/dev/null
k delete apptype etcd >/dev/null
both "a Catalog and an app deleted"
k create -f etcd-apptype.yaml >/dev/null
k wait apptype/etcd --for=condition=Ready=False --timeout=60s >/dev/null
crash
k delete apptype etcd --wait=false >/dev/null
"$alm_bin" controller --data-dir "$dir/controller" --catalog-root "$catalog" --metrics-listen off --verify-soak 1s >"$dir/out3" 2>>"$dir/err" &
pid=$!
soon "an app deleted while no controller ran is let go" "" gone apptype etcd
both "an app deleted while no controller ran"
crash
both "the controller killed"
has "its anchor is a ConfigMap of the cluster" "anchor alm-system/alm-audit-anchor" "$(alm audit verify --data-dir "$log" 2>&1)"
cp -a "$dir/controller" "$dir/old"
"$alm_bin" controller --data-dir "$dir/controller" --catalog-root "$catalog" --metrics-listen off --verify-soak 1s >"$dir/out3" 2>>"$dir/err" &
pid=$!
k create -f etcd-apptype.yaml >/dev/null
k wait apptype/etcd --for=jsonpath='{.status.observedGeneration}'=1 --timeout=60s >/dev/null
crash
grown() { [ "$(k get configmap alm-audit-anchor -n alm-system -o 'jsonpath={.data.checkpoint}' | sed -n 2p)" -gt \
	"$(sqlite3 "$dir/old/alm.db" 'SELECT max(seq) FROM audit')" ] && echo grown; }
"$alm_bin" controller --data-dir "$dir/controller" --catalog-root "$catalog" --metrics-listen off --verify-soak 1s >"$dir/out3" 2>>"$dir/err" &
pid=$!
soon "which moves on" grown grown
up_stop
rm -rf "$dir/controller"
mv "$dir/old" "$dir/controller"
code "an older copy of the log does not act" 4 "LogRolledBack: configmap:alm-system/alm-audit-anchor remembers" \
	alm controller --data-dir "$dir/controller" --metrics-listen off
code "until the gap is accepted" 0 "begins anew as" alm audit accept-gap --data-dir "$dir/controller" --reason INC-8
"$alm_bin" controller --data-dir "$dir/controller" --catalog-root "$catalog" --metrics-listen off --verify-soak 1s >"$dir/out3" 2>>"$dir/err" &
pid=$!
k delete apptype etcd >/dev/null
soon "and goes on with what there is" "" gone apptype etcd
both "a gap accepted"
up_stop

# the folder is gone: a log that began anew knows nothing of the one that the cluster remembers
remembered() { k get configmap alm-audit-anchor -n alm-system -o 'jsonpath={.data.checkpoint}' | sed -n "$1p"; }
mv "$dir/controller" "$dir/lost"
code "a lost log is not begun anew in silence" 4 "LogRolledBack: configmap:alm-system/alm-audit-anchor remembers" \
	alm controller --data-dir "$dir/controller" --metrics-listen off
of=$(remembered 1)
size=$(remembered 2)
code "until its gap is accepted, too" 0 "begins anew as" alm audit accept-gap --data-dir "$dir/controller" --reason INC-9
is "of which the first entry says what was remembered" "$of $size" "$(sqlite3 "$dir/controller/alm.db" \
	"SELECT json_extract(body, '\$.gap.others[0].origin') || ' ' || json_extract(body, '\$.gap.others[0].size') FROM audit WHERE seq = 1")"
"$alm_bin" controller --data-dir "$dir/controller" --catalog-root "$catalog" --metrics-listen off --verify-soak 1s >"$dir/out3" 2>>"$dir/err" &
pid=$!
k create -f etcd-apptype.yaml >/dev/null
k wait apptype/etcd --for=jsonpath='{.status.observedGeneration}'=1 --timeout=60s >/dev/null
is "it acts" "1" "$(k get apptype etcd -o 'jsonpath={.status.observedGeneration}')"
soon "and the cluster remembers the new one" anew eval "[ \"\$(remembered 1)\" != '$of' ] && echo anew"
k delete apptype etcd >/dev/null
both "a lost folder"
up_stop
kill "$server"
wait "$server"
up_stop
finish
