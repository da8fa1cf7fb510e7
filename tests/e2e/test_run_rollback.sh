#!/bin/bash
# `alm run`: rollback.onFailure: Previous (L1 of capabilities.md): the unit that succeeded before is applied again, by
# the same steps and checks, and what only the failed one made goes.
# shellcheck disable=SC2119,SC2120
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - rollback of alm run # SKIP no kubectl"
	exit 0
}
runner=
stop_runner() {
	[ -n "$runner" ] && kill "$runner" 2>/dev/null && wait "$runner" 2>/dev/null
	runner=
}
trap 'stop_runner; up_stop; rm -rf "$dir"' EXIT
up_start
cd "$dir" || exit 1
K=$KUBECONFIG
mkdir web
deployment() { # IMAGE REPLICAS
	cat >web/web.yaml <<-YAML
		apiVersion: apps/v1
		kind: Deployment
		metadata: {name: web}
		spec:
		  replicas: $2
		  selector: {matchLabels: {app: web}}
		  template:
		    metadata: {labels: {app: web}}
		    spec: {containers: [{name: web, image: "example.com/web:$1"}]}
	YAML
}
configmap() { printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {v: "%s"}\n' "$1" "$2" >"web/$1.yaml"; }
rollout() { # ON_FAILURE
	cat >rollout.yaml <<-YAML
		apiVersion: app.coreos.com/v1alpha1
		kind: Rollout
		metadata: {name: web}
		spec:
		  rest: Before
		  rollback: {onFailure: $1}
		  groups:
		  - name: migrate
		    steps: [{object: job.yaml, action: Job}]
		  - name: web
		    steps: [{object: web.yaml, action: CreateOrUpdate, timeout: 1s}]
	YAML
}
printf 'apiVersion: batch/v1\nkind: Job\nmetadata: {name: migrate}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: busybox}]}}}\n' >web/job.yaml
web() { alm run --kubeconfig "$K" --renderer.file.dir=web --renderer.file.rollout=rollout.yaml --trigger=oneoff "$@"; }
image() { k get deployment web -o 'jsonpath={.spec.template.spec.containers[0].image}'; }
inventory() { k get configmap -n alm-system inv.web.files -o 'jsonpath={.data.objects}' | cut -d' ' -f2-4 | paste -sd,; }

# The first unit has none before it.
rollout Previous
deployment fail 2
configmap first 1
code "L1 nothing succeeded before" 1 "no unit is stored that succeeded before" web
deployment 1 2
code "a unit that succeeds" 0 "web/web.yaml: Finished" web
is "2.6 it is stored beside the inventory, in a Secret" "app.coreos.com/plan" "$(k get secret -n alm-system unit.web.files.0.0 -o 'jsonpath={.type}')"
before=$(writes)
web >/dev/null
is "L13 again: no write" 0 "$(($(writes) - before))"

# A bad image, with objects more and less.
deployment fail 2
configmap second 1
configmap first 2
web >"$dir/said" 2>&1
is "L1 a bad image: exit status" 1 $?
has "L1 it is rolled back, and why" "RolledBack: step web/web.yaml: Deployment default/web: " "$(cat "$dir/said")"
has "L1 the steps of the way back are told" "rollback: web/web.yaml: Finished" "$(cat "$dir/said")"
lacks "L18 no Job runs on the way back" k get job migrate -o json -- -e -back/
is "L1 the image is the one before" "example.com/web:1" "$(image)"
is "L1 and so is what else it changed" "1" "$(k get configmap first -o 'jsonpath={.data.v}')"
none "L1 what only the failed one made is gone" k get configmap second -o name --ignore-not-found
is "2.6 the inventory has what is there" "Deployment default web,Job default migrate,ConfigMap default first" "$(inventory)"
deployment 1 2
rm web/second.yaml
configmap first 1
before=$(writes)
code "L1 the former files again: nothing to do" 0 "" web
is "L1 nothing is written" 0 "$(($(writes) - before))"

# What stood there before the failed unit is not taken away by its rollback.
k create configmap theirs >/dev/null
configmap theirs 1
deployment fail 2
code "L1 with an object that was taken over" 1 "RolledBack" web --adopt
is "L1 that stays" "configmap/theirs" "$(k get configmap theirs -o name)"
rm web/theirs.yaml
k delete configmap theirs >/dev/null

# None: as it is.
rollout None
code "L1 None: failed" 1 "step web/web.yaml" web
is "L1 None: its objects stay" "example.com/web:fail" "$(image)"

# The Secrets are gone: said, and nothing is undone.
rollout Previous
deployment 2 2
code "another that succeeds" 0 "" web
k delete secret -n alm-system --all >/dev/null
deployment fail 2
code "L1 the stored unit is gone: that is told" 1 "not rolled back: the Secrets with the former unit are gone" web
deployment 2 2
code "and the next one that succeeds is stored again" 0 "" web

# At an interval: what was rolled back is not tried at every tick, and the unit before is kept.
deployment fail 3
"$alm_bin" run --kubeconfig "$K" --renderer.file.dir=web --renderer.file.rollout=rollout.yaml --trigger=interval --trigger.interval.duration=300ms >runner 2>&1 &
runner=$!
told() { grep -c "RolledBack" runner; }
many() { [ "$(told)" -ge 3 ] && echo yes; }
soon "L1 L5 at an interval: rolled back, and told at each tick" yes many
tried() { grep -c "^web/web.yaml: Failed" runner; }
is "L1 it was tried once" 1 "$(tried)"
is "L1 the unit before runs" "example.com/web:2" "$(image)"
k scale deployment web --replicas=1 >/dev/null
replicas() { k get deployment web -o 'jsonpath={.spec.replicas}'; }
soon "L1 L5 and drift from it is put back" 2 replicas
deployment 3 3
soon "L1 what is changed is tried at once" "example.com/web:3" image
done3() { grep -q "^web/web.yaml: Finished" runner && k get configmap -n alm-system inv.web.files -o json | jq -r '.metadata.annotations | .["app.coreos.com/unit"] == .["app.coreos.com/applied"]'; }
soon "L1 and through" true done3
stop_runner

# A kill in the middle: whoever comes next finds the unit that succeeded.
deployment fail 3
sed -i 's/timeout: 1s/timeout: 60s/' rollout.yaml
"$alm_bin" run --kubeconfig "$K" --renderer.file.dir=web --renderer.file.rollout=rollout.yaml --trigger=oneoff >killed 2>&1 &
runner=$!
soon "a run in the middle" "example.com/web:fail" image
kill -9 "$runner" && wait "$runner" 2>/dev/null
runner=
k delete lease -n alm-system alm.web >/dev/null # it is known to be dead (test_run_lease.sh)
sed -i 's/timeout: 60s/timeout: 1s/' rollout.yaml
code "L1 L2 killed, the next run goes back" 1 "RolledBack" web
is "L1 to what succeeded" "example.com/web:3 3" "$(image) $(replicas)"

# What is seen of Pods and Jobs ends a step long before its time (5 minutes).
mkdir sick
sick() { # REASON [KIND]
	local kind=${2:-Deployment} api=apps/v1 more='replicas: 1, selector: {matchLabels: {app: sick}}' restart=Always
	[ "$kind" = Job ] && api=batch/v1 more='backoffLimit: 0' restart=Never
	cat >sick/sick.yaml <<-YAML
		apiVersion: $api
		kind: $kind
		metadata: {name: sick}
		spec: {$more, template: {metadata: {labels: {app: sick}, annotations: {app.coreos.com/simulate: "$1: told to"}}, spec: {restartPolicy: $restart, containers: [{name: c, image: i}]}}}
	YAML
	sed "s/ACTION/$([ "$kind" = Job ] && echo Job || echo CreateOrUpdate)/" >sick.yaml <<-YAML
		apiVersion: app.coreos.com/v1alpha1
		kind: Rollout
		metadata: {name: sick}
		spec:
		  rollback: {onFailure: None}
		  groups: [{name: g, steps: [{object: sick.yaml, action: ACTION, timeout: 5m, failure: [{checkName: $1, grace: 1s}]}]}]
	YAML
	alm run --kubeconfig "$K" --renderer.file.dir=sick --renderer.file.rollout=sick.yaml --trigger=oneoff
}
for reason in OOMKilled CrashLoopBackOff ImagePullBackOff Unschedulable; do
	code "L35 a Pod's $reason fails its step" 1 "step g/sick.yaml: Deployment default/sick: $reason" sick $reason
done
code "L35 an OOMKilled Job" 1 "step g/sick.yaml: Job default/sick: OOMKilled" sick JobOOMKilled Job
code "L35 a Job that is late" 1 "step g/sick.yaml: Job default/sick: DeadlineExceeded" sick DeadlineExceeded Job

# Deleted with its inventory.
k delete configmap -n alm-system inv.web.files >/dev/null
gone() { k get secret -n alm-system -o name | grep -c unit.web.files; }
soon "2.6 the stored units go with the inventory" 0 gone
finish
