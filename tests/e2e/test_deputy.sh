#!/bin/bash
# What an app may is what its account may (reliability.md 10): alice, who may write AppTypes and Catalogs, gets no
# right by them that she has not: not by a chart, not by lookup, not by what is somebody else's. On alm up, or on the
# cluster of ALM_TEST_CLUSTER.
# shellcheck disable=SC2119
set -u
here=$PWD/tests/e2e
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
# shellcheck source=tests/e2e/deputy.sh
. "$here/deputy.sh"

# What is there, and whose it is
k create -f - >/dev/null <<END
{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-b"}}
---
{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lend", "annotations": {"app.coreos.com/apps": "other, lent"}}}
---
{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "team-b"}, "stringData": {"password": "CANARY-4711"}}
---
{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "boss", "namespace": "kube-system"}}
---
{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "boss", "namespace": "lend"}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: boss}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: boss, namespace: kube-system}, {kind: ServiceAccount, name: boss, namespace: lend}]
---
$(definition foreigns.example.org)
END

# The charts, and an app of each
binding evil-admin cluster-admin | chart evil 1.0.0
app evil
binding evil-own alm:app:own | chart own 1.0.0
app own
cat <<-'END' | chart maker 1.0.0
	apiVersion: rbac.authorization.k8s.io/v1
	kind: ClusterRole
	metadata: {name: maker, labels: {rbac.authorization.k8s.io/aggregate-to-view: "true"}}
	rules: [{apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: [get, create]}]
END
app maker
printf '%s\n' '{apiVersion: v1, kind: ConfigMap, metadata: {name: loot}, data: {v: {{ (lookup "v1" "Secret" "team-b" "s") | toJson | quote }} }}' | chart spy 1.0.0
app spy
printf '%s\n' '{apiVersion: v1, kind: ConfigMap, metadata: {name: loot}, data: {v: {{ (lookup "v1" "Secret" "alm-system" "") | toJson | quote }} }}' | chart spies 1.0.0
app spies
configmap x | chart squat 1.0.0
app squat 'installNamespace: team-b, '
configmap x | chart system 1.0.0
app system 'installNamespace: kube-public, '
printf '{apiVersion: v1, kind: ConfigMap, metadata: {name: z, namespace: team-b}}\n' | chart reach 1.0.0
app reach
printf '{apiVersion: v1, kind: ConfigMap, metadata: {name: y}}\n' | chart nameless 1.0.0
app nameless
binding borrowed cluster-admin | chart borrow 1.0.0
app borrow 'serviceAccountName: boss, installNamespace: kube-system, '
binding lent view | chart lent 1.0.0
app lent 'serviceAccountName: boss, installNamespace: lend, '
definition foreigns.example.org | chart takes 1.0.0
app takes
definition things.storage.k8s.io | chart reserved 1.0.0
app reserved
definition things.app.coreos.com | chart ours 1.0.0
app ours
as_alice create -f catalog.yaml >/dev/null
create_apps

soon "a chart that makes alice an administrator is Blocked" "Blocked Forbidden" state evil
message=$(told evil)
has "the account is named, and how much is missing" "system:serviceaccount:alm-system:app-evil lacks 2 of the " "$message"
has "and what, and for what" "first: bind clusterroles.rbac.authorization.k8s.io cluster-admin at cluster scope, for ClusterRoleBinding/evil-admin" "$message"
has "with a manifest that would give it" "- cluster-admin" "$(step evil 1)"
soon "one that binds ALM's own role of the account" "Blocked Forbidden" state own
soon "one that hands on what only ALM may do for it" "Blocked Forbidden" state maker
has "is told the right to do so" "delegate-create customresourcedefinitions.apiextensions.k8s.io at cluster scope, for ClusterRole/maker" "$(told maker)"

soon "lookup of another namespace's Secret" "Blocked Forbidden" state spy
has "is refused by the server" 'lookup: secrets "s" is forbidden: User "system:serviceaccount:alm-system:app-spy" cannot get resource "secrets" in API group "" in the namespace "team-b"' "$(told spy)"
soon "lookup of ALM's own" "Blocked Forbidden" state spies

soon "a namespace that was there before" "Blocked Forbidden" state squat
has "is named" "namespace team-b was not made for app squat" "$(told squat)"
is "with the command" "kubectl annotate namespace team-b app.coreos.com/apps=squat" "$(step squat 0)"
soon "a namespace of the system" "Blocked Forbidden" state system
soon "an object in another namespace" "Blocked Forbidden" state reach
has "is named" "create configmaps in team-b" "$(told reach)"

soon "a name that is no text (y is true) is told, and crashes nothing" "Blocked RenderFailed" state nameless

soon "an account of kube-system is not to be borrowed" "Blocked Forbidden" state borrow
soon "nor one that does not say so" "Blocked Forbidden" state lent
is "the command" "kubectl annotate serviceaccount boss -n lend app.coreos.com/apps=lent" "$(step lent 0)"

soon "a definition that was there and names nobody" "Blocked Forbidden" state takes
is "the command" "kubectl annotate crd foreigns.example.org app.coreos.com/owner=takes.com.example" "$(step takes 0)"
soon "a definition of a reserved group" "Blocked Forbidden" state reserved
soon "one of ALM's own" "Blocked Forbidden" state ours

lacks "nothing of all this was written" k get clusterrolebindings,clusterroles,configmaps,crd -A -o name -- \
	-E '/(evil-admin|evil-own|maker|loot|x|z|borrowed|lent|things\..*)$'
none "the definition is untouched" k get crd foreigns.example.org -o 'jsonpath={.metadata.labels}{.metadata.ownerReferences}'
lacks "no Secret is anywhere" k get configmaps,apps,ist,events -A -o yaml -- CANARY
is "alice may what she might" "no no no no" "$(alice_may get secrets -n team-b) $(alice_may create clusterrolebindings) $(alice_may create crd) $(alice_may create pods -n lend)"

follow squat
follow lent
follow takes
soon "the command for the namespace helps" "1.0.0" installed squat
soon "the command for the account" "1.0.0" installed lent
soon "the command for the definition" "1.0.0" installed takes
is "what the account may is done" "clusterrolebinding.rbac.authorization.k8s.io/lent" "$(k get clusterrolebinding lent -o name)"

k delete clusterrolebinding boss lent >/dev/null
drifted() { ist lent "" '{.status.conditions[?(@.type=="Drifted")].status}'; }
soon "an administrator takes both away: that is seen" "True" drifted
none "and not undone, for the account may not" k get clusterrolebinding lent -o name --ignore-not-found
k annotate serviceaccount boss -n lend app.coreos.com/apps- >/dev/null
k delete configmap x -n team-b >/dev/null
restored() { k get configmap x -n team-b -o name --ignore-not-found; }
soon "others are repaired as ever" "configmap/x" restored
steps_ran
finish
