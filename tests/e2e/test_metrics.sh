#!/bin/bash
# /metrics has every series of lifecycle.md 4.5, and what happens moves it.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - metrics # SKIP no kubectl"
	exit 0
}
up_start
manifests
cd "$dir" || exit 1
scrape() { curl -s "http://$metrics/metrics"; }
series() { scrape | grep -F "$1" | sed 's/ [^ ]*$//' | head -1; }
value() { scrape | grep -F "$1" | sed 's/.* //' | head -1; }
counted() { [ "$(value "$1" | cut -d. -f1)" -ge "$2" ] && echo yes; }
passing() { [ "$(value "$1" | tr -d .)" -gt 0 ] && echo yes; }

package 0.9.4 >/dev/null
k create -f catalog.yaml -f etcd-apptype.yaml >/dev/null
soon "it is installed" 'alm_app_info{app="etcd",type="com.tectonic.storage",version="0.9.4"}' series 'alm_app_info{'
soon "its state" 'alm_app_state{app="etcd",state="Installed"}' series 'alm_app_state{'
is "the revision of the catalog" "alm_catalog_info{catalog=\"community\",digest=\"$(k get catalog community -o 'jsonpath={.status.digest}')\"}" \
	"$(series 'alm_catalog_info{')"
is "when it was read" "yes" "$(counted 'alm_catalog_last_success_timestamp_seconds{catalog="community"}' 1700000000)"
is "nothing of it is left out" "0" "$(value 'alm_catalog_entries_rejected{catalog="community"}')"
is "searches for a version" "yes" "$(counted alm_resolve_seconds_count 1)"
is "and how long they took" "yes" "$(passing alm_resolve_seconds_sum)"
is "decisions of them" "yes" "$(counted alm_resolve_decisions_sum 0)"
for phase in Pending Installing Verifying; do
	is "versions that were $phase" "yes" "$(counted "alm_phase_seconds_count{phase=\"$phase\"}" 1)"
done
is "entries of the log" "yes" "$(counted 'alm_audit_rows_total{type="Transition",reason="Installed"}' 1)"

for i in $(seq 23); do printf 'no archive %s' "$i" >"$catalog/broken-1.0.$i.tgz"; done
soon "entries that are left out, all of them" "23" value 'alm_catalog_entries_rejected{catalog="community"}'
rm "$catalog"/broken-1.0.*.tgz
soon "until it is gone" "0" value 'alm_catalog_entries_rejected{catalog="community"}'

k delete deployment -n etcd etcd-operator >/dev/null
soon "drift that was repaired" "yes" counted 'alm_drift_repaired_total{app="etcd"}' 1
repaired() {
	alm audit query --reason DriftRepaired -o json --data-dir "$data" | jq -r '.[-1] | "\(.type) \(.body.message)"'
}
soon "and no more is missing" "Transition Deployment etcd/etcd-operator is missing: repaired" repaired # what comes before that joins it
# What changes while the former repair is still being told of is one transition with it.
rests "and its status" k get ist -o 'jsonpath={.items[*].metadata.resourceVersion}'
k patch deployment -n etcd etcd-operator --field-manager=somebody --type=merge -p '{"spec":{"replicas":7}}' >/dev/null
soon "who changed what" "somebody spec.replicas" sh -c "'$alm_bin' audit query --reason Drifted -o json --data-dir '$data' |
	jq -r '.[-1].body | \"\(.who.via) \(.paths[0])\"'"
soon "that it is repaired is a transition" "Transition Deployment etcd/etcd-operator changed: repaired" repaired

k patch apptype etcd --type=merge -p '{"spec":{"upgrade":{"mode":"Manual"}}}' >/dev/null
package 0.9.6 >/dev/null
soon "a version waits for a person" "yes" passing 'alm_approval_pending_seconds{app="etcd"}'
soon "and is available" 'alm_upgrade_available{app="etcd",version="0.9.6"}' series 'alm_upgrade_available{'
soon "findings of the gate" "yes" counted 'alm_gate_findings_total{rule="StorageMoved",outcome="allow"}' 1
alm approve etcd 0.9.6 --reason metrics >/dev/null
soon "approved, nobody is waited for" "" series 'alm_approval_pending_seconds{'
k delete apptype etcd >/dev/null
soon "the series of an app go with it" "" series 'app="etcd",'
k delete catalog community >/dev/null
soon "those of a catalog, too" "" series 'catalog="community"'
finish
