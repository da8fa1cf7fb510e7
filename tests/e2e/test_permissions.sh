#!/bin/bash
# Rights that an app takes: what its account lacks is printed and given by an administrator; what an upgrade gives more
# is listed, shown, and waits where the app asks for it (N10). On alm up, or on the cluster of ALM_TEST_CLUSTER.
# shellcheck disable=SC2119
set -u
here=$PWD/tests/e2e
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - permissions # SKIP no kubectl"
	echo "1..1"
	exit 0
}
cluster_start
manifests
cd "$dir" || exit 1
# shellcheck source=tests/e2e/deputy.sh
. "$here/deputy.sh"

cat <<-'END' | chart needs 1.0.0
	{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: needs}, value: 1000}
	---
	{apiVersion: v1, kind: ServiceAccount, metadata: {name: needs}}
	---
	apiVersion: rbac.authorization.k8s.io/v1
	kind: ClusterRole
	metadata: {name: needs}
	rules: [{apiGroups: [""], resources: [nodes], verbs: [get, list]}]
END
app needs
role() { # VERBS
	cat <<-END
		$(configmap grows)
		---
		apiVersion: rbac.authorization.k8s.io/v1
		kind: Role
		metadata: {name: grows}
		rules: [{apiGroups: [""], resources: [pods], verbs: [$1]}]
	END
}
role get | chart grows 1.0.0
# a range that approves versions approves no rights
app grows 'upgrade: {onWarn: Approve, approveVersion: ">=1.0.0"}, '
as_alice create -f catalog.yaml >/dev/null
create_apps

soon "cluster-scoped things are Forbidden" "Blocked Forbidden" state needs
has "alm why says that what it chose is held" ": Forbidden: " "$(alm why needs)"
has "alm why-not names it with the step" "  next: alm rbac needs" "$(alm why-not needs 1.0.0)"
alm why-not needs 1.0.0 -o json >"$dir/held.json"
is "and ends as refused" "3" "$?"
is "as one document, too" "blocked Forbidden" "$(jq -r '.held | .what + " " + .reason' "$dir/held.json")"
lacks "none of it is written" k get priorityclasses,clusterroles,serviceaccounts -A -o name -- /needs
alm rbac needs >rbac.yaml
has "alm rbac tells the rules" "- priorityclasses" "$(cat rbac.yaml)"
has "and the account" "name: app-needs" "$(cat rbac.yaml)"
is "as a List, too" "List" "$(alm rbac needs -o json | jq -r .kind)"
run_step "the step, as it stands" "$(next_steps needs | head -1)"
soon "applied, it goes on at once" "1.0.0" installed needs

cluster_role() { # RESOURCE
	cat <<-END
		apiVersion: rbac.authorization.k8s.io/v1
		kind: ClusterRole
		metadata: {name: needs}
		rules: [{apiGroups: [""], resources: [$1], verbs: [get, list]}]
	END
}
cluster_role persistentvolumes | chart needs 1.1.0
soon "the next version takes others" "Blocked Forbidden" state needs 1.1.0
alm rbac needs --to 1.1.0 | k apply -f - >/dev/null
soon "given, it is installed" "1.1.0" installed needs
alm rollback needs --to 1.0.0 --reason back >/dev/null
soon "the way back has its rights still" "1.0.0" installed needs
k delete clusterrole app-needs >/dev/null
has "what refuses it is told at once" "Forbidden: " "$(alm upgrade needs --to 1.1.0 --reason on)"
soon "rights that were just taken away are asked for again" "Blocked Forbidden" state needs 1.1.0
is "and what runs stays as it is" "1.0.0 nodes" "$(installed needs) $(k get clusterrole needs -o 'jsonpath={.rules[0].resources[0]}')"
alm rbac needs --to 1.1.0 | k apply -f - >/dev/null
soon "until they are given again" "1.1.0" installed needs

soon "a Role of its namespace is within the account's rights" "1.0.0" installed grows
role 'get, list, delete' | chart grows 1.1.0
soon "more rights wait for a person" "AwaitingApproval PermissionIncrease" state grows 1.1.0
is "and are listed" '["delete,list pods in grows"]' "$(ist grows 1.1.0 '{.status.plan.permissions}')"
has "by alm diff, too" "grant   PermissionIncrease        delete,list pods in grows" "$(alm diff grows --to 1.1.0 2>&1)"
has "and by the condition" "adds 1 permission: delete,list pods in grows" "$(told grows 1.1.0)"
alm approve grows 1.1.0 --reason CHG-1 >/dev/null
soon "approved, it is installed" "1.1.0" installed grows
k patch apptype grows --type=merge -p '{"spec":{"upgrade":{"onWarn":"Proceed"}}}' >/dev/null
role '"*"' | chart grows 1.2.0
soon "by default it goes on within what the account may" "1.2.0" installed grows
warned() {
	k get events -A --field-selector involvedObject.name=install.1.2.0.grows.com.example,type=Warning -o 'jsonpath={.items[*].message}' |
		grep -cF 'adds 1 permission: * pods in grows'
}
soon "and an Event tells" 1 warned # it is written after the status
has "and the log" "adds 1 permission: * pods in grows" "$(alm audit query --type Transition --reason Installing --data-dir "$data" -o json)"
has "with the account of each write" '"user": "system:serviceaccount:alm-system:app-grows"' "$(alm audit query --type Write --subject Role/grows/grows --data-dir "$data" -o json)"
{
	role '"*"'
	echo ---
	binding grown cluster-admin
} | chart grows 1.3.0
soon "beyond that it does not" "Blocked Forbidden" state grows 1.3.0
is "and what runs stays" "1.2.0 " "$(installed grows) $(k get clusterrolebinding grown -o name --ignore-not-found)"

k delete clusterrolebinding alm:app:grows >/dev/null
k patch clusterrole alm:app:grows --type=json -p '[{"op":"replace","path":"/rules","value":[]}]' >/dev/null
kept() { k get clusterrole alm:app:grows -o 'jsonpath={.rules[0].resources[0]}' 2>&1 && k get clusterrolebinding alm:app:grows -o 'jsonpath={.subjects[0].name}' 2>&1; }
soon "the account's rights are kept as they shall be" "customresourcedefinitionsapp-grows" kept
for app in grows needs; do k delete apptype $app >/dev/null; done
lacks "and go with the app" k get clusterroles,clusterrolebindings,rolebindings -A -o name -- -E 'alm:app:(grows|needs)$'
steps_ran
finish
