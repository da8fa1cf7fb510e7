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
invalid() { k get bundle web -o 'jsonpath={.status.conditions[?(@.type=="Rendered")].reason}: {.status.conditions[?(@.type=="Rendered")].message}'; }
installs() { k get installs -n alm-cluster-default -o 'jsonpath={range .items[*]}{.spec.revision} {.status.phase} {.status.state} {.spec.attempt}{"\n"}{end}' | sed -n "s/^git:$1 //p"; } # COMMIT
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
soon "D40 so does its Install" "running Applying 1" installs "$head"
asks() { k get bundle web -o yaml | tr -s "\n " " " | grep -o "waits for approval: alm approve bundle/web --canary" | head -1; }
soon "  and what it waits for" "waits for approval: alm approve bundle/web --canary" asks
second=$head
web 3
soon "another push takes its place" "web:3" image web-canary
soon "  its Install says so" "failed Superseded 1" installs "$second"
is "  what is there is untouched" "web:1 1" "$(image) $(k get deployment web -o 'jsonpath={.metadata.generation}')"
has "  the former one is in the log" "Superseded" "$(alm audit query --data-dir "$data" --reason CanaryAborted -o json)"
kill -9 "$pid"
wait "$pid" 2>/dev/null
up_start
approve() { alm approve bundle/web --canary --reason 'it is good'; }
soon "killed in the middle: it is looked at again" "InProgress: step web/web.yaml: Deployment default/web: canary step 1 of 1, weight 25 (1 of 4" group
quiet_for 3
is "  and nothing is written without approval" "web:1 web:3" "$(image) $(image web-canary)"
waiting() { k get bundle web -o 'jsonpath={.status.canaries[*]}'; }
soon "  its Install is the same one" "running Applying 1" installs "$head"
soon "it asks again" '{"object":"Deployment default/web","state":"AwaitingApproval","weight":25}' waiting
has "approved" "approved the canary of bundle/web at 25 percent, plan" "$(approve)"
soon "approved, it is there" "Synced $head" state
soon "  and so is its Install" "completed Succeeded 1" installs "$head"
has "  by the approval" "approved: 25: it is good (claimed by admin)" "$(alm audit query --data-dir "$data" --reason CanarySteered -o json)"
is "  and nothing is left" "web:3 " "$(image) $(image web-canary)"
web 4
soon "one more" "web:4" image web-canary
code "an abort says why" 2 "--reason is required" alm abort bundle/web
code "aborted" 0 "aborted bundle/web, plan" alm abort bundle/web --reason 'customers complain'
soon "aborted: rolled back" "RolledBack $head" state
soon "  its Install says so" "failed RolledBack 1" installs "$head"
is "  and kubectl get why" "web ${head:0:12} failed RolledBack" "$(k get installs -A | awk '$4 == "'"${head:0:12}"'" {print $3, $4, $5, $6}')"
put_back() { k patch -n alm-cluster-default "$(k get installs -n alm-cluster-default -o json | jq -r '.items[] | select(.spec.revision == "git:'"$head"'") | "install/" + .metadata.name')" "$@" >/dev/null; }
put_back --subresource=status --type=merge -p '{"status":{"phase":"completed","state":"Succeeded"}}'
soon "  whatever somebody else writes there" "failed RolledBack 1" installs "$head"
put_back --type=merge -p '{"spec":{"attempt":7}}'
soon "  and what he asks for" "failed RolledBack 1" installs "$head"
soon "  which an Event tells" 2 sh -c "KUBECONFIG=$KUBECONFIG kubectl get events -A --field-selector reason=InstallPutBack -o name | wc -l"
has "  with the reason, and who it was" "CanaryAborted: Aborted: customers complain (claimed by admin)" "$(message Ready)"
is "  what was there is there" "web:3 " "$(image) $(image web-canary)"
has "  the log has it as an approval" '"justification": "customers complain"' "$(alm audit query --data-dir "$data" --reason AbortAsked -o json)"
code "nothing is rolled out: there is nothing to abort" 3 "rolls nothing out: it is RolledBack" alm abort bundle/web --reason x
kill -9 "$pid"
wait "$pid" 2>/dev/null
up_start
quiet_for 3
is "killed after that: the abort holds for who comes then" "RolledBack $head web:3 " "$(state) $(image) $(image web-canary)"
k patch bundle web --type=merge -p '{"spec":{"drift":"Report"}}' >/dev/null
soon "the same revision begun anew is another rollout, which nobody aborted" "web:4" image web-canary
k patch bundle web --type=merge -p '{"spec":{"abort":{"reason":"too late","by":"mallory"}}}' >/dev/null
late() { alm audit query --data-dir "$data" --reason AbortAsked | grep -c 'admin (authenticated, kubectl) "too late", it is not of the rollout that goes on'; }
soon "  what is said of the former one does nothing, and that is told, with who it was to the server" 1 late
is "  and it goes on" "web:4" "$(image web-canary)"
rollout '{weight: 50}'
soon "a changed Rollout is rolled out as a push is" "Synced $head" state
is "  by what it says now" "web:4" "$(image)"
third=$(git -C ssot rev-parse HEAD~1)
back() { alm rollback bundle web "$@"; }
code "L33 a rollback says why" 2 "--reason is required" back
code "  a revision that is none" 1 "is none of the revisions that were Synced: ${head:0:12}, ${third:0:12}, " back --to fffffff --reason x
code "  the dry run tells it" 0 "bundle web goes from ${head:0:12} to ${third:0:12} alice: web 3; pushes are not applied until --to head" back --dry-run
quiet_for 2
is "  and changes nothing" "web:4 " "$(image) $(k get bundle web -o 'jsonpath={.spec.source.git.commit}')"
rollout '{weight: 50, pause: 1h}'
code "  the real one says the same" 0 "bundle web goes from ${head:0:12} to ${third:0:12} alice: web 3; pushes are not applied until --to head" back --reason INC-7
soon "  a canary of it, too" "web:3" image web-canary
code "target 22: the analysis is skipped" 0 "skipped the analysis of bundle/web" alm approve bundle/web --skip-analysis --reason hurry
soon "L33 it is back" "Synced $third" state
code "  back once more is further back, and not to the one that was left" 0 "to $(git -C ssot log --format=%h --abbrev=12 --grep '^web 1$') alice: web 1; " back --dry-run
is "  what was there is there" "web:3 " "$(image) $(image web-canary)"
has "  who and why is in the log" '"justification": "INC-7"' "$(alm audit query --data-dir "$data" --reason RollbackAsked -o json)"
has "  and who skipped what" '"justification": "hurry"' "$(alm audit query --data-dir "$data" --reason AnalysisSkipped -o json)"
OR_EMPTY=1 lacks "  no history was rewritten" alm audit query --data-dir "$data" --reason HistoryRewritten -o json -- HistoryRewritten
rollout '{weight: 50}'
soon "a changed Rollout is another plan" "Synced $third" state
web 5
quiet_for 2
is "  a push is not applied" "web:3" "$(image)"
has "  and the status says so" "alm rollback bundle/web --to head ends that" "$(message Ready)"
k patch bundle web --type=merge -p '{"spec":{"source":{"git":{"commit":"0123456789012345678901234567890123456789"}}}}' >/dev/null
soon "a commit that the branch has not is told" "BranchNotFound: commit 012345678901 is not the head of branch \"main\", nor one of the 1000 before it" message SourceReady
is "  and what is there stays" "web:3" "$(image)"
code "  and where it was before that nobody knows" 3 "bundle web is at ${third:0:12}, and held at 012345678901, which was never Synced: what was before that is not known; --to COMMIT names one, --to head ends it" back --reason x
code "  what is there is named by the way that ends" 0 "bundle web goes from 012345678901 to ${third:0:12} alice: web 3; " back --to "$third" --dry-run
pinned() { k patch bundle web --type=merge -p "{\"spec\":{\"pins\":[{\"group\":\"default\",\"commit\":\"$third\"}]}}" >/dev/null; }
pinned
held() { message Ready | grep -o 'spec.pins.0..commit holds it there$'; }
soon "a pin of the cluster counts before that" 'spec.pins[0].commit holds it there' held
code "  and nothing else is gone back to" 3 "spec.pins of bundle web says which commit it has" back --to head --reason x
k patch bundle web --type=merge -p '{"spec":{"pins":[{"cluster":"eu","commit":"'"$third"'"}]}}' >/dev/null
soon "  there is no other cluster" 'SpecInvalid: spec.pins[0].cluster: "eu": there is no cluster but this one, which is "default" in a group of that name; others are not built yet' invalid
k patch bundle web --type=merge -p '{"spec":{"pins":null}}' >/dev/null
soon "a commit that the branch has not, again" "BranchNotFound: commit 012345678901 is not the head of branch \"main\", nor one of the 1000 before it" message SourceReady
code "followed again" 0 "to the head of its branch, which is followed again" back --to head --reason 'it is mended'
soon "  the head is there" "Synced $head" state
code "  which is no failure: there is nothing to try again" 3 "bundle web is Synced, which is no failure" alm retry bundle/web
code "  once" 3 "follows the head of its branch already" back --to head --reason x
metric() { # MORE: of a Prometheus that nobody runs
	printf 'apiVersion: app.coreos.com/v1alpha1\nkind: Rollout\nmetadata: {name: careful}\nspec: {groups: [{name: web, steps: [{object: web.yaml, action: CreateOrUpdate, timeout: 3s, success: [{prometheus: {address: "service://default/p:9090", query: up, interval: 1s, count: 1, successCondition: result > 0, noData: Fail%s}}]}]}]}\n' "$1" | k apply -f - >/dev/null
}
metric ', dryRun: true'
soon "target 19: an analysis on trial is shown" "Finished: step web/web.yaml: measured no data" group
is "  and decides nothing" "Synced $head" "$(state)"
metric ''
soon "  which it does when it is meant" "RolledBack $head" state
attempts() { k get installs -n alm-cluster-default -o json | jq -r '[.items[] | select(.spec.revision == "git:'"$head"'") | select(.status.state == "RolledBack") | .spec.attempt] | max'; }
newest() { k get bundle web -o json | jq -r '"web.default." + .status.revisionDigest[:12]'; }
soon "  and its Install" RolledBack sh -c "KUBECONFIG=$KUBECONFIG kubectl get install -n alm-cluster-default $(newest) -o 'jsonpath={.status.state}'"
tried=$(attempts)
code "it rests so until the next push, or until it is asked to try again" 0 "bundle.app.coreos.com/web tries again what is RolledBack" alm retry bundle/web --reason 'the quota is raised'
soon "  which it does" "$((tried + 1))" attempts
soon "  it fails again" "RolledBack $head" state
quiet_for 3
is "  and that was one try" "$((tried + 1))" "$(attempts)"
has "  who and why is in the log" '"justification": "the quota is raised"' "$(alm audit query --data-dir "$data" --reason RetryAsked -o json)"
code "  its Install names it, too" 0 "tries again" alm retry "install/$(newest)"
soon "  and is tried" "$((tried + 2))" attempts
k annotate bundle web --overwrite app.coreos.com/retry=please >/dev/null
soon "  so does kubectl" "$((tried + 3))" attempts
soon "  which alm status says, too" "alm retry bundle/web" next_steps
run_step "  its step" "$(next_steps)"
soon "  does it" "$((tried + 4))" attempts
old=$(k get installs -n alm-cluster-default -o name | grep -v "$(newest)" | head -1)
code "  an older Install is not tried" 3 "is not the newest of bundle web: that is install/$(newest)" alm retry "install/${old##*/}"
k delete installs -n alm-cluster-default --all >/dev/null
soon "  an Install that is deleted is made anew" "failed RolledBack 1" installs "$head"
k delete namespace alm-cluster-default --wait=false >/dev/null
soon "  as is their namespace" Active k get namespace alm-cluster-default -o 'jsonpath={.status.phase}'
soon "  with it" "failed RolledBack 1" installs "$head"
rollout '{weight: 0}'
soon "one that is wrong is told, with its field" "spec.rolloutRef: Rollout careful: spec.groups[0].steps[0].canary.steps[0].weight: want percent of the Pods, a whole number from 1 to 100" message Rendered
rollout '{weight: 25, pause: 1h}'
web 6
soon "and one last" "web:6" image web-canary
k delete bundle web >/dev/null
none "a Bundle that is deleted in the middle takes both" image
none "  the canary, too" image web-canary
gone() { k get bundles,installs -A -o name | wc -l; }
soon "  and its Installs go with it" 0 gone
steps_ran
finish
