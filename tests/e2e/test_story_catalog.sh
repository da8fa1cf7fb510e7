#!/bin/bash
# Sections 3 to 8 of the story: installs and upgrades from a catalog, a CRD that comes first, approval, a dropped
# version, and the questions to the audit log. By alm up, or on the cluster of ALM_TEST_CLUSTER, whose requests are in its own log: who
# made them is what the policy for approvals ties, and what managers claim.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
# shellcheck source=tests/e2e/controllers.sh
. tests/e2e/controllers.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - story from a catalog # SKIP no kubectl"
	exit 0
}
records=yes # kubectl get auditrecords
if on_cluster; then
	KUBECONFIG=$ALM_TEST_CLUSTER speaks_for_users || records=
	[ -z "$records" ] || KUBECONFIG=$ALM_TEST_CLUSTER records_here
fi
cluster_start
! on_cluster || trap 'k delete apiservice v1alpha1.audit.app.coreos.com --ignore-not-found >/dev/null 2>&1; kill "$proxy"; up_stop; rm -rf "$dir"' EXIT
no_records="this cluster's API server has no --requestheader-client-ca-file: it serves no APIService of others"
approver=$PWD/deploy/approver.yaml
manifests
cd "$dir" || exit 1
by="admin (authenticated, alm)" trust=authenticated entry="    audit #N"
created="create EtcdCluster/default/etcd-purple-ant Applied by admin (authenticated, kubectl"
if on_cluster; then
	by="alm-cli (claimed by manager alm-cli)" trust=managedFields
	! has_policies || k apply -f "$approver" >/dev/null
	! has_policies || by="admin (admission, alm-cli)" trust=admission
	[ -n "$records" ] || entry=
	created="Created"
fi
installed() { app_is etcd "status.installedVersion = '$1'" 2>&1; }
app_patch() { k patch apptype etcd --type=merge -p "$1" >/dev/null; }
ready_reason() { k get apptype etcd -o 'jsonpath={.status.conditions[?(@.type=="Ready")].reason}'; }
packed() { echo "$catalog/etcd-operator-$1.tgz  sha256:D  etcd.com.tectonic.storage  etcds.etcd.coreos.com/$2"; }

# 3. From a catalog
is "3 package build" "$(packed 0.9.4 v1)" "$(package 0.9.4)"
is "3 catalog lint" "etcd-operator-0.9.4.tgz: warning unsafe-object: Deployment etcd-operator runs quay.io/coreos/etcd-operator:0.9.4, which names no digest
  remedy: name the image as NAME@sha256:...
1 package, 1 version: 0 errors, 1 warning" "$(alm catalog lint "$catalog" 2>/dev/null)"
k create -f catalog.yaml -f etcd-apptype.yaml >/dev/null
is "A14 an AppType alone: its operator is there" "apptype.app.coreos.com/etcd condition met" \
	"$(k wait --for=condition=Ready apptype/etcd --timeout=60s 2>&1)"
is "A14 the CRD is Established" "customresourcedefinition.apiextensions.k8s.io/etcds.etcd.coreos.com condition met" \
	"$(k wait --for=condition=Established crd/etcds.etcd.coreos.com --timeout=60s 2>&1)"
is "A14 the operator is ready" "1" "$(k get deployment etcd-operator -n etcd -o 'jsonpath={.status.readyReplicas}')"
is "3 kubectl get catalogs,ist" "NAME                               PACKAGES   VERSIONS   SYNCED   AGE
catalog.app.coreos.com/community   1          1          18s      19s

NAME                                                                             APP    VERSION   APPROVED   PHASE       AGE
installstrategy.opinstaller.coreos.com/install.0.9.4.etcd.com.tectonic.storage   etcd   0.9.4                Succeeded   18s" \
	"$(k get catalogs,ist)"
k create -f etcd-instance.yaml >/dev/null

# A14: what is live is what `alm template` prints for archive and values (which is what helm prints: test_charts_*).
rendered() { alm template etcd "$catalog/etcd-operator-0.9.4.tgz" --namespace etcd --include-crds; }
rendered | k create --dry-run=client -o json -f - | jq -cS 'if .kind == "List" then .items[] else . end' >want.json
while read -r line; do
	name=$(jq -r '.kind + "/" + .metadata.name' <<<"$line")
	ns=$(jq -r '.metadata.namespace // "etcd"' <<<"$line")
	k get "$(jq -r '.kind + "." + (.apiVersion | if contains("/") then split("/") | .[1] + "." + .[0] else "v1." end)' <<<"$line")" \
		"$(jq -r .metadata.name <<<"$line")" -n "$ns" -o json >live.json 2>/dev/null || echo "$name is not there"
	# each leaf of the document is the live one's
	jq -rn --slurpfile w <(echo "$line") --slurpfile l live.json --arg name "$name" '
		$w[0] | del(.metadata.creationTimestamp, .status) | [paths(scalars)][] as $p
		| select(($w[0] | getpath($p)) != ($l[0] | getpath($p))) | $name + " " + ($p | map(tostring) | join("."))'
done <want.json >differ 2>&1
none "A14 the live objects are those of the template" cat differ
is "A14 eleven and the CRD" "12" "$(wc -l <want.json)"

# 4. A version appears
answered() { k get auditrecords 1 -o name 2>&1; }
[ -z "$records" ] || soon "A3 kubectl get auditrecords" auditrecord.audit.app.coreos.com/1 answered
alm wait apptype etcd "status.installedVersion = '0.9.5'" --timeout 2m --logs -o name >"$dir/told" 2>&1 &
waiting=$!
quiet_for 1 # what is told before it listens it does not hear
is "4 package build" "$(packed 0.9.5 v1,v2)" "$(package 0.9.5)"
wait "$waiting"
log=$(cat "$dir/told")
is "A19 it upgrades by itself" "apptype.app.coreos.com/etcd" "$(tail -1 <<<"$log")"
for word in CatalogChanged Resolved Installing Verifying Installed; do
	if [ -z "$records" ]; then
		skip "4 --logs tells $word" "$no_records"
	else
		has "4 --logs tells $word" " $word " "$log"
	fi
done
next_second
at=$(date -u +%Y-%m-%dT%H:%M:%SZ)
next_second

# 5. CRD first
sed 's/etcds/foos/g; s/etcd.coreos.com/example.com/g; s/EtcdCluster/Foo/g; s/etcd.com.tectonic.storage/foo.com.example/; s/singular: etcd/singular: foo/; s/shortNames:.*/shortNames: [fo]/' \
	etcd-crd.yaml >foo-crd.yaml
k create -f foo-crd.yaml >/dev/null
resolved() { k get crd foos.example.com -o "jsonpath={.status.conditions[?(@.type==\"app.coreos.com/Resolved\")].$1}"; }
soon "A15 no provider: the CRD says who was asked" \
	"no catalog provides foos.example.com/v1 (asked: community, 1 package, 2 versions)" resolved message
is "A15 the condition" "False NoPackageProvides" "$(resolved status) $(resolved reason)"
soon "A15 and an Event" "NoPackageProvides" k get events -A --field-selector "involvedObject.name=foos.example.com,involvedObject.uid=$(k get crd foos.example.com -o 'jsonpath={.metadata.uid}'),type=Warning" \
	-o 'jsonpath={.items[*].reason}'
mkdir -p foo/templates
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: foo}\ndata: {version: "{{ .Chart.Version }}"}\n' >foo/templates/cm.yaml
for v in 1.0.0 1.1.0 1.2.0; do
	printf 'apiVersion: v2\nname: foo\nversion: %s\n' $v >foo/Chart.yaml
	printf 'appType: foo.com.example\nprovides: [foos.example.com/v1]\n' >foo/alm.yaml
	[ $v = 1.2.0 ] && printf 'minKubeVersion: 9.0.0\n' >>foo/alm.yaml
	alm package build foo -o "$catalog" >/dev/null 2>&1 || not_ok "package foo $v"
done
soon "A15 the highest installable of three" "1.1.0" k get apptypes -o 'jsonpath={.items[?(@.spec.type=="com.example")].status.installedVersion}'
soon "A15 the condition is cleared by itself" "True" resolved status
has "A15 the highest says why not" "KubeVersion      needs Kubernetes 9.0.0" "$(alm why foo 2>&1)"

# 6. Manual upgrade with approval
app_patch '{"spec":{"upgrade":{"mode":"Manual"}}}'
is "6 package build" "$(packed 0.9.6 v1,v2)" "$(package 0.9.6)"
phase() { k get ist "install.$1.etcd.com.tectonic.storage" -o 'jsonpath={.status.phase}'; }
soon "6 it waits" "AwaitingApproval" phase 0.9.6
soon "A17 availableVersion" "0.9.6" k get apptype etcd -o 'jsonpath={.status.availableVersion}'
is "6 kubectl get ist" "NAME                                      APP    VERSION   APPROVED   PHASE              AGE
install.0.9.4.etcd.com.tectonic.storage   etcd   0.9.4                Superseded         20m
install.0.9.5.etcd.com.tectonic.storage   etcd   0.9.5                Succeeded          10m
install.0.9.6.etcd.com.tectonic.storage   etcd   0.9.6                AwaitingApproval   20s" "$(k get ist | grep -v foo)"
is "A20 nothing is applied meanwhile" "quay.io/coreos/etcd-operator:0.9.5" \
	"$(k get deployment etcd-operator -n etcd -o 'jsonpath={.spec.template.spec.containers[0].image}')"
is "6 alm diff" "update  CustomResourceDefinition  etcds.etcd.coreos.com  spec.versions[v1].storage  true -> false
update  CustomResourceDefinition  etcds.etcd.coreos.com  spec.versions[v2].storage  false -> true
update  Deployment                etcd/etcd-operator  spec.template.spec.containers[0].image  quay.io/coreos/etcd-operator:0.9.5 -> quay.io/coreos/etcd-operator:0.9.6
note    StorageMoved              etcds.etcd.coreos.com: v1 -> v2; 0 of 0 objects affected
0 to create, 2 to update, 0 to delete, 10 unchanged; plan sha256:D…" "$(alm diff etcd --to 0.9.6 2>&1)"
is "6 alm diff writes nothing" "quay.io/coreos/etcd-operator:0.9.5" \
	"$(k get deployment etcd-operator -n etcd -o 'jsonpath={.spec.template.spec.containers[0].image}')"
is "6 approve" "approved install.0.9.6.etcd.com.tectonic.storage, plan sha256:D…" "$(alm approve etcd 0.9.6 --reason CHG-4711 2>&1)"
is "6 and it is installed" "apptype.app.coreos.com/etcd" "$(installed 0.9.6)"

# 7. A dropped version blocks
app_patch '{"spec":{"upgrade":{"mode":"Automatic"}}}'
package 1.0.0 >/dev/null
soon "7 blocked" "UpgradeBlocked" ready_reason
is "7 kubectl get Apps" "NAME   KIND                      INSTALLED   AVAILABLE   UPGRADE     READY   REASON           AGE
etcd   Etcd.v2.etcd.coreos.com   0.9.6       1.0.0       Automatic   True    UpgradeBlocked   30m" "$(k get Apps etcd)"
soon "A22 a Warning Event" "1.0.0 drops etcds.etcd.coreos.com/v1 (1 object, stored)" k get events \
	--field-selector "involvedObject.uid=$(k get apptype etcd -o 'jsonpath={.metadata.uid}'),reason=UpgradeBlocked" -o 'jsonpath={.items[*].message}'
blocked='alm_upgrade_blocked{app="etcd",version="1.0.0",reason="ResourceDropped",resource="etcds.etcd.coreos.com/v1"} 1'
metric() { curl -s "http://$metrics/metrics" | grep '^alm_upgrade_blocked{app="etcd"'; }
soon "A22 the metric" "$blocked" metric
candidate() { k get apptype etcd -o json | jq -c '.status.candidates[] | select(.version == "1.0.0") | '"$1"; }
is "A21 the candidate" '{"installable":false,"reason":"ResourceDropped","dropped":["etcds.etcd.coreos.com/v1"]}' \
	"$(candidate '{installable, reason, dropped}')"
is "7 alm why" "etcd  installed 0.9.6  Automatic  community@sha256:D…  channel stable  range *
  1.0.0       no   ResourceDropped  etcds.etcd.coreos.com/v1: 1 object, stored, last written through by kubectl-create
  0.9.6       -    installed
  2 lower versions: NotNewer$entry" "$(alm why etcd 2>&1)"
steps='etcd 1.0.0 is not installable: it no longer manages etcds.etcd.coreos.com/v1. It would be after (checked by resolving again):
  1. alm crd migrate etcds.etcd.coreos.com --to v2       rewrites 1 object, then storedVersions is [v2]
     first change apiVersion in what kubectl-create writes: default/etcd-purple-ant'
is "A23 approve is refused with the steps: exit 3" "$steps
3" "$(
	alm approve etcd 1.0.0 --reason x 2>&1
	echo $?
)"
is "7 the other ways out" "$steps
Other ways out:
  alm upgrade etcd --to 1.0.0 --accept-dropped etcds.etcd.coreos.com/v1 --reason TEXT   # never covers a stored version
  kubectl patch apptype etcd --type=merge -p '{\"spec\":{\"version\":\"<1.0.0\"}}'   # stay below it" \
	"$(alm why-not etcd 1.0.0 -o wide 2>&1)"
run_step "A24 the step, literally" "$(candidate '.steps[0]' | jq -r .)"
# A real API server may not know the new storage version yet, in the first minute of it: alm says so and waits.
is "A24 is done" "default/etcd-purple-ant written as v2; storedVersions [v1 v2] -> [v2]" "$(grep -v '^waiting [0-9]* s: v2 became' <<<"$said")"
is "A24 makes it installable" "apptype.app.coreos.com/etcd" "$(installed 1.0.0)"
soon "A22 the metric is gone with the cause" "" metric

# 8. Forensics
why=$(alm audit why apptype/etcd --version 0.9.6 --data-dir "$data" 2>&1)
for word in "Transition Installed 0.9.6" '└ #' "Approval Approved" "$by \"CHG-4711\"" \
	"Decision ApprovalRequired       wait: mode Manual" "allow: 0.9.6, best of 3 candidates" "Observe CatalogChanged"; do
	has "A3 audit why: $word" "$word" "$why"
done
is "8 audit state --at" "etcd  Installed  0.9.5" "$(alm audit state --at "$at" --data-dir "$data" | grep -oE 'etcd +Installed +0.9.5')"
if [ -z "$records" ]; then
	skip "8 the approval by kubectl" "$no_records"
else
	is "8 the approval by kubectl" "1" "$(k get auditrecords --field-selector \
		subject.name=install.0.9.6.etcd.com.tectonic.storage,type=Approval -o name | grep -c '^auditrecord.audit.app.coreos.com/')"
fi
is "8 the status says who approved" "${by%% *} $trust" "$(k get ist install.0.9.6.etcd.com.tectonic.storage \
	-o 'jsonpath={.status.approval.by} {.status.approval.trust}')"
timeline=$(alm audit timeline --subject EtcdCluster/default/etcd-purple-ant --data-dir "$data" 2>&1)
has "A3 who created the instance" "$created" "$timeline"
if on_cluster; then
	skip "A3 and who changed it" "the migration changes nothing of its spec: it stands in the log of the cluster"
	skip "A3 and who deleted it" "the log of the cluster has that"
else
	has "A3 and who changed it" "update EtcdCluster/default/etcd-purple-ant Applied by admin (authenticated, alm)" "$timeline"
	k delete etcds.v2.etcd.coreos.com etcd-purple-ant >/dev/null
	has "A3 and who deleted it" "delete EtcdCluster/default/etcd-purple-ant Applied by admin (authenticated, kubectl" \
		"$(alm audit timeline --subject EtcdCluster/default/etcd-purple-ant --data-dir "$data" 2>&1)"
fi
verify() { alm audit verify --data-dir "$data" 2>&1 | grep -oE '^[0-9]+ entries: chain, tree|([0-9]+) transitions = \1 statuses'; }
is "A3 the log verifies" "2" "$(verify | wc -l)"
if command -v sqlite3 >/dev/null; then
	change="update audit set reason='x' where seq=(select max(seq) from audit where type='Approval')"
	has "8 the log is append-only" "audit is append-only" "$(sqlite3 "$data/alm.db" "$change" 2>&1)"
	up_stop
	triggers=$(sqlite3 "$data/alm.db" "select group_concat('drop trigger ' || name, ';') from sqlite_master where type='trigger' and tbl_name='audit'")
	sqlite3 "$data/alm.db" "$triggers; $change"
	code "A3 one changed row: exit 4" 4 "" alm audit verify --data-dir "$data"
fi
steps_ran
! on_cluster || k delete crd foos.example.com --ignore-not-found --timeout=30s >/dev/null
finish
