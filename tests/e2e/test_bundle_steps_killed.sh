#!/bin/bash
# kill -9 of alm up after each step of a Bundle's story: it ends as it would have without. KILL_AFTER="STEP:MS ..." names the steps
# and how many milliseconds after them, or after the start that followed the kill before; all:MS is each; "" is none.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
if ! command -v kubectl >/dev/null || ! command -v git >/dev/null; then
	echo "ok 1 - steps of a Bundle and kills # SKIP no kubectl, or no git"
	echo 1..1
	exit 0
fi
kill_after=${KILL_AFTER-prune:700 head:0 delete:30}
cd "$dir" || exit 1
repository "$catalog/ssot.git" ssot
configmap() { printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\ndata:\n  v: "%s"\n' "$1" "$2" >"ssot/$1.yaml"; }
web() { # [ANNOTATION of its Pods]
	printf 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 1\n  selector: {matchLabels: {app: web}}\n  template: {metadata: {labels: {app: web}, annotations: {%s}}, spec: {containers: [{name: c, image: "web:1"}]}}\n' "${1:-}" >ssot/web.yaml
}
push() {
	git -C ssot add -A && git -C ssot commit -q -m "$1"
	git -C ssot push -q origin main 2>/dev/null
}
# What is there: the Bundle, and each object with its value and the mark of the Bundle
there() {
	k get "$1" -n default -o 'jsonpath={range .items[*]}{.metadata.name}={.status.state} {.status.commit}{.data.v}{.spec.replicas}/{.metadata.labels.app\.coreos\.com/bundle}{"\n"}{end}' |
		seek -v kube-root-ca
}
inventory() { k get configmap -n alm-system inv.web.files -o 'jsonpath={.data.objects}' | cut -d" " -f4 | LC_ALL=C sort | paste -sd ' '; }
wanted() { # of what is in the branch at COMMIT
	git -C ssot ls-tree --name-only "$1" | while read -r f; do
		git -C ssot show "$1:$f" | sed -n "s/^  v: \"\(.*\)\"/${f%.yaml}= \1\/web/p; s/^  replicas: \(.*\)/web= \1\/web/p"
	done
}
uid() { k get "$1" "$2" -o 'jsonpath={.metadata.uid}'; }
# STEP: the kills that are asked for after it
after() {
	local ms
	for ms in $(tr " " "\n" <<<"$kill_after" | sed -n "s/^\($1\|all\)://p"); do
		sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))" # the moment of the kill, not a wait for something
		kill -9 "$pid"
		wait "$pid" 2>/dev/null
		up_start
	done
}
# STEP STATE [COMMIT]: the kill, and what the step comes to
step() {
	after "$1"
	soon "$1: it comes to what it is without a kill" "web=$2 $(git -C ssot rev-parse "${3:-HEAD}")/
$(wanted "${3:-HEAD}")" there bundles,configmaps,deployments
}

up_start
for i in a b c d e; do configmap $i 1; done
web
push one
printf 'apiVersion: app.coreos.com/v1alpha1\nkind: Bundle\nmetadata: {name: web}\nspec: {source: {git: {url: "file://%s/ssot.git"}}, trigger: {interval: 1s}}\n' "$catalog" |
	k create -f - >/dev/null
step create Synced
before=$(uid configmap a; uid deployment web)
configmap a 2
configmap f 1
push two
step push Synced
k scale deployment web --replicas=3 >/dev/null
k patch configmap a --type=merge -p '{"data":{"v":"9"}}' >/dev/null
k delete configmap b --wait=false >/dev/null
step drift Synced
git -C ssot rm -q c.yaml d.yaml e.yaml f.yaml
push three
step prune Synced
for i in x y z; do k create configmap $i --from-literal=v=1 >/dev/null; done
k patch bundle web --type=merge -p '{"spec":{"prune":{"mode":"Namespace","namespaces":["default"],"grace":"0s"}}}' >/dev/null
step orphans Synced
k patch bundle web --type=merge -p '{"spec":{"prune":null}}' >/dev/null
git -C ssot revert --no-edit HEAD >/dev/null && git -C ssot push -q origin main 2>/dev/null
step revert Synced
web 'app.coreos.com/simulate: "FailedMount: no such volume"'
configmap b 5
push five
step stuck Rolling
web
git -C ssot rm -q f.yaml
push six
step supersede Synced
alm rollback bundle web --reason INC-7 >/dev/null
step rollback Synced HEAD~2
alm rollback bundle web --to head --reason mended >/dev/null
step head Synced
is "what was there all the time was never made anew" "$before" "$(uid configmap a; uid deployment web)"
is "the inventory names what is there" "$(git -C ssot ls-files | sed 's/.yaml//' | paste -sd ' ')" "$(inventory)"
k delete bundle web --wait=false >/dev/null
after delete
# Who began does not know what its former self still has under way: the inventory stays for as long as that may come.
WAIT_S=150 soon "delete: the Bundle goes" "" k get bundles -o name
none "with its objects" there configmaps,deployments
books() { k get configmaps,secrets -n alm-system -o name | seek -e inv.web -e unit.web; }
none "and its books" books
mirrors() { find "$data/git" -mindepth 1 -maxdepth 1; }
soon "and its mirror" "" mirrors
up_stop
of_the_killed() { pgrep -f -- "--data-dir $data" || [ $? -eq 1 ]; }
soon "no process of a killed one is left" "" of_the_killed
# Twice in a row may be one commit that was begun anew after a kill.
log() { alm audit query --data-dir "$data" --type Observe --limit 10000 -o json | jq -r 'sort_by(.seq)[].body.source.subject // empty' | uniq | paste -sd ,; }
is "every commit is in the log, in order" 'one,two,three,Revert "three",five,six,Revert "three",five,six' "$(log)"
code "and the log is whole, and leads to what was there" 0 "" alm audit verify --replay --data-dir "$data"
finish
