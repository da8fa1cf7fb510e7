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
is "neither the one nor the other" "" "$(alm audit query --data-dir "$data" --reason DriftRepaired -o json | grep -e b3RoZXI -e aHVzaC1odXNo -e hush-hush)"
k label configmap b --field-manager=oscar app.coreos.com/instance=other --overwrite >/dev/null
k patch configmap b --type=merge --field-manager=oscar -p '{"data":{"v":"2"}}' >/dev/null
soon "who has changed a mark first is found, too" 1 value b
is "and named" 'ConfigMap default/b changed: metadata.labels["app.coreos.com/instance"] data.v by oscar' "$(drift b)"
is "the mark is as it was" files "$(k get configmap b -o 'jsonpath={.metadata.labels.app\.coreos\.com/instance}')"
k label configmap b app.coreos.com/instance=other --overwrite >/dev/null
k delete configmap b >/dev/null
soon "what was deleted is there again" 1 value b
has "and the log says so" "ConfigMap default/b is missing" "$(drift b)"
bundle '  drift: Report'
soon "told to leave it" "$(synced)" state
k patch configmap a --type=merge --field-manager=mallory -p '{"data":{"v":"3"}}' >/dev/null
configmap b 2
push second
soon "the next commit is applied" 2 value b
soon "with what somebody changed before" 1 value a
is "and Report has no such entry" 1 "$(drift a | wc -l)"

bundle '  prune: {mode: None}'
git -C ssot rm -q b.yaml
push 'b leaves'
soon "prune.mode None" "$(synced)" state
is "deletes nothing" 2 "$(value b)"
has "and tells it" "ConfigMap default/b is not deleted: spec.prune.mode is None" "$(kept)"
configmap a 4
push 'another'
soon "nor with the next commit" "$(synced)" state
has "which tells it, too" "ConfigMap default/b" "$(kept)"
bundle
soon "until it is Owned" gone value b
soon "by the same commit" "$(synced)" state
is "and in one process nothing can make it again" "" "$(k get configmaps -n alm-system -o 'jsonpath={.items[*].data.late}')"

bundle '  deletion: Orphan'
soon "deletion Orphan" "$(synced)" state
uid=$(k get configmap a -o 'jsonpath={.metadata.uid}')
k delete bundle web --timeout=60s >/dev/null
is "leaves the objects" "$uid 4" "$(k get configmap a -o 'jsonpath={.metadata.uid} {.data.v}')"
is "without marks" "" "$(k get configmap,secret -A -l app.coreos.com/bundle -o name; k get configmap a -o yaml | grep app.coreos.com/ | grep -v f:)"
is "and nothing of its own" "" "$(k get configmaps,secrets -n alm-system -o name | grep -e inv.web -e unit.web)"
bundle '  adopt: Unowned'
soon "another one takes them over" "$(synced)" state
is "as they are" "$uid" "$(k get configmap a -o 'jsonpath={.metadata.uid}')"
k delete bundle web --timeout=60s >/dev/null
is "and deletes them, as that is what it says" gone "$(value a)"
is "and is gone itself" "" "$(k get bundles -o name)"
finish
