#!/bin/bash
# What people ask of an app stays in the log with who asked and why: mode, pause, a version, a rollback, a waiver, a deletion;
# audit why of what became of it leads to the person.
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - who asked # SKIP no kubectl"
	exit 0
}
echo 'marys-token,mary,8,"system:masters"' >"$dir/tokens"
chmod 600 "$dir/tokens"
up_start --token-file "$dir/tokens"
manifests
cd "$dir" || exit 1
sed "s/token: .*/token: marys-token/" "$KUBECONFIG" >"$dir/mary"
chmod 600 "$dir/mary"
mary() { KUBECONFIG="$dir/mary" "$@"; }
asks() { k get auditrecords --field-selector "subject.name=etcd,reason=$1" -o json | jq -r '[.items[] | select(.type == "Approval")] | "\(length) \(.[-1].actor) \(.[-1].body.justification)"'; }
patch() { mary kubectl patch apptype etcd --type=merge -p "$1" >/dev/null || not_ok "patch $1"; }
why_says() { # text, arguments of audit why
	local text=$1
	shift
	alm audit why "$@" | grep -c -- "$text" | sed 's/^[1-9].*/yes/'
}

package 0.9.5 >/dev/null
k create -f catalog.yaml -f etcd-apptype.yaml >/dev/null
app_is etcd "status.installedVersion = '0.9.5'" >/dev/null
patch '{"spec":{"upgrade":{"soak":"two days"}}}'
package 0.9.6 >/dev/null
gate() { k get apptype etcd -o json | jq -r '.status.conditions[] | select(.type == "UpgradeAvailable") | .reason'; }
soon "a soak that cannot be read closes the gate" Unreadable gate
has "and status says what to write" 'spec.upgrade.soak: "two days" is no duration' "$(alm status etcd)"
patch '{"spec":{"upgrade":{"soak":null,"windows":[{"days":["Someday"],"from":"25:00","to":"26:00"}]}}}'
window() { k get apptype etcd -o json | grep -o 'spec.upgrade.windows.0.: want days' | head -1; }
soon "a window that cannot be read, too" "spec.upgrade.windows[0]: want days" window
patch '{"spec":{"upgrade":{"windows":null}}}'
app_is etcd "status.installedVersion = '0.9.6'" >/dev/null
patch '{"metadata":{"annotations":{"app.coreos.com/reason":"freeze"}},"spec":{"paused":true}}'
soon "a pause: who and why" "1 mary freeze" asks Paused
patch '{"spec":{"paused":false,"upgrade":{"mode":"Manual"}}}'
soon "its end: that reason was of the pause" "1 mary null" asks Resumed
soon "the mode" "1 mary null" asks ModeChanged
patch '{"spec":{"upgrade":{"mode":"Automatic","waivers":[{"rule":"ResourceDropped","resource":"etcds.etcd.coreos.com/v1","reason":"nobody has one"}]}}}'
soon "a waiver: who and why" "1 mary nobody has one" asks Waived
k annotate apptype etcd 'note="spec.upgrade.to' >/dev/null # by admin: no change of the version, whatever it reads like
mary "$alm_bin" rollback etcd --to 0.9.5 --reason "bad disk" >/dev/null
soon "a rollback: who and why" "1 mary bad disk" asks RollbackAsked
app_is etcd "status.installedVersion = '0.9.5'" >/dev/null
soon "why of the rollback names her" "yes" why_says 'mary.*"bad disk"' apptype/etcd --version 0.9.5
mary "$alm_bin" upgrade etcd --to 0.9.6 --reason "new disk" >/dev/null
soon "an upgrade: who and why" "1 mary new disk" asks UpgradeAsked
app_is etcd "status.installedVersion = '0.9.6'" >/dev/null
patch '{"spec":{"upgrade":{"to":null,"waivers":null}}}'
soon "the version is let go" "1 mary null" asks VersionReleased
soon "the waiver too" "1 mary null" asks WaiverWithdrawn
mary kubectl delete apptype etcd --timeout=60s >/dev/null
soon "why of a deleted app names who deleted it" "yes" why_says mary apptype/etcd
soon "and of its strategy" "yes" why_says mary ist/install.0.9.5.etcd.com.tectonic.storage
rows=$(alm audit query --type Observe --data-dir "$data")
has "a row names its subject once: SpecChanged" "Observe SpecChanged AppType/etcd generation " "$(printf '%s\n' "$rows" | tr -s ' ')"
is "a row names its subject once: DeletionAsked" "AppType/etcd" "$(printf '%s\n' "$rows" | sed -n 's/.*DeletionAsked *//p')"
code "the log is intact" 0 "transitions" alm audit verify --replay --data-dir "$data"
finish
