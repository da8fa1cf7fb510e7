#!/bin/bash
# The canary of a Deployment (L32 of capabilities.md) by `alm run`: step by step beside the former version, which stays untouched
# when the new one fails, is measured to be bad, or is aborted; and whatever ends the run in the middle, nothing of it is left.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
server=
runner=
trap 'kill $server $runner 2>/dev/null; up_stop; rm -rf "$dir"' EXIT
up_start
K=$KUBECONFIG
here=$PWD
cd "$dir" || exit 1
mkdir m log
web() { # VERSION [ANNOTATIONS of its Pods]
	cat >m/web.yaml <<EOF
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}, annotations: {${2:-}}}, spec: {containers: [{name: c, image: "web:$1"}]}}
EOF
}
rollout() { # STEPS [SUCCESS [OBJECT]]
	cat >rollout.yaml <<EOF
apiVersion: app.coreos.com/v1alpha1
kind: Rollout
metadata: {name: m}
spec:
  groups:
  - steps: [{object: ${3:-web.yaml}, action: Canary, canary: {steps: [$1]}${2:+, success: [$2]}}]
EOF
}
run=(run --kubeconfig "$K" --name web --trigger=oneoff --renderer.file.dir=m --renderer.file.rollout=rollout.yaml --audit-log=log/alm.db)
run() { "$ALM" "${run[@]}" 2>&1; }
start() {
	"$ALM" "${run[@]}" >runner.out 2>&1 &
	runner=$!
}
ended() { # NAME STATUS
	wait "$runner"
	is "$1" "$2" "$?"
	runner=
}
killed() {
	kill -9 "$runner"
	wait "$runner" 2>/dev/null
	runner=
	k delete lease -n alm-system alm.web >/dev/null # known to be dead: as the one that waits for it is told
}
told() { alm audit query --data-dir log -o json | jq -r --arg r "$1" '.[] | select(.reason == $r) | .body.what'; }
k() { kubectl "$@"; }
image() { k get deployment web -o 'jsonpath={.spec.template.spec.containers[0].image} {.metadata.generation}'; }
replicas() { k get deployment web-canary --ignore-not-found -o 'jsonpath={.spec.replicas} {.status.availableReplicas}'; }
left() { k get deployment web-canary -o name --ignore-not-found; }
hand() { k annotate deployment web-canary --overwrite "app.coreos.com/canary-$1" >/dev/null; }

web 1
rollout '{weight: 25}, {weight: 50}, {weight: 100}'
code "the first version needs none" 0 "Finished" run
is "  it is there, and no canary" "web:1 1 " "$(image) $(left)"
k get deployment -w -o jsonpath='{.metadata.name} {.spec.replicas} {.spec.template.spec.containers[0].image}{"\n"}' >watch 2>/dev/null &
server=$!
timeout 30 sh -c 'until [ -s watch ]; do sleep 0.1; done'
web 2
code "L32 25, 50, 100 percent" 0 "Finished" run
seen() { uniq watch | paste -sd,; }
soon "L32 beside the former version, which is written at the end" "web 3 web:1,web-canary 1 web:2,web-canary 3 web:2,web 3 web:2,web-canary 3 web:2" seen
kill "$server"
is "  nothing of it is left" "web:2 2 " "$(image) $(left)"
is "  nor in the inventory" "web" "$(k get configmap -n alm-system -l app.coreos.com/bundle=web -o 'jsonpath={.items[0].data.objects}' | awk '{print $4}' | paste -sd,)"
code "again: it is as it is wanted" 0 "Finished" run
is "  and was not written" "web:2 2 " "$(image) $(left)"

# Measured: a bad one goes, the former one was never touched.
printf '0.01\n0.01\n7\n' >says
python3 "$here/tests/e2e/prometheus_server.py" says port &
server=$!
metric="{prometheus: {address: 'http://127.0.0.1:$(written port)', insecure: true, query: errors, interval: 1s, count: 1, successCondition: result < 1}}"
before=$(k get deployment web -o 'jsonpath={.metadata.uid} {.metadata.generation} {.status.availableReplicas}')
web 3
rollout '{weight: 25}, {weight: 50}, {weight: 75}' "$metric"
code "L32 a bad figure in its third step" 1 "CanaryAborted: AnalysisFailed: query errors: 1 of 1 samples, 1 failed (0 may), measured 7; wanted result < 1" run
none "L32 the canary is gone" left
is "L32 the primary is as it was" "$before" "$(k get deployment web -o 'jsonpath={.metadata.uid} {.metadata.generation} {.status.availableReplicas}')"
has "L32 the log has it, with the values" "measured 7" "$(told CanaryAborted)"
# Neither good nor bad in its second step, until the time of the whole step is over: it goes, and says why.
printf '7\n7\n7\n0.01\n3\n' >says # three were asked for
rollout '{weight: 25}, {weight: 50}' "${metric/ < 1/ < 1, failureCondition: result > 5}" 'web.yaml, timeout: 5s'
code "L32 the time of the step is over" 1 "CanaryAborted: ProgressDeadline" run
is "  the canary is gone, the primary as it was" " $before" "$(left) $(k get deployment web -o 'jsonpath={.metadata.uid} {.metadata.generation} {.status.availableReplicas}')"
aborted() { k get events -o 'jsonpath={range .items[?(@.reason=="CanaryAborted")]}{.message}{"\n"}{end}' | grep -c AnalysisFailed; }
soon "L32 and an Event" 1 aborted # it is written after the entry of the log that ends the run
kill "$server"

# It fails by itself.
web 4 'app.coreos.com/simulate: "ImagePullBackOff: manifest unknown"'
rollout '{weight: 50}'
code "a bad image" 1 "CanaryAborted: ImagePullBackOff: manifest unknown" run
is "  the canary is gone, the primary as it was" " $before" "$(left) $(k get deployment web -o 'jsonpath={.metadata.uid} {.metadata.generation} {.status.availableReplicas}')"

# By hand: approval, skip, abort; each with its reason.
web 5
rollout '{weight: 25, approval: Manual}, {weight: 50, pause: 1h}'
start
soon "it waits for approval" "1 1" replicas
hand 'approve=50: not this one'
hand 'approve=25: Monday is over'
soon "approved, it goes on" "3 3" replicas
hand 'skip=it is urgent'
ended "target 22: the pause is skipped" 0
is "  and it is there" "web:5 3 " "$(image) $(left)"
has "  both reasons are in the log" "approved: 25: Monday is over; skipped: it is urgent" "$(told CanarySteered)"
web 6
start
soon "another one" "1 1" replicas
hand 'abort=customers complain'
ended "aborted, the run has failed" 1
has "  and says why" "CanaryAborted: Aborted: customers complain" "$(cat runner.out)"
is "  nothing is left" "web:5 3 " "$(image) $(left)"

# What ends it in the middle.
start
soon "a run that is killed" "1 1" replicas
killed
web 7
rollout '{weight: 25}'
code "another revision takes its place" 0 "Finished" run
is "  nothing is left of the former one" "web:7 4 " "$(image) $(left)"
has "  which is told" "Superseded" "$(told CanaryAborted)"
web 8
rollout '{weight: 25, pause: 1h}'
start
soon "one more that is killed" "1 1" replicas
killed
web 7
rollout '{weight: 25}'
code "back to what is there" 0 "Finished" run
is "  the canary goes, the primary is not written" "web:7 4 " "$(image) $(left)"
web 9
rollout '{weight: 25, pause: 1h}'
start
soon "the primary is deleted meanwhile" "1 1" replicas
k delete deployment web >/dev/null
ended "  the run has failed" 1
has "  and says why, and so does the log" "PrimaryGone" "$(grep -F "$(told CanaryAborted | grep PrimaryGone)" runner.out)"
is "  what was there before is there again, no canary" "web:7 1 " "$(image) $(left)"

# What has no canary is refused before anything is written.
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\ndata: {a: b}\n' >m/one.yaml
web 10
rollout '{weight: 25}' '' '"*.yaml"'
code "of another kind" 3 "CanaryUnsupported: ConfigMap default/one: a canary is of a Deployment of apps, not of ConfigMap of v1" run
is "  nothing was written" "web:7 1  " "$(image) $(left) $(k get configmap one -o name --ignore-not-found)"
rm m/one.yaml
k create deployment web-canary --image=theirs >/dev/null
rollout '{weight: 25}'
code "somebody else's object of that name" 1 "CanaryAborted: ObjectNotOwned: Deployment default/web-canary is there, and not of this unit" run
theirs() { k get deployment web-canary -o 'jsonpath={.spec.template.spec.containers[0].image}'; }
is "  is not touched" "theirs" "$(theirs)"
k delete deployment web-canary >/dev/null
mkdir other
k create deployment web-canary --image=other --dry-run=client -o yaml >other/d.yaml
"$ALM" run --kubeconfig "$K" --name other --trigger=oneoff --renderer.file.dir=other >/dev/null 2>&1
code "another bundle's, which has marks" 1 "CanaryAborted: ObjectNotOwned" run
is "  is not touched" "other" "$(theirs)"
sed 's/name: web}/name: web-canary}/' m/web.yaml >m/second.yaml
rollout '{weight: 25}' '' '"*.yaml"'
code "one of the unit itself is refused" 3 "the unit has a Deployment web-canary, which is its canary's name" run
is "  is not touched" "other" "$(theirs)"
finish
