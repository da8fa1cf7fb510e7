#!/bin/bash
# What a Bundle does with what others changed, with what left its branch, and with its objects when it goes (R6, R12).
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
if ! command -v kubectl >/dev/null || ! command -v git >/dev/null; then
	echo "ok 1 - bundles and others # SKIP no kubectl, or no git"
	echo 1..1
	exit 0
fi
page=$PWD/alm/console/index.html
shown=$PWD/tests/e2e/console_bundles.js
up_start
cd "$dir" || exit 1
repository "$catalog/ssot.git" ssot
configmap() { printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\ndata:\n  v: "%s"\n' "$1" "$2" >"ssot/$1.yaml"; }
secret() { printf 'apiVersion: v1\nkind: Secret\nmetadata:\n  name: %s\nstringData:\n  pw: "%s"\n' "$1" "$2" >"ssot/$1.yaml"; }
bundle() { # [LINES below spec]
	printf 'apiVersion: app.coreos.com/v1alpha1\nkind: Bundle\nmetadata:\n  name: web\nspec:\n  source: {git: {url: "file://%s/ssot.git"}}\n  trigger: {interval: 1s}\n%s\n' "$catalog" "${1:-}" | k apply -f - >/dev/null
}
push() { # MESSAGE
	git -C ssot add -A && git -C ssot commit -q -m "$1" && git -C ssot push -q origin main 2>/dev/null
	head=$(git -C ssot rev-parse HEAD)
}
state() { k get bundle web -o 'jsonpath={.status.state} {.status.commit} {.status.observedGeneration}'; }
synced() { echo "Synced $head $(k get bundle web -o 'jsonpath={.metadata.generation}')"; }
value() { k get configmap "$1" -o 'jsonpath={.data.v}' 2>&1 | sed 's/.*NotFound.*/gone/'; }
kept() { k get bundle web -o 'jsonpath={.status.kept}'; }
drift() { # NAME: the entries about it
	alm audit query --data-dir "$data" --reason DriftRepaired -o json |
		jq -r --arg n "$1" '.[] | select(.subject.name == $n) | "\(.body.what): \(.body.paths // [] | join(" ")) by \(.body.who.via)"'
}
both_of() { echo "$(value f) $(k get bundle web -o 'jsonpath={.status.state} {.status.commit}')"; }
configmap a 1
configmap b 1
secret s hush-hush
push first
bundle
soon "three objects" "$(synced)" state

k patch configmap a --type=merge --field-manager=mallory -p '{"data":{"v":"2"}}' >/dev/null
soon "what somebody changed is put back" 1 value a
is "the log has the field and who it was" "ConfigMap default/a changed: data.v by mallory" "$(drift a)"
has "and when" "T" "$(alm audit query --data-dir "$data" --reason DriftRepaired -o json | jq -r '.[0].body.changedAt')"
k patch secret s --type=merge --field-manager=eve -p '{"data":{"pw":"b3RoZXI="}}' >/dev/null
password() { k get secret s -o 'jsonpath={.data.pw}' | base64 -d; }
soon "a Secret, too" hush-hush password
is "by its field, never by its value" "Secret default/s changed: data.pw by eve" "$(drift s)"
lacks "neither the one nor the other" alm audit query --data-dir "$data" --reason DriftRepaired -o json -- -e b3RoZXI -e aHVzaC1odXNo -e hush-hush
k label configmap b --field-manager=oscar app.coreos.com/instance=other --overwrite >/dev/null
k patch configmap b --type=merge --field-manager=oscar -p '{"data":{"v":"2"}}' >/dev/null
soon "who has changed a mark first is found, too" 1 value b
is "and named" 'ConfigMap default/b changed: metadata.labels["app.coreos.com/instance"] data.v by oscar' "$(drift b)"
is "the mark is as it was" files "$(k get configmap b -o 'jsonpath={.metadata.labels.app\.coreos\.com/instance}')"
k label configmap b app.coreos.com/instance=other --overwrite >/dev/null
k delete configmap b >/dev/null
soon "what was deleted is there again" 1 value b
missing() { drift b | grep -c "ConfigMap default/b is missing"; }
is "and the log says so" 1 "$(missing)"
k label configmap b --field-manager=oscar app.coreos.com/bundle- >/dev/null
marked() { k get configmap b -o 'jsonpath={.metadata.labels.app\.coreos\.com/bundle}'; }
soon "a mark that is taken off is put back" web marked
has "  which is told as what it is" 'ConfigMap default/b has lost marks of ALM: metadata.labels["app.coreos.com/bundle"]' "$(drift b)"
is "  not as missing" 1 "$(missing)"
k delete configmap b >/dev/null
soon "who deletes it again" 1 value b
soon "  is told, too" 2 missing
bundle '  drift: Report'
soon "told to leave it" "$(synced)" state
k patch configmap a --type=merge --field-manager=mallory -p '{"data":{"v":"3"}}' >/dev/null
ready() { k get bundle web -o 'jsonpath={.status.state}: {.status.conditions[?(@.type=="Ready")].message}'; }
soon "is Degraded, and says by what" "Degraded: ConfigMap default/a: data.v changed by mallory; not put back: spec.drift is Report" ready
run_step "  alm status has a step" "$(next_steps)"
has "  and the object's line says it" " Drifted " "$(alm status web | grep '^ConfigMap/default/a ')"
is "R17 what differs, and whose it is; target 11" "differs ConfigMap default/a (a.yaml) data.v (controller: mallory)" "$(alm diff bundle/web | grep ^differs | tr -s ' ')"
configmap b 2
push second
soon "the next commit is applied" 2 value b
soon "with what somebody changed before" 1 value a
is "and Report has no such entry" 1 "$(drift a | wc -l)"
bundle '  ignore: [{kind: ConfigMap, name: a, paths: ["data[\"v\"]"]}]'
soon "R17 what others own is named" "$(synced)" state
k patch configmap a --type=merge --field-manager=mallory -p '{"data":{"v":"9"}}' >/dev/null
k patch configmap b --type=merge --field-manager=mallory -p '{"data":{"v":"9"}}' >/dev/null
soon "R17 the rest is put back" 2 value b
is "R17 in its colour, whose it is" "same known mallory" "$(alm diff bundle/web -o json | jq -r '.objects[] | select(.object == "ConfigMap default/a") | "\(.state) \(.fields[] | select(.field == "data.v") | "\(.is) \(.manager)")"')"
configmap a 5
push 'a declares another'
soon "a revision of it" "$(synced)" state
is "R17 does not write over it" 9 "$(value a)"
k delete configmap a >/dev/null
soon "R17 what is made anew is as it is declared" 5 value a

bundle '  prune: {mode: None}'
git -C ssot rm -q b.yaml
push 'b leaves'
soon "prune.mode None" "$(synced)" state
is "deletes nothing" 2 "$(value b)"
has "and tells it" "ConfigMap default/b is not deleted: spec.prune.mode is None" "$(kept)"
line() { alm status web | tr -s ' ' | grep "^ConfigMap/default/$1 "; }
has "  so does alm status" "removed from git, and not deleted: spec.prune.mode is None" "$(line b)"
configmap a 4
push 'another'
soon "nor with the next commit" "$(synced)" state
has "which tells it, too" "ConfigMap default/b" "$(kept)"
bundle
soon "until it is Owned" gone value b
soon "by the same commit" "$(synced)" state
none "and in one process nothing can make it again" k get configmaps -n alm-system -o 'jsonpath={.items[*].data.late}'

# The inventory was lost: what has the marks is found again, by a list of every kind, or not at all (target 9).
book() { k get configmap inv.web.files -n alm-system -o 'jsonpath={.data.objects}' 2>/dev/null | cut -d ' ' -f 1-5 | sort; }
had=$(book)
uids() { k get configmap/a secret/s -o 'jsonpath={.items[*].metadata.uid}'; }
was=$(uids)
k create configmap copied --from-literal=v=1 >/dev/null # with the labels, and applied by nobody's bundle
k label configmap copied app.coreos.com/bundle=web app.coreos.com/instance=files >/dev/null
k delete configmap inv.web.files -n alm-system >/dev/null
has "target 9: alm status says that it is gone" "There may be more: its inventory, ConfigMap inv.web.files of alm-system, is gone: the next revision rebuilds it, or alm inventory rebuild web" "$(alm status web)"
has "  so does alm observe" "inv.web.files of alm-system, is gone" "$(alm observe web 2>&1)"
code "target 9: a dry run finds it" 0 "inventory of bundle web: 2 objects would be named, 2 of them were not in it; " alm inventory rebuild web --dry-run
none "  and writes nothing" k get configmap inv.web.files -n alm-system -o name --ignore-not-found
k create serviceaccount few -n kube-system >/dev/null
k create clusterrole few --verb=get,list --resource=configmaps,namespaces,bundles.app.coreos.com >/dev/null
k create clusterrolebinding few --clusterrole=few --serviceaccount=kube-system:few >/dev/null
alm_few() { KUBECONFIG=$few alm inventory rebuild web; }
few=$dir/few.kubeconfig
umask 077 && k config view --raw -o json | jq --arg t "$(k create token few -n kube-system)" '.users[0].user = {token: $t}' >"$few"
code "target 9: one list that fails: not, with the reason" 1 "not rebuilt, as not all could be listed: " alm_few
none "  nothing is written" k get configmap inv.web.files -n alm-system -o name --ignore-not-found
code "target 9: alm inventory rebuild" 0 "inventory of bundle web: 2 objects, 2 of them were not in it; " alm inventory rebuild web
is "target 9: it names what it named" "$had" "$(book)"
lacks "  and nothing more is missing" alm status web -- "There may be more"
code "  once more there is nothing to find" 0 "; it is as it was" alm inventory rebuild bundle/web
k delete configmap copied >/dev/null
configmap c 1
push 'after it was lost'
soon "target 9: the next revision" "$(synced)" state
is "target 9: makes and deletes nothing of what was there" "$was" "$(uids)"
git -C ssot rm -q c.yaml
push 'as before'
soon "  and what was added goes" "$(synced)" state

# prune.mode Namespace: whatever nobody has declared there (R13, R16).
orphans() { k get bundle web -o 'jsonpath={range .status.orphans[*]}{.kind}/{.name} {end}'; }
present() { k get "$1" "$2" -n team -o name 2>&1 | sed 's/.*NotFound.*/gone/'; }
for ns in team elsewhere; do k create namespace $ns >/dev/null; done
bundle '  prune: {mode: Namespace, namespaces: [default, kube-system]}'
invalid() { k get bundle web -o 'jsonpath={.status.conditions[?(@.type=="Rendered")].message}' | grep -o 'spec.prune.namespaces: .*kube-system'; }
soon "R13 a namespace of the cluster itself is refused" "spec.prune.namespaces: mode Namespace deletes what is not declared, and kube-system" invalid
k create configmap stray -n team --from-literal=x=1 >/dev/null
k create configmap stray -n elsewhere --from-literal=x=1 >/dev/null
k create configmap kept -n team --from-literal=x=1 >/dev/null
alm keep configmap kept -n team >/dev/null
k create deployment byhand -n team --image=x >/dev/null
k create configmap owned -n team --from-literal=x=1 >/dev/null
k patch configmap owned -n team --type=merge -p "{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"kept\",\"uid\":\"$(k get configmap kept -n team -o 'jsonpath={.metadata.uid}')\"}]}}" >/dev/null
printf 'apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: mine, namespace: team}\n' >thing.yaml
printf 'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\nspec: {group: example.com, scope: Namespaced, names: {plural: things, kind: Thing}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}\n' | k apply -f - >/dev/null
thing() { k apply -f thing.yaml >/dev/null 2>&1 && echo made; }
soon "a kind of its own" made thing
bundle '  prune: {mode: Namespace, namespaces: [default, team], grace: 1h}'
soon "R13 what nobody has declared is told, R16 of every kind" "ConfigMap/stray Deployment/byhand Thing/mine " orphans
has "R14 by status, with what is left of the grace" "Orphan Deployment team/byhand: not declared; deleted in" "$(alm status)"
# What the page of the console has of it, and the request of its button
console() { k get bundle web -o json | node "$shown" "$page"; }
if command -v node >/dev/null; then
	is "R14 by the console, counting down" "Deployment team/byhand | Orphan | 1s ago | not declared; deleted in 59m58s" \
		"$(console | grep byhand)"
else
	skip "R14 by the console, counting down" "no node"
fi
has "R14 as an object of its own, too" "Deployment/team/byhand default Orphan " "$(alm status web | tr -s ' ')"
k create configmap extra --from-literal=v=1 >/dev/null
has "R17 alm adopt prints it, to be committed" 'v: "1"' "$(alm adopt configmap extra)"
code "R17 alm nuke wants a yes" 3 "ConfigMap default/extra would be deleted, whoever made it: --yes" alm nuke configmap extra
code "  and deletes with it" 0 "ConfigMap default/extra is deleted" alm nuke configmap/extra --yes
code "  but nothing that is declared" 3 "ConfigMap default/a is declared by bundle web, a.yaml: take it out of git there" alm nuke configmap a --yes
code "  and no definition with all of its objects" 3 "go all objects of it, which nuke does not" alm nuke crd bundles.app.coreos.com --yes
code "  and no Namespace" 3 "go all objects of it, which nuke does not" alm nuke namespace default --yes
none "  it is gone" k get configmap extra -o name --ignore-not-found
bundle '  prune: {mode: Namespace, namespaces: [default, team], grace: 0s, maxDeletes: 2}'
held() { k get bundle web -o 'jsonpath={.status.conditions[?(@.type=="PruneHeld")].reason} {.status.state}'; }
soon "more than maxDeletes are held, and the revision is not" "OrphansHeld Synced" held
is "and are there" "configmap/stray" "$(present configmap stray)"
alm approve bundle/web --prune --reason 'all of these' >/dev/null
soon "R13 until somebody has consented to these" "" orphans
is "they are gone" "gone gone gone" "$(present configmap stray) $(present deployment byhand) $(present thing mine)"
is "R13 what is owned, kept, of Kubernetes or elsewhere is not" "configmap/owned configmap/kept configmap/kube-root-ca.crt serviceaccount/default configmap/stray" \
	"$(present configmap owned) $(present configmap kept) $(present configmap kube-root-ca.crt) $(present serviceaccount default) $(k get configmap stray -n elsewhere -o name)"
is "the log names each" 3 "$(alm audit query --data-dir "$data" --reason OrphanDeleted -o json | jq length)"
# The word about those orphans says nothing of a revision, and does not stand in the way of what does.
configmap c 1
configmap d 1
push 'two more'
bundle '  prune: {mode: Namespace, namespaces: [default, team], grace: 0s, maxDeletes: 1}'
soon "two more" "$(synced)" state
git -C ssot rm -q c.yaml d.yaml
push 'both leave'
reason() { k get bundle web -o 'jsonpath={.status.conditions[?(@.type=="PruneHeld")].reason}'; }
soon "R12 more than maxDeletes of a revision" PruneHeld reason
code "a reason of two thousand bytes is refused" 1 "spec.approvals.prune.reason: Too long" alm approve bundle/web --prune --reason "$(printf '%02000d' 0)"
if command -v node >/dev/null; then # target 20: the same as alm approve
	has "of this plan, whatever was approved before" "\"plan\":\"$(k get bundle web -o 'jsonpath={.status.revisionDigest}')\"" "$(console)"
	k patch bundle web --type=merge -p "$(console | sed -n 's/^PATCH [^ ]*bundles.web[^ ]* //p')" >/dev/null
else
	alm approve bundle/web --prune --reason 'by the console' >/dev/null
fi
soon "R12 approved after orphans were: it goes on" "$(synced)" state
is "target 20: by alm approve and by the console, one kind of row" "PruneApproved all of these; PruneApproved by the console" \
	"$(alm audit query --data-dir "$data" --reason PruneApproved -o json | jq -r '[sort_by(.seq)[] | .reason + " " + .body.justification] | join("; ")')"
is "and they are gone" "gone gone" "$(value c) $(value d)"

bundle '  deletion: Orphan'
soon "deletion Orphan" "$(synced)" state
uid=$(k get configmap a -o 'jsonpath={.metadata.uid}')
k delete bundle web --timeout=60s >/dev/null
is "leaves the objects" "$uid 4" "$(k get configmap a -o 'jsonpath={.metadata.uid} {.data.v}')"
marks() { k get configmap,secret -A -l app.coreos.com/bundle -o name && k get configmap a -o yaml | seek app.coreos.com/ | seek -v f:; }
none "without marks" marks
OR_EMPTY=1 lacks "and nothing of its own" k get configmaps,secrets -n alm-system -o name -- -e inv.web -e unit.web
bundle '  adopt: Unowned'
soon "another one takes them over" "$(synced)" state
is "as they are" "$uid" "$(k get configmap a -o 'jsonpath={.metadata.uid}')"

# Somebody who puts it back, too (fleet.md 5.5).
configmap f 1
push 'fought over'
soon "one more" "$(synced)" state
for i in 1 2 3 4 5; do
	k patch configmap f --type=merge --field-manager=operator-x -p "{\"data\":{\"v\":\"x$i\"}}" >/dev/null
	soon "R6 put back the $i. time" 1 value f
done
k patch configmap f --type=merge --field-manager=operator-x -p '{"data":{"v":"x6"}}' >/dev/null
soon "R6 five times in ten minutes: it says with whom it fights" "Degraded: ConfigMap default/f: data.v changed by operator-x; not put back: it was put back 5 times in 10 minutes, and from then on is once an hour: somebody else writes it, too" ready
is "  and leaves it for an hour" "x6 RepairFought" "$(value f) $(k get bundle web -o 'jsonpath={.status.conditions[?(@.type=="Drifted")].reason}')"
fought() { k get events -o 'jsonpath={range .items[?(@.reason=="DriftFought")]}{.type} {.involvedObject.name}: {.message}{"\n"}{end}' | cut -c -50; }
soon "  an Event of it says so" "Warning f: changed by operator-x: it was put back " fought
k patch configmap a --type=merge --field-manager=operator-x -p '{"data":{"v":"x"}}' >/dev/null
soon "  what is not fought over is put back" 4 value a
configmap f 2
push 'meant'
soon "  and so is that, by a revision" "2 Synced $head" both_of
k delete bundle web --timeout=60s >/dev/null
is "and deletes them, as that is what it says" gone "$(value a)"
none "and is gone itself" k get bundles -o name

# Two that declare the same.
bundle
soon "made again" "$(synced)" state
k get bundle web -o json | jq '{apiVersion, kind, metadata: {name: "rival"}, spec: (.spec + {adopt: "Any"})}' | k create -f - >/dev/null
soon "what another Bundle takes is told" "Degraded: Secret default/s: it belongs to bundle rival now; not put back: two that declare it take it from each other; take it out of one; and 2 more: ConfigMap default/a, ConfigMap default/f" ready
is "  and is the other's" rival "$(k get configmap a -o 'jsonpath={.metadata.labels.app\.coreos\.com/bundle}')"
steps_ran
finish
