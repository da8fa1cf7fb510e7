#!/bin/bash
# spec.instances of a Bundle: one after the other, each ready before the next (T22), what left one of them and
# one that left the Bundle are pruned (T25), what moves stays.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
if ! command -v kubectl >/dev/null || ! command -v git >/dev/null; then
	echo "ok 1 - instances of bundles # SKIP no kubectl, or no git"
	exit 0
fi
up_start
cd "$dir" || exit 1
repository "$catalog/ssot.git" ssot

configmap() { printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s%s}\ndata: {v: "1"}\n' "$1" "${2:-}"; }
deployment() { # NAME [ANNOTATION of its Pods]
	printf 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %s}\nspec:\n  selector: {matchLabels: {app: %s}}\n  template:\n    metadata: {labels: {app: %s}, annotations: {%s}}\n    spec: {containers: [{name: c, image: "x:1"}]}\n' "$1" "$1" "$1" "${2:-}"
}
push() { # MESSAGE
	git -C ssot add -A && git -C ssot commit -q -m "$1" && git -C ssot push -q origin main 2>/dev/null
	head=$(git -C ssot rev-parse HEAD)
}
bundle() { # LINES below spec
	printf 'apiVersion: app.coreos.com/v1alpha1\nkind: Bundle\nmetadata: {name: web}\nspec:\n  source: {git: {url: "file://%s/ssot.git", path: apps}}\n  trigger: {interval: 1s}\n%s\n' "$catalog" "$1" >web.yaml
}
state() { k get bundle web -o 'jsonpath={.status.state} {.status.commit}'; }
message() { k get bundle web -o "jsonpath={.status.conditions[?(@.type==\"$1\")].message}"; }
instances() { k get bundle web -o 'jsonpath={range .status.instances[*]}{.name}={.state}/{.objects} {end}'; }
names() { k get configmap,deployment -A -l app.coreos.com/bundle=web -o 'jsonpath={range .items[*]}{.metadata.labels.app\.coreos\.com/instance}:{.metadata.namespace}/{.metadata.name} {end}' | tr ' ' '\n' | grep -v inv.web | sort | tr '\n' ' '; }

mkdir -p ssot/apps/db ssot/apps/site
configmap base >ssot/apps/base.yaml
deployment db 'app.coreos.com/simulate: "Unschedulable: no node"' >ssot/apps/db/db.yaml
configmap conf >ssot/apps/site/conf.yaml
deployment site >ssot/apps/site/site.yaml
push 'one'
k create namespace blue >/dev/null
k create namespace green >/dev/null
three='  instances:
  - {name: blue, package: "file://site", namespace: blue, needs: [db]}
  - {name: db, package: "file://db"}
  - {name: green, package: "file://site/", namespace: green}'
bundle "$three"
sed 's|package: "file://db"|&, values: {a: 1}|' web.yaml | k create -f - >/dev/null
soon "what is not built is refused, with its field" "spec.instances[1].values: this is not built yet: nothing is applied while it is there; remove it, and do not count on it" message Rendered
sed 's|"file://db"|&, needs: [blue]|' web.yaml | k apply -f - >/dev/null
soon "a circle of needs is refused" "spec.instances[0].needs: a circle: what it needs needs it, by way of others; take one of these needs away" message Rendered
sed 's|file://db|oci://db|' web.yaml >oci.yaml
code "the schema knows its limits" 1 "spec.instances[1].package" k apply -f oci.yaml
sed 's|name: green|name: blue|' web.yaml >twice.yaml
code "  and that each has a name of its own" 1 "uplicate value" k apply -f twice.yaml
k apply -f web.yaml >/dev/null 2>&1
soon "T22 an instance that is not ready, and is needed by another before it in the list" "db=InProgress/1 blue=NotStarted/2 green=NotStarted/2 " instances
quiet_for 1
is "T22 holds the next one back; what is of none came first" "db:default/db files:default/base " "$(names)"
kill -9 "$pid"
wait "$pid" 2>/dev/null
up_start
soon "T22 killed in the middle: still" "db=InProgress/1 blue=NotStarted/2 green=NotStarted/2 " instances
told() { alm status | grep -c "^  instance db: InProgress, 1 object: Deployment default/db: Unschedulable: no node"; }
soon "T31 alm status tells it" 1 told # it begins anew with the process
is "T22 nothing of the next one is there" "db:default/db files:default/base " "$(names)"
deployment db >ssot/apps/db/db.yaml
push 'two'
soon "T22 it is ready: the next ones follow" "Synced $head" state
all="blue:blue/conf blue:blue/site db:default/db files:default/base green:green/conf green:green/site "
is "T22 one package in two namespaces" "$all" "$(names)"
is "T31 a row an instance" "db=Ready/1 blue=Ready/2 green=Ready/2 " "$(instances)"
has "T31 alm status BUNDLE has all" "  instance green: Ready, 2 objects" "$(alm status bundle/web)"
has "  an object names its instance and its file" "blue/conf.yaml" "$(k get configmap conf -n blue -o yaml)"

# What moves is the same object; a label that somebody takes off is put back.
was=$(k get configmap base -o 'jsonpath={.metadata.uid}')
git -C ssot mv apps/base.yaml apps/db/base.yaml
push 'three'
soon "what moves to an instance" "Synced $head" state
is "  is the same object, with its label" "$was db" "$(k get configmap base -o 'jsonpath={.metadata.uid} {.metadata.labels.app\.coreos\.com/instance}')"
k label configmap base app.coreos.com/instance- >/dev/null
soon "  which is put back" "db" k get configmap base -o 'jsonpath={.metadata.labels.app\.coreos\.com/instance}'

# What left.
configmap kept ', annotations: {app.coreos.com/prune: disabled}' >ssot/apps/site/kept.yaml
git -C ssot rm -q apps/site/conf.yaml
push 'four'
soon "T25 what left an instance" "Synced $head" state
is "T25 is pruned, in each" "blue:blue/kept blue:blue/site db:default/base db:default/db green:green/kept green:green/site " "$(names)"
bundle "  prune: {maxDeletes: 0}
${three%$'\n'*}"
code "T16 what is built says of which instance it is" 0 "# Instance: blue" alm bundle build -f ssot --bundle web.yaml
code "T25 a plan tells what an instance takes with it" 0 "- Deployment green/site" alm bundle plan -f ssot --bundle web.yaml
k delete configmap inv.web.files -n alm-system >/dev/null # what is left is found by its marks
k apply -f web.yaml >/dev/null
held() { k get bundle web -o 'jsonpath={.status.state}'; }
soon "T25 an instance that left: more than maxDeletes waits" AwaitingApproval held
k patch bundle web --type=merge -p "{\"spec\":{\"approvals\":{\"prune\":{\"commit\":\"$head\",\"reason\":\"x\"}}}}" >/dev/null
why_held() { message PruneHeld | grep -o "1 objects would be deleted, more than spec.prune.maxDeletes 0: Deployment green/site"; }
soon "  and is said" "1 objects would be deleted, more than spec.prune.maxDeletes 0: Deployment green/site" why_held # the patch may begin it anew
quiet_for 1
is "  an approval of the commit alone is of no instance" AwaitingApproval "$(held)"
code "  approved" 0 "approved the deletes of bundle/web" alm approve bundle/web --prune --reason 'green is over'
soon "T25 it is pruned" "Synced $head" state
is "T25 but for what says otherwise" "blue:blue/kept blue:blue/site db:default/base db:default/db green:green/kept " "$(names)"
is "T25 and is listed no more" "db=Ready/2 blue=Ready/2 " "$(instances)"

# One that fails takes the revision back, as a whole.
configmap new >ssot/apps/db/new.yaml
deployment site 'app.coreos.com/simulate: "ImagePullBackOff: manifest unknown"' >ssot/apps/site/site.yaml
push 'five'
soon "one fails: the revision is rolled back" "RolledBack $head" state
is "  as a whole" "blue:blue/kept blue:blue/site db:default/base db:default/db green:green/kept " "$(names)"
is "  and each row says so" "db=RolledBack/3 blue=Failed/2 " "$(instances)"
git -C ssot mv apps/site apps/page
push 'six'
soon "a folder that is gone deletes nothing" "spec.instances[0].package: there is no object in a .yaml, .yml or .json file below site/; name the folder that has some, or remove the instance" message Rendered
is "  all is there" "blue:blue/kept blue:blue/site db:default/base db:default/db green:green/kept " "$(names)"
k delete bundle web --timeout=120s >/dev/null 2>&1
is "deleted, all of them go" "blue:blue/kept green:green/kept " "$(names)"
finish
