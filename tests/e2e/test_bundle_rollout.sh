#!/bin/bash
# A Bundle with a Rollout (spec.rolloutRef): a push is a canary first (L32), another push in the middle takes its place, one that fails
# is rolled back and stays so, a changed Rollout is rolled out as a push is.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
if ! command -v kubectl >/dev/null || ! command -v git >/dev/null; then
	echo "ok 1 - bundles # SKIP no kubectl, or no git"
	exit 0
fi
up_start
cd "$dir" || exit 1
repository "$catalog/ssot.git" ssot
web() { # VERSION [ANNOTATIONS of its Pods]
	cat >ssot/web.yaml <<EOF
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}, annotations: {${2:-}}}, spec: {containers: [{name: c, image: "web:$1"}]}}
EOF
	git -C ssot add -A && git -C ssot commit -q -m "web $1" && git -C ssot push -q origin main 2>/dev/null
	head=$(git -C ssot rev-parse HEAD)
}
rollout() { # STEPS
	printf 'apiVersion: app.coreos.com/v1alpha1\nkind: Rollout\nmetadata: {name: careful}\nspec: {groups: [{name: web, steps: [{object: web.yaml, action: Canary, canary: {steps: [%s]}}]}]}\n' "$1" | k apply -f - >/dev/null
}
state() { k get bundle web -o 'jsonpath={.status.state} {.status.commit}'; }
message() { k get bundle web -o 'jsonpath={.status.conditions[?(@.type=="'"$1"'")].message}'; }
image() { k get deployment "${1:-web}" --ignore-not-found -o 'jsonpath={.spec.template.spec.containers[0].image}'; }
group() { k get bundle web -o 'jsonpath={.status.groups[0].state}: {.status.groups[0].message}' | sed 's/ Pods.*//'; }

web 1
printf 'apiVersion: app.coreos.com/v1alpha1\nkind: Bundle\nmetadata: {name: web}\nspec:\n  source: {git: {url: "file://%s/ssot.git"}}\n  trigger: {interval: 1s}\n  rolloutRef: {name: careful}\n' "$catalog" | k create -f - >/dev/null
soon "a Rollout that is not there is told" "spec.rolloutRef: there is no Rollout careful; create it, or remove the field" message Rendered
none "  and nothing is applied" image
rollout '{weight: 25, approval: Manual}'
soon "it is created: the first push is applied" "Synced $head" state
web 2
soon "L32 a push is a canary first" "web:2" image web-canary
is "  beside what is there" "web:1" "$(image)"
soon "  and the status says how far it is" "InProgress: step web/web.yaml: Deployment default/web: canary step 1 of 1, weight 25 (1 of 4" group
asks() { k get bundle web -o yaml | tr -s "\n " " " | grep -o "waits for approval: kubectl annotate" | head -1; }
soon "  and what it waits for" "waits for approval: kubectl annotate" asks
web 3
soon "another push takes its place" "web:3" image web-canary
is "  what is there is untouched" "web:1 1" "$(image) $(k get deployment web -o 'jsonpath={.metadata.generation}')"
has "  the former one is in the log" "Superseded" "$(alm audit query --data-dir "$data" --reason CanaryAborted -o json)"
kill -9 "$pid"
wait "$pid" 2>/dev/null
up_start
approve() { k annotate --overwrite deployment web-canary app.coreos.com/canary-approve='25: it is good' >/dev/null; }
soon "killed in the middle: it is looked at again" "InProgress: step web/web.yaml: Deployment default/web: canary step 1 of 1, weight 25 (1 of 4" group
quiet_for 3
is "  and nothing is written without approval" "web:1 web:3" "$(image) $(image web-canary)"
approve
soon "approved, it is there" "Synced $head" state
has "  by the approval" "approved: 25: it is good" "$(alm audit query --data-dir "$data" --reason CanarySteered -o json)"
is "  and nothing is left" "web:3 " "$(image) $(image web-canary)"
web 4
soon "one more" "web:4" image web-canary
k annotate deployment web-canary app.coreos.com/canary-abort='customers complain' >/dev/null
soon "aborted: rolled back" "RolledBack $head" state
has "  with the reason" "CanaryAborted: Aborted: customers complain" "$(message Ready)"
is "  what was there is there" "web:3 " "$(image) $(image web-canary)"
rollout '{weight: 50}'
soon "a changed Rollout is rolled out as a push is" "Synced $head" state
is "  by what it says now" "web:4" "$(image)"
rollout '{weight: 0}'
soon "one that is wrong is told, with its field" "spec.rolloutRef: Rollout careful: spec.groups[0].steps[0].canary.steps[0].weight: want percent of the Pods, a whole number from 1 to 100" message Rendered
rollout '{weight: 25, pause: 1h}'
web 5
soon "and one last" "web:5" image web-canary
k delete bundle web >/dev/null
none "a Bundle that is deleted in the middle takes both" image
none "  the canary, too" image web-canary
finish
