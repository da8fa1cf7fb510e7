#!/bin/bash
# What an app may is what its account may (reliability.md 10): nobody who may write AppTypes and Catalogs gets a
# right by them that he has not. On alm up, or on the cluster of ALM_TEST_CLUSTER.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - deputy # SKIP no kubectl"
	echo "1..1"
	exit 0
}
cluster_start
manifests
cd "$dir" || exit 1
k create -f catalog.yaml >/dev/null

# chart NAME VERSION: what stands on stdin becomes its one template
chart() {
	mkdir -p "$1/templates"
	printf 'apiVersion: v2\nname: %s\nversion: %s\n' "$1" "$2" >"$1/Chart.yaml"
	cat >"$1/templates/all.yaml"
	alm package build "$1" -o "$catalog" >/dev/null || not_ok "package $1 $2"
}
# app NAME [SPEC]
app() { echo "{apiVersion: app.coreos.com/v1beta1, kind: AppType, metadata: {name: $1}, spec: {type: com.example, ${2:-}}}" | as_alice create -f - >/dev/null; }
state() { k get ist "install.${2:-1.0.0}.$1.com.example" -o 'jsonpath={.status.phase} {.status.conditions[?(@.status=="False")].reason}' 2>&1; }
told() { k get ist "install.${2:-1.0.0}.$1.com.example" -o 'jsonpath={.status.conditions[?(@.status=="False")].message}'; }
steps() { k get ist "install.${2:-1.0.0}.$1.com.example" -o 'jsonpath={.status.steps}'; }
step() { k get ist "install.${3:-1.0.0}.$1.com.example" -o "jsonpath={.status.steps[$2]}"; }
follow() { sh -c "$(step "$1" 0)" >/dev/null; }
installed() { k get apptype "$1" -o 'jsonpath={.status.installedVersion}'; }
configmap() { echo "{apiVersion: v1, kind: ConfigMap, metadata: {name: $1}, data: {v: \"{{ .Chart.Version }}\"}}"; }
# binding NAME ROLE: a ClusterRoleBinding for alice
binding() { echo "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: $1}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: $2}, subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: alice}]}"; }
as_alice() { k --as alice "$@"; }
alice_may() { as_alice auth can-i "$@" 2>/dev/null; }

k create clusterrole author --verb=create,get,list,watch,update,patch,delete --resource=apps.app.coreos.com,catalogs.app.coreos.com >/dev/null
k create clusterrolebinding alice-author --clusterrole=author --user=alice >/dev/null
k create namespace team-b >/dev/null
k create secret generic s -n team-b --from-literal=password=CANARY-4711 >/dev/null

# 1. A chart that gives its author the cluster
binding evil-admin cluster-admin | chart evil 1.0.0
app evil
soon "a chart that makes alice an administrator is Blocked" "Blocked Forbidden" state evil
has "the account and the first missing right are named" "system:serviceaccount:alm-system:app-evil lacks" "$(told evil)"
has "and what it is for" "bind clusterroles.rbac.authorization.k8s.io cluster-admin at cluster scope, for ClusterRoleBinding/evil-admin" "$(told evil)"
is "no binding" "" "$(k get clusterrolebinding evil-admin -o name --ignore-not-found)"
is "alice reads no Secret of team-b" "no" "$(alice_may get secrets -n team-b)"
has "the step is a manifest" "kubectl apply -f -" "$(step evil 1)"
has "with the rule" '- cluster-admin' "$(step evil 1)"

# 2. lookup reads as the account
printf '%s\n' '{apiVersion: v1, kind: ConfigMap, metadata: {name: loot}, data: {v: {{ (lookup "v1" "Secret" "team-b" "s") | toJson | quote }} }}' | chart spy 1.0.0
app spy
soon "lookup of another namespace's Secret is Forbidden" "Blocked Forbidden" state spy
has "as the server says" 'lookup: secrets "s" is forbidden: User "system:serviceaccount:alm-system:app-spy" cannot get resource "secrets" in API group "" in the namespace "team-b"' "$(told spy)"
printf '%s\n' '{apiVersion: v1, kind: ConfigMap, metadata: {name: loot}, data: {v: {{ (lookup "v1" "Secret" "alm-system" "") | toJson | quote }} }}' | chart spies 1.0.0
app spies
soon "so is a list of alm-system's" "Blocked Forbidden" state spies
is "nothing of it is anywhere" "" "$(k get configmaps -A -o yaml | grep -o CANARY; k get apps,ist -o yaml | grep -o CANARY)"

# 3. Places that are somebody else's
configmap x | chart squat 1.0.0
app squat 'installNamespace: team-b, '
soon "a namespace that is there already" "Blocked Forbidden" state squat
has "is named" "namespace team-b was not made for app squat" "$(told squat)"
is "with the command" "kubectl annotate namespace team-b app.coreos.com/apps=squat" "$(step squat 0)"
is "nothing in it" "" "$(k get configmap x -n team-b -o name --ignore-not-found)"
printf '{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: team-b}}\n' | chart reach 1.0.0
app reach
soon "an object in another namespace" "Blocked Forbidden" state reach
has "is named" "configmaps" "$(told reach)"
has "with the namespace" "in team-b" "$(told reach)"
follow squat
soon "the command helps" "1.0.0" installed squat
is "and it is there" "configmap/x" "$(k get configmap x -n team-b -o name)"

# 4. Accounts of others
k create serviceaccount boss -n kube-system >/dev/null
k create clusterrolebinding boss --clusterrole=cluster-admin --serviceaccount=kube-system:boss >/dev/null
binding borrowed cluster-admin | chart borrow 1.0.0
app borrow 'serviceAccountName: boss, installNamespace: kube-system, '
soon "an account of kube-system is not to be borrowed" "Blocked Forbidden" state borrow
k create namespace lend >/dev/null
k annotate namespace lend 'app.coreos.com/apps=other, lent' >/dev/null
k create serviceaccount boss -n lend >/dev/null
k create clusterrolebinding boss-lend --clusterrole=cluster-admin --serviceaccount=lend:boss >/dev/null
binding lent view | chart lent 1.0.0
app lent 'serviceAccountName: boss, installNamespace: lend, '
soon "nor one that does not say so" "Blocked Forbidden" state lent
is "the command" "kubectl annotate serviceaccount boss -n lend app.coreos.com/apps=lent" "$(step lent 0)"
follow lent
soon "one that does is used, with its rights" "1.0.0" installed lent
is "for all it may" "clusterrolebinding.rbac.authorization.k8s.io/lent" "$(k get clusterrolebinding lent -o name)"

# 5. Drift is repaired as the account
k delete clusterrolebinding boss-lend lent >/dev/null
drifted() { k get ist install.1.0.0.lent.com.example -o 'jsonpath={.status.conditions[?(@.type=="Drifted")].status}'; }
soon "an administrator's deletion is seen" "True" drifted
is "and not undone by an account that may not" "" "$(k get clusterrolebinding lent -o name --ignore-not-found)"

# 6. Definitions of others
# definition PLURAL.GROUP [OWNER]
definition() {
	cat <<-END
		apiVersion: apiextensions.k8s.io/v1
		kind: CustomResourceDefinition
		metadata: {name: $1, annotations: {api-approved.kubernetes.io: unapproved${2:+, app.coreos.com/owner: $2}}}
		spec:
		  group: ${1#*.}
		  scope: Namespaced
		  names: {plural: ${1%%.*}, singular: ${1%%.*}x, kind: K${1%%.*}, listKind: K${1%%.*}List}
		  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
	END
}
definition foreigns.example.org | k create -f - >/dev/null
definition foreigns.example.org | chart takes 1.0.0
app takes
soon "a definition that was there and names nobody" "Blocked Forbidden" state takes
is "the command" "kubectl annotate crd foreigns.example.org app.coreos.com/owner=takes.com.example" "$(step takes 0)"
is "it is untouched" "" "$(k get crd foreigns.example.org -o 'jsonpath={.metadata.labels}{.metadata.ownerReferences}')"
follow takes
soon "the command helps" "1.0.0" installed takes
definition things.storage.k8s.io | chart reserved 1.0.0
app reserved
soon "a definition of a reserved group" "Blocked Forbidden" state reserved
definition things.app.coreos.com | chart ours 1.0.0
app ours
soon "one of ALM's own" "Blocked Forbidden" state ours
is "neither is there" "" "$(k get crd things.storage.k8s.io things.app.coreos.com -o name --ignore-not-found)"

# 7. What it needs more, an administrator gives
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
soon "cluster-scoped things" "Blocked Forbidden" state needs
is "none of it is written" "" "$(k get priorityclass,clusterrole needs -o name --ignore-not-found; k get serviceaccount needs -n needs -o name --ignore-not-found)"
alm rbac needs >rbac.yaml
has "alm rbac tells the rules" "priorityclasses" "$(cat rbac.yaml)"
k apply -f rbac.yaml >/dev/null
soon "applied, it goes on at once" "1.0.0" installed needs

# 8. An upgrade that wants more
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
app grows 'upgrade: {onWarn: Approve}, '
soon "a Role of its namespace" "1.0.0" installed grows
role 'get, list, delete' | chart grows 1.1.0
soon "more rights wait for a person" "AwaitingApproval PermissionIncrease" state grows 1.1.0
is "and are listed" '["delete,list pods in grows"]' "$(k get ist install.1.1.0.grows.com.example -o 'jsonpath={.status.plan.permissions}')"
has "by alm diff, too" "delete,list pods in grows" "$(alm diff grows --to 1.1.0 2>&1)"
alm approve grows 1.1.0 --reason CHG-1 >/dev/null
soon "approved, it is installed" "1.1.0" installed grows
k patch apptype grows --type=merge -p '{"spec":{"upgrade":{"onWarn":"Proceed"}}}' >/dev/null
role '"*"' | chart grows 1.2.0
soon "by default it goes on within what the account may" "1.2.0" installed grows
has "and is told" "adds 1 permission: * pods in grows" "$(k get events -A --field-selector involvedObject.name=install.1.2.0.grows.com.example -o 'jsonpath={.items[*].message}')"
{
	role '"*"'
	echo ---
	binding grown cluster-admin
} | chart grows 1.3.0
soon "beyond that it does not" "Blocked Forbidden" state grows 1.3.0
is "and what runs stays" "1.2.0" "$(installed grows)"

# 9. Nothing is left
for app in grows takes needs squat; do k delete apptype $app >/dev/null; done
is "no account outlives its app" "" "$(k get clusterroles,clusterrolebindings,rolebindings -A -o name | grep -E 'alm:app:(grows|takes|needs|squat)$')"
is "alice is who she was" "no no no" "$(alice_may get secrets -n team-b) $(alice_may create clusterrolebindings) $(alice_may create pods -n lend)"
finish
