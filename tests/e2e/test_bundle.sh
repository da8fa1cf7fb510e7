#!/bin/bash
# A Bundle: a branch of git is what is on the cluster (R1 to R8, R12, R18, R19 of capabilities.md).
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
if ! command -v kubectl >/dev/null || ! command -v git >/dev/null; then
	echo "ok 1 - bundles # SKIP no kubectl, or no git"
	exit 0
fi
up_start --hooks-listen 127.0.0.1:0
cd "$dir" || exit 1
repository "$catalog/ssot.git" ssot

configmap() { printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\ndata:\n  v: "%s"\n' "$1" "$2"; }
deployment() {
	printf 'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: %s\nspec:\n  replicas: 1\n  selector: {matchLabels: {app: %s}}\n  template:\n    metadata: {labels: {app: %s}}\n    spec: {containers: [{name: c, image: "example.com/web:1"}]}\n' "$1" "$1" "$1"
}
bundle() { # NAME [LINES below spec]
	printf 'apiVersion: app.coreos.com/v1alpha1\nkind: Bundle\nmetadata:\n  name: %s\nspec:\n  source: {git: {url: "file://%s/ssot.git", path: apps}}\n  trigger: {interval: 1s}\n%s\n' "$1" "$catalog" "${2:-}"
}
push() { # MESSAGE
	git -C ssot add -A && git -C ssot commit -q -m "$1" && git -C ssot push -q origin "${2:-main}" 2>/dev/null
	head=$(git -C ssot rev-parse HEAD)
}
state() { k get bundle "${1:-web}" -o 'jsonpath={.status.state} {.status.commit}'; }
condition() { k get bundle web -o "jsonpath={.status.conditions[?(@.type==\"$1\")].$2}"; }
value() { k get configmap "$1" -o 'jsonpath={.data.v}' 2>&1 | sed 's/.*NotFound.*/gone/'; }
installs() { k get installs -n alm-cluster-default -o 'jsonpath={range .items[*]}{.spec.revision} {.status.phase} {.status.state} {.spec.attempt}{"\n"}{end}' | sed -n "s/^git:$1 //p"; } # COMMIT
rows() { alm audit query --data-dir "$data" "$@"; }

mkdir -p ssot/apps
deployment my-app >ssot/apps/my-app.yaml
configmap a 1 >ssot/apps/a.yaml
configmap b 1 >ssot/apps/b.yaml
echo 'no manifest' >ssot/apps/README.md
push 'first light'
bundle web '  stages: [{group: prod}]' | k create --validate=false -f - >/dev/null
soon "what is not built: who asks for it gets nothing applied" "SpecInvalid" condition Rendered reason
has "and is told what is not there" "spec.stages: this is not built yet" "$(condition Rendered message)"
is "nothing of it is there" "gone" "$(value a)"
bundle web | k replace -f - >/dev/null
soon "R2 a branch is applied" "Synced $head" state
soon "D40 its Install says so" "completed Succeeded 1" installs "$head"
is "its Deployment is there" "1" "$(k get deployment my-app -o 'jsonpath={.status.availableReplicas}')"
is "R18 an object names its file" "my-app.yaml" "$(k get deployment my-app -o 'jsonpath={.metadata.annotations.app\.coreos\.com/intent}')"
is "R3 its status names who" "alice first light" "$(k get bundle web -o 'jsonpath={.status.author} {.status.subject}')"
has "L27 the log names the author, whom nobody has checked" "alice (claimed by a commit of git)" "$(alm audit query --reason RevisionRead)"
has "R3 so does the log" "first light" "$(alm audit query --type Observe -o json 2>&1)"

# A lock that a kill has left in the mirror: git cannot fetch into it, and it is made anew.
mirror=$(echo "$data"/git/*/repo)
: >"$mirror/refs/alm/head.lock"
git -C ssot commit -q --allow-empty --author 'carol <c@example.com>' -m 'between'
configmap b 2 >ssot/apps/b.yaml
push 'b is 2'
soon "R2 a push is applied within the interval" "2" value b
code "a mirror that was made anew knows what was applied" 0 "\"between\"" alm audit query --data-dir "$data" --reason Superseded -o json
has "L27 who wrote it, and who applied it" "carol (claimed by a commit of git, committed by alice)" "$(rows --reason Superseded)"
is "and an ordinary push is none that rewrote the history" "[]" "$(rows --reason HistoryRewritten -o json)"
git -C ssot rm -q apps/b.yaml
k create namespace elsewhere >/dev/null
k get configmap b -o json | jq '{apiVersion, kind, data, metadata: {name: "b", namespace: "elsewhere", labels: .metadata.labels, annotations: .metadata.annotations}} | .data.v = "1"' | k apply -f - >/dev/null
k patch configmap b --type=merge -p '{"metadata":{"finalizers":["example.com/hold"]}}' >/dev/null
push 'drop b'
waits() { k get bundle web -o 'jsonpath={.status.state} {.status.conditions[?(@.type=="Ready")].message}'; }
soon "R5 a finalizer holds a delete, and that is told" "Rolling ${head:0:12} alice: drop b; deleting ConfigMap default/b: finalizer example.com/hold" waits
has "by alm status, too" "deleting ConfigMap default/b: finalizer example.com/hold" "$(alm status)"
alm status web >rows
is "R14 each object has its line: what it is, since when, by whom, why" "$(printf '%s\n' "OBJECT CLUSTER STATE LAST CHANGE WHY" \
	"ConfigMap/default/b default Deleting Ns ago (${head:0:7} alice \"drop b\") removed from git; finalizer example.com/hold" \
	"Deployment/default/my-app default Current Ns ago (C alice) 1/1")" "$(grep -v default/a rows | head -3 | tr -s ' ' | sed "s/[0-9]*s ago/Ns ago/; s/([0-9a-f]* alice)/(C alice)/")"
is "R18 and its file" "a.yaml b.yaml my-app.yaml" "$(alm status bundle/web -o json | jq -r '[.objects[].file] | join(" ")')"
k patch configmap b --type=merge -p '{"metadata":{"finalizers":null}}' >/dev/null
soon "R5 a removed file is an object gone" "gone" value b
soon "and the state says when that is through" "Synced $head" state
git -C ssot revert --no-edit HEAD >/dev/null && git -C ssot push -q origin main 2>/dev/null
head=$(git -C ssot rev-parse HEAD)
soon "R3 git revert brings it back" "2" value b
soon "as a revision as any" "Synced $head" state

k scale deployment my-app --replicas=3 >/dev/null
replicas() { k get deployment my-app -o 'jsonpath={.spec.replicas}'; }
soon "R6 kubectl scale is undone" "1" replicas

configmap a 9 >ssot/apps/a.yaml
printf 'not: [yaml\n' >ssot/apps/broken.yaml
git -C ssot rm -q apps/b.yaml
bundle web >web.yaml
# offline COMMAND...: alm in a place without a cluster: no kubeconfig, no data folder
offline() { env -u KUBECONFIG HOME="$dir/nowhere" "$alm_bin" "$@"; }
code "R1 vet tells before the push" 1 "alm: broken.yaml: yaml: line" offline bundle vet -f ssot --worktree --bundle web.yaml
before=$(offline bundle vet -f ssot --worktree --bundle web.yaml 2>&1)
push 'broken'
soon "R7 a parse error is told" "False" condition Rendered status
has "with file and line" "broken.yaml" "$(condition Rendered message)"
has "in the words of vet" "${before#alm: }" "$(condition Rendered message)"
is "R7 nothing of it is applied" "1" "$(value a)"
is "R7 nothing of it is pruned" "2" "$(value b)"
git -C ssot rm -q -f apps/broken.yaml
push 'mended'
git clone -q "$catalog/ssot.git" clone
code "R1 a clone builds without a cluster" 0 "# Source: a.yaml" offline bundle build -f clone --bundle web.yaml
is "R1 every object of it" "a.yaml my-app.yaml " \
	"$(offline bundle build -f clone --bundle web.yaml -o json | jq -j '.objects | keys[] + " "')"
is "and the same bytes each time" "$(offline bundle build -f clone | sha256sum)" "$(offline bundle build -f clone/ | sha256sum)"
ln -s /etc/hostname clone/apps/link.yaml
code "R1 a reference to what is outside is an error" 1 "apps/link.yaml is a symbolic link" offline bundle vet --worktree -f clone
rm clone/apps/link.yaml
printf 'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {p: hunter2}\n' >clone/apps/s.yaml
lacks "values of Secrets are hidden" offline bundle build --worktree -f clone --mask-secrets -- hunter2
code "but when they are wanted" 0 "hunter2" offline bundle build --worktree -f clone
sed 's/trigger:/triger:/' web.yaml >typo.yaml
code "a Bundle with a field that is none" 1 "spec.triger: unknown field" offline bundle vet -f clone --bundle typo.yaml
soon "the next push mends it" "9" value a
soon "with what it removes" "gone" value b

sed -i 's|metadata: {labels: {app: my-app}}|metadata: {labels: {app: my-app}, annotations: {app.coreos.com/simulate: "ImagePullBackOff: manifest unknown"}}|' ssot/apps/my-app.yaml
push 'a bad image'
suffers() { alm status web -o json | jq -r '.objects[] | select(.file == "my-app.yaml") | .state + ": " + .why' | sed 's/([0-9]*s ago, pod my-app-[^,]*,/(N ago, pod P,/'; }
soon "R19 why it is broken, since when, and where" "InProgress: ImagePullBackOff: manifest unknown (N ago, pod P, container c)" suffers
git -C ssot revert --no-edit HEAD >/dev/null && git -C ssot push -q origin main 2>/dev/null
ln -s /etc/passwd ssot/apps/link.yaml
push 'a link'
soon "a symbolic link is refused" "Invalid" k get bundle web -o 'jsonpath={.status.state}'
run_step "  alm status has a step" "$(next_steps)"
by_name() { condition Rendered message | grep -o "link.yaml is a symbolic link"; }
soon "by its name" "link.yaml is a symbolic link" by_name
git -C ssot rm -q -f apps/link.yaml
push 'no link'
soon "and the branch goes on" "Synced $head" state

stuck=', annotations: {app.coreos.com/simulate: "FailedMount: no such volume"}'
sed -i "s|metadata: {labels: {app: my-app}}|metadata: {labels: {app: my-app}$stuck}|" ssot/apps/my-app.yaml
push 'stuck'
soon "target 12: a rollout that waits says for what, and until when" "Rolling ${head:0:12} alice: stuck; Deployment default/my-app: N of 1 replicas available; fails at TIME" \
	sh -c "KUBECONFIG=$KUBECONFIG kubectl get bundle web -o 'jsonpath={.status.state} {.status.conditions[?(@.type==\"Ready\")].message}' | sed 's/[0-9] of 1/N of 1/; s/20[-0-9]*T[0-9:]*Z/TIME/'"
soon "D40 as does its Install" "running Verifying 1" installs "$head"
worst() { k get installs -n alm-cluster-default -o json | jq -r '.items[] | select(.spec.revision == "git:'"$head"'") | .status.objects[] | .state + " " + .ref + " " + .file'; }
is "with what is waited for" "InProgress Deployment default/my-app my-app.yaml" "$(worst)"
for i in $(seq 20); do
	configmap a "p$i" >ssot/apps/a.yaml
	[ "$i" -ne 12 ] || sed -i "s|$stuck||" ssot/apps/my-app.yaml
	push "push $i"
done
began=$(date +%s%N)
soon "R8 20 quick pushes, behind what does not become ready, end on the last one (target 8)" "p20" value a
took=$((($(date +%s%N) - began) / 1000000))
echo "# target 8: $took ms after the last of them, with an interval of 1 s"
soon "whose commit the status has" "Synced $head" state
soon "D40 as has its Install" "completed Succeeded 1" installs "$head"
kept() { k get installs -A -o name | wc -l; }
soon "and of those that ended three are kept" 4 kept
is "R8 each is in the log once, run or superseded" "20" "$(alm audit query --type Observe -o json | jq -r '.[].body.source.subject // empty' | grep '^push ' | sort -u | wc -l)"

git -C ssot reset -q --hard HEAD~5
configmap a forced >ssot/apps/a.yaml
k patch bundle web --type=merge -p '{"spec":{"source":{"git":{"rewrites":"Refuse"}}}}' >/dev/null
git -C ssot add -A && git -C ssot commit -q -m 'forced' && git -C ssot push -q -f origin main 2>/dev/null
soon "a force push is refused, if that is wanted" "HistoryRewritten" condition SourceReady reason
is "and not applied" "p20" "$(value a)"
k annotate bundle web "app.coreos.com/accept-digest=$(git -C ssot rev-parse HEAD)" >/dev/null
soon "a force push is applied when it is accepted" "forced" value a
has "and the log says that the history was rewritten" "HistoryRewritten" "$(alm audit query --type Observe -o json)"
soon "and a Warning, once" "Warning " k get events --field-selector reason=HistoryRewritten -A -o 'jsonpath={range .items[*]}{.type} {end}'

# Who names another branch means its head; who rewrites that one is refused again.
at_branch() { k patch bundle web --type=merge -p "{\"spec\":{\"source\":{\"git\":{\"branch\":\"$1\"}}}}" >/dev/null; }
git -C ssot checkout -q -b side HEAD~1
configmap a side >ssot/apps/a.yaml
push 'another branch' side
at_branch side
soon "under Refuse another branch is no force push" "Synced $head side" sh -c "kubectl get bundle web -o 'jsonpath={.status.state} {.status.commit} {.status.source.branch}'"
git -C ssot commit -q --amend -m 'rewritten' && git -C ssot push -q -f origin side 2>/dev/null
soon "and one of that branch is" "HistoryRewritten" condition SourceReady reason
git -C ssot checkout -q main
at_branch main
head=$(git -C ssot rev-parse HEAD)
soon "the first branch again" "Synced $head" state

git -C ssot rm -q -r apps
push 'nothing'
soon "an empty tree deletes nothing" "SourceEmpty" condition SourceReady reason
is "all of it is there" "forced" "$(value a)"
git -C ssot revert --no-edit HEAD >/dev/null && git -C ssot push -q origin main 2>/dev/null
head=$(git -C ssot rev-parse HEAD)
soon "until it is back" "Synced $head" state

bundle gone | sed 's|ssot.git|none.git|' | k apply -f - >/dev/null
soon "a repository that is not there" "SourceFailed" k get bundle gone -o 'jsonpath={.status.state}'
bundle gone | sed 's|ssot.git|ssot.git/HEAD|' | k apply -f - >/dev/null
told_of() { k get bundle gone -o json | jq -r '.status | .state + " " + (.conditions[] | select(.type == "SourceReady") | .status + " " + .reason + ": " + .message)'; }
soon "a file, which is none" "SourceFailed False SourceUnreachable: SourceUnreachable: spec.source.git.url: $catalog/ssot.git/HEAD is a file, and no repository of git: name the folder of one" told_of
k delete bundle gone --wait=false >/dev/null
bundle web '  prune: {namespaces: [apps]}' | tee narrow.yaml | k apply -f - >/dev/null
soon "R12 an object elsewhere is refused" "NamespaceNotAllowed" condition Rendered reason
has "R12 by vet in the same words" "$(condition Rendered message)" "$(offline bundle vet -f ssot --bundle narrow.yaml 2>&1)"
bundle web | k apply -f - >/dev/null
soon "until it is allowed" "Synced $head" state

bundle web '  prune: {maxDeletes: 1}' | k apply -f - >/dev/null
for i in 1 2 3; do configmap "more$i" 1 >"ssot/apps/more$i.yaml"; done
push 'three more'
soon "three more" "Synced $head" state
git -C ssot rm -q apps/more*.yaml
push 'three less'
soon "deletes beyond maxDeletes are held" "AwaitingApproval $head" state
is "and nothing is deleted" "1" "$(value more1)"
has "the list is told" "ConfigMap default/more1" "$(condition PruneHeld message)"
has "alm status says it" "bundle web: AwaitingApproval git:" "$(alm status)"
run_step "somebody approves, by the step that it prints" "$(next_steps)"
has "  which says so" "approved the deletes of bundle/web" "$said"
soon "and they go" "gone" value more3
soon "to the end" "Synced $head" state
code "there is nothing more to approve" 3 "holds no deletes: it is Synced" alm approve bundle/web --prune --reason again

# As the server counts: ALM has deleted much by now, and nothing where no Bundle is, whatever marks it has.
deletes() { alm audit query --type Write --reason Deleted --limit 10000 -o json | jq -r '.[] | select((.body.clientId // "") | startswith("alm-")) | .subject.kind + " in " + .subject.namespace' | sort -u; }
is "R12 no DELETE request went elsewhere" "Bundle in
ConfigMap in default
Install in alm-cluster-default" "$(deletes)"
is "R12 what looks like ours stays there" "1" "$(k get configmap b -n elsewhere -o 'jsonpath={.data.v}')"

# Hooks: a Bundle that would be read once an hour.
mkdir -p ssot/hooked
configmap h 1 >ssot/hooked/h.yaml
push 'hooked'
bundle hooked | sed 's/path: apps/path: hooked, hookSecretRef: {name: hook}/; s/interval: 1s/interval: 1h/' | k apply -f - >/dev/null
soon "a Bundle with a hook" "Synced $head" state hooked
hooks=$(sed -n 's/.* hooks of git on //p' out)
hook() { # SECRET [REPOSITORY]
	printf '{"ref":"refs/heads/main","repository":{"clone_url":"%s"}}' "${2:-file://$catalog/ssot}" >body
	curl -s -w ' %{http_code}' --data-binary @body "$hooks" \
		-H "X-Hub-Signature-256: sha256=$(openssl dgst -sha256 -hmac "$1" body | sed 's/.*= //')"
}
key=0123456789abcdef0123
configmap h 2 >ssot/hooked/h.yaml
push 'h is 2'
refusal="no Bundle takes this push with this signature
 401"
is "without its Secret nobody is believed" "$refusal" "$(hook "$key")"
k create secret generic hook -n alm-system --from-literal=secret=$key >/dev/null
is "nor with one that is not meant for it" "$refusal" "$(hook "$key")"
k delete secret hook -n alm-system >/dev/null
k create secret generic hook -n alm-system --type=app.coreos.com/git-hook --from-literal=secret=$key >/dev/null
is "a wrong signature is refused" "$refusal" "$(hook "${key}4")"
is "a repository that nobody reads in the same words" "$refusal" "$(hook "$key" file:///srv/other.git)"
is "as is a push without a signature" "$refusal" "$(curl -s -w ' %{http_code}' --data-binary @body "$hooks")"
is "nothing was read for these" "1" "$(value h)"
has "the log says so" "a hook of git is refused" "$(cat err)"
is "R2 a push that is signed is taken" "read now
 202" "$(hook "$key")"
WAIT_S=30 soon "R2 and applied at once" "2" value h
is "what is no push is told so" 400 "$(curl -s -o said -w '%{http_code}' --data '{}' "$hooks")"
head -c 1100000 /dev/zero >large
is "nor is a large one read" 413 "$(curl -s -o said -w '%{http_code}' -H Expect: --data-binary @large "$hooks")"
is "and only POST is taken" 405 "$(curl -s -o said -w '%{http_code}' "$hooks")"
has "what comes too often waits" 429 "$(curl -s -o said -w '%{http_code} ' --data '{}' "$hooks?[1-300]")"
counted() { curl -s "http://$metrics/metrics" | sed -n "s/^alm_git_hooks_total{result=\"$1\"} //p"; }
is "all of them are counted" "1 yes" "$(counted taken) $([ "$(counted refused)" -ge 7 ] && [ "$(counted limited)" -ge 1 ] && echo yes)"
k delete bundle hooked --timeout=120s >/dev/null

mkdir -p ssot/kinds
printf 'apiVersion: kinds.example.com/v1\nkind: Thing\nmetadata: {name: t, namespace: default}\nspec: {v: 1}\n' >ssot/kinds/t.yaml
push 'a thing'
bundle kinds | sed 's/path: apps/path: kinds/' | k apply -f - >/dev/null
soon "a kind that the server has not is refused" Blocked k get bundle kinds -o 'jsonpath={.status.state}'
k apply -f - >/dev/null <<'CRD'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.kinds.example.com}
spec:
  group: kinds.example.com
  scope: Namespaced
  names: {kind: Thing, plural: things}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
CRD
k wait crd/things.kinds.example.com --for condition=established --timeout=60s >/dev/null
alm retry bundle/kinds >/dev/null
WAIT_S=60 soon "somebody brings it, and the next attempt knows it" Synced k get bundle kinds -o 'jsonpath={.status.state}'
is "the object is there" 1 "$(k get thing t -o 'jsonpath={.spec.v}')"
k delete bundle kinds --timeout=120s >/dev/null
k delete crd things.kinds.example.com >/dev/null

k patch bundle web --type=merge -p '{"spec":{"serviceAccountName":"nobody"}}' >/dev/null
k delete bundle web --wait=false >/dev/null
soon "what cannot be begun is tried again, and told" True condition Stalled status
has "with the reason" "Bundle web cannot be run: spec.serviceAccountName" "$(condition Stalled message)"
is "nothing goes as ALM itself" "forced" "$(value a)"
k patch bundle web --type=merge -p '{"spec":{"serviceAccountName":null}}' >/dev/null
k delete bundle web --timeout=120s >/dev/null 2>&1
is "a deleted Bundle takes what it made" "gone" "$(value a)"
none "and its Installs" k get installs -A -o name
none "and its inventory" k get configmap -n alm-system -l app.coreos.com/bundle=web -o name
steps_ran
finish
