#!/bin/bash
# `alm bundle plan` tells what a push would do, and the push does that (R20 of capabilities.md).
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
if ! command -v kubectl >/dev/null || ! command -v git >/dev/null; then
	echo "ok 1 - plans of bundles # SKIP no kubectl, or no git"
	exit 0
fi
up_start
cd "$dir" || exit 1
repository "$catalog/ssot.git" ssot
configmap() { printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {v: "%s"}\n' "$1" "$2"; }
commit() { git -C ssot add -A && git -C ssot commit -q -m "$1"; }
push() {
	git -C ssot push -q origin main 2>/dev/null
	head=$(git -C ssot rev-parse HEAD)
}
bundle() { # [LINES below spec]
	printf 'apiVersion: app.coreos.com/v1alpha1\nkind: Bundle\nmetadata: {name: web}\nspec:\n  source: {git: {url: "file://%s/ssot.git"}}\n  trigger: {interval: 1s}\n%s\n' "$catalog" "${1:-}"
}
plan() { alm bundle plan -f ssot --bundle web.yaml "$@" 2>&1; }
steps() { plan -o json | jq -r '.steps[] | .act + " " + .object + " " + (.why // "")' | sed 's/ $//'; }
state() { k get bundle web -o 'jsonpath={.status.state} {.status.commit}'; }
versions() { k get configmap,secret,deployment -A -o 'jsonpath={range .items[*]}{.metadata.name}={.metadata.resourceVersion} {end}'; }

bundle >web.yaml
configmap a 1 >ssot/a.yaml
configmap b 1 >ssot/b.yaml
configmap k 1 | sed 's/name: k/name: k, annotations: {app.coreos.com\/prune: disabled}/' >ssot/k.yaml
printf 'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {p: hunter2}\n' >ssot/s.yaml
printf 'apiVersion: v1\nkind: Namespace\nmetadata: {name: site}\n' >ssot/site.yaml
printf 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  replicas: 1\n  selector: {matchLabels: {app: d}}\n  template:\n    metadata: {labels: {app: d}}\n    spec: {containers: [{name: c, image: "example.com/web:1"}]}\n' >ssot/d.yaml
commit one
before=$(versions)
is "R20 before there is a Bundle all is created, in install order" "create Namespace site
create Secret default/s
create ConfigMap default/a
create ConfigMap default/b
create ConfigMap default/k
create Deployment default/d" "$(steps)"
code "with --exit-code it tells a program" 2 "+ Deployment default/d (d.yaml)" alm bundle plan -f ssot --bundle web.yaml --exit-code
is "nothing is written" "$before" "$(versions)"
push
k apply -f web.yaml >/dev/null
soon "the push" "Synced $head" state
is "after it nothing is left to do" "same Namespace site
same Secret default/s
same ConfigMap default/a
same ConfigMap default/b
same ConfigMap default/k
same Deployment default/d" "$(steps)"
code "which is no change" 0 "ssot at ${head:0:12}, Bundle web: 6 as wanted" alm bundle plan -f ssot --bundle web.yaml --exit-code

configmap a 2 >ssot/a.yaml
configmap c 1 >ssot/c.yaml
sed -i 's/web:1/web:2/; s/replicas: 1/replicas: 2/' ssot/d.yaml
sed -i 's/hunter2/hunter3/' ssot/s.yaml
git -C ssot rm -q b.yaml k.yaml site.yaml
commit two
is "a change is told with its fields, what left with its fate" "change Secret default/s data.p
change ConfigMap default/a data.v
create ConfigMap default/c
change Deployment default/d spec.replicas, spec.template.spec.containers[0].image
keep Namespace site its kind, a mark, or another owner keeps it
keep ConfigMap default/k its kind, a mark, or another owner keeps it
delete ConfigMap default/b" "$(steps)"
lacks "values of Secrets are not" plan -- hunter
is "R20 the planner alone has a name of its own" "$(plan)" "$(alm plan -f ssot --bundle web.yaml 2>&1)"
is "R20 the observer alone, by file" "a.yaml b.yaml d.yaml k.yaml s.yaml site.yaml" "$(alm observe web -o json | jq -r '.objects | keys | join(" ")')"
is "  as it would be written" 'apiVersion: v1
data:
v: "1"
kind: ConfigMap
metadata:
name: a
namespace: default
---' "$(alm observe bundle/web | sed -n '/Source: a.yaml/,/---/p' | sed '1d; s/^ *//')"
lacks "  without values of Secrets" alm observe web -- hunter
is "R20 the gap alone; target 10: none right after an apply" "bundle web: of 6 objects 6 as declared, 0 differ, 0 missing; of their fields N as declared, 0 differ, 0 unknown to git, N known to change" \
	"$(alm diff bundle/web | grep -v '^known ' | sed 's/fields [0-9]*/fields N/; s/[0-9]* known to/N known to/')"
k label deployment d --field-manager=mallory team=blue >/dev/null
is "R17 what git has not, and whose it is" "unknown Deployment default/d (d.yaml) metadata.labels.team (controller: mallory)" "$(alm diff bundle/web | grep ^unknown | tr -s ' ')"
is "R17 in its colour" $'\e[33mmetadata.labels.team\e[0m' "$(alm --color=always diff bundle/web | grep -o $'\e.*team\e[^ ]*')"
has "the revision that is there is planned for, too" "6 as wanted" "$(plan --rev "$head")"
push
soon "the push does it" "Synced $head" state
none "what was to go is gone" k get configmap b -o name --ignore-not-found
is "what was to stay is there" "configmap/k namespace/site" "$(k get configmap/k -o name) $(k get namespace/site -o name)"
is "and nothing more is left to do" "same" "$(steps | cut -d' ' -f1 | sort -u)"

# What only the server knows is asked of it, and nothing is stored.
git -C ssot reset -q --hard "$head"
printf 'apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {configmaps: "5"}}\n' | k apply -f - >/dev/null
soon "a quota counts" 4 k get resourcequota q -o 'jsonpath={.status.used.configmaps}'
for i in n1 n2; do configmap $i 1 >ssot/$i.yaml; done
sed -i 's/matchLabels: {app: d}/matchLabels: {app: e}/; s/labels: {app: d}/labels: {app: e}/' ssot/d.yaml
printf 'apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {ports: [{port: 99999}]}\n' >ssot/service.yaml
sed -i 's/hunter3/hunter4/; s/^stringData/immutable: true\nstringData/' ssot/s.yaml
printf 'apiVersion: v1\nkind: Namespace\nmetadata: {name: new}\n---\n%s\n' "$(configmap in-new 1 | sed 's/name: in-new/name: in-new, namespace: new/')" >ssot/new.yaml
commit eight
before=$(versions)
code "what the server refuses is found before the push" 3 "! Deployment default/d (d.yaml): ServerRefused: " alm bundle plan -f ssot --bundle web.yaml
said=$(plan)
has "a field that cannot be changed" "field is immutable" "$(grep "Deployment default/d" <<<"$said")"
has "a value that is none" "99999" "$(grep "Service default/s" <<<"$said")"
has "that is told of the revision, too" "the server refuses a write that it was shown" "$said"
has "what it could not be shown is counted" "1 not shown to the server: the folder brings the kind or the Namespace" "$said"
printf 'apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {configmaps: "4"}}\n' | k apply -f - >/dev/null
has "a quota" "! ConfigMap default/n1 (n1.yaml): ServerRefused: configmaps \"n1\" is forbidden: exceeded quota: q" "$(plan)"
is "nothing is written for that" "$before" "$(versions)"
k patch secret s --type=merge -p '{"immutable":true}' >/dev/null
has "a Secret is refused" "! Secret default/s (s.yaml): ServerRefused: Invalid; its words" "$(plan)"
EXIT=3 lacks "without a word of what it has" plan -- hunter
k delete resourcequota q >/dev/null
k create serviceaccount reader >/dev/null
k create clusterrolebinding reader --clusterrole=view --serviceaccount=default:reader >/dev/null
k create clusterrole secrets --verb=get,list --resource=secrets,namespaces >/dev/null
k create clusterrolebinding secrets --clusterrole=secrets --serviceaccount=default:reader >/dev/null
umask 077 && k config view --raw -o json | jq --arg t "$(k create token reader)" '.users[0].user = {token: $t}' >reader.kubeconfig
said=$(alm bundle plan -f ssot --bundle web.yaml --kubeconfig reader.kubeconfig 2>&1)
has "who may only read gets the plan" "~ Deployment default/d" "$said"
has "and what was not asked" "6 not shown to the server: the user of the kubeconfig may not create and patch such objects" "$said"
git -C ssot reset -q --hard HEAD~1

# What cannot be changed is made anew, if it says so.
sed -i 's/matchLabels: {app: d}/matchLabels: {app: e}/; s/labels: {app: d}/labels: {app: e}/; s|name: d}$|name: d, annotations: {app.coreos.com/force: "enabled"}}|' ssot/d.yaml
code "T26 a switch that says nothing is refused" 1 'd.yaml: annotation app.coreos.com/force: "enabled" says nothing; "true" or "false" is wanted' alm bundle vet -f ssot --worktree --bundle web.yaml
sed -i 's|force: "enabled"|force: "true"|' ssot/d.yaml
commit 'forced'
uids() { k get deployment/d configmap/a -o 'jsonpath={range .items[*]}{.metadata.uid} {end}'; }
read -r d_was a_was <<<"$(uids)"
has "T26 force: it is told" "~ Deployment default/d (d.yaml): made anew, as Deployment.apps \"d\" is invalid: spec.selector" "$(plan)"
push
soon "T26 the push does it" "Synced $head" state
read -r d_is a_is <<<"$(uids)"
is "T26 that object alone" "e $a_was" "$(k get deployment d -o 'jsonpath={.spec.selector.matchLabels.app}') $a_is"
code "T26 it is another one" 1 "" test "$d_was" = "$d_is"

# What would stop it.
bundle '  prune: {maxDeletes: 1}' >web.yaml
git -C ssot rm -q c.yaml a.yaml
commit three
has "more deletes than the Bundle allows are held" "PruneHeld: more deletes than spec.prune.maxDeletes (1); they would wait for: alm approve bundle/web --prune" "$(plan)"
bundle '  prune: {mode: None}' >web.yaml
is "with prune.mode None all stays" "keep ConfigMap default/c spec.prune.mode: None" "$(steps | grep default/c)"
bundle >web.yaml
git -C ssot reset -q --hard HEAD~1
k create configmap mine --from-literal=v=1 >/dev/null
configmap mine 2 >ssot/mine.yaml
printf 'apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\n' >ssot/t.yaml
commit four
code "what is somebody's refuses all" 3 "! ConfigMap default/mine (mine.yaml): ObjectNotOwned: it is there and not managed by ALM (spec.adopt: Unowned)" \
	alm bundle plan -f ssot --bundle web.yaml
has "so does a kind that is not served" "! Thing t (t.yaml): UnknownObject: the server has no kind Thing in example.com/v1" "$(plan)"
has "and it is said what that means" "nothing of it would be applied" "$(plan)"
bundle '  adopt: Unowned' >web.yaml
is "unless the Bundle takes it over" "change ConfigMap default/mine data.v" "$(steps | grep mine)"
printf 'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\nspec:\n  group: example.com\n  scope: Namespaced\n  names: {kind: Thing, plural: things}\n  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]\n' >ssot/crd.yaml
commit five
is "a kind that the folder brings comes with it" "create CustomResourceDefinition things.example.com
create Thing t" "$(steps | grep -i thing)"
bundle '  prune: {namespaces: [site]}' >web.yaml
code "the server knows what is outside of the namespaces" 1 "NamespaceNotAllowed: " alm bundle plan -f ssot --bundle web.yaml
bundle >web.yaml
git -C ssot rm -q -r .
commit six
has "an empty folder deletes nothing" "SourceEmpty: there is no object, and nothing is deleted" "$(plan)"
printf 'x: [\n' >ssot/x.yaml
commit seven
code "what vet finds comes first" 1 "x.yaml: yaml: line" alm bundle plan -f ssot --bundle web.yaml
code "a Bundle is wanted" 2 "--bundle FILE is missing" alm bundle plan -f ssot
k delete bundle web --timeout=120s >/dev/null 2>&1
finish
