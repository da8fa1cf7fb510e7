#!/bin/bash
# spec.rolloutRef of an AppType: an operator is rolled out by the groups, actions and checks of a Rollout; what is wrong
# with it is one condition before the first write.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - rolloutRef # SKIP no kubectl"
	exit 0
}
up_start
manifests
cd "$dir" || exit 1

pack() { # VERSION IMAGE
	mkdir -p web/templates
	printf 'apiVersion: v2\nname: web\nversion: %s\n' "$1" >web/Chart.yaml
	printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\ndata: {version: "%s"}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: seed}\ndata: {version: "%s"}\n' "$1" "$1" >web/templates/conf.yaml
	printf 'apiVersion: batch/v1\nkind: Job\nmetadata: {name: migrate}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: busybox}]}}}\n' >web/templates/job.yaml
	cat >web/templates/web.yaml <<-YAML
		apiVersion: apps/v1
		kind: Deployment
		metadata: {name: web}
		spec:
		  selector: {matchLabels: {app: web}}
		  template:
		    metadata: {labels: {app: web}}
		    spec: {containers: [{name: web, image: "example.com/web:$2"}]}
	YAML
	alm package build web -o "$catalog" >/dev/null
}
rollout() { # OBJECT ACTION
	cat <<-YAML
		apiVersion: app.coreos.com/v1alpha1
		kind: Rollout
		metadata: {name: careful}
		spec:
		  rest: Before
		  groups:
		  - name: once
		    steps: [{object: templates/conf.yaml!1, action: CreateIfNotExist}]
		  - name: migrate
		    steps: [{object: templates/job.yaml, action: Job}]
		  - name: web
		    steps:
		    - object: $1
		      action: $2
		      timeout: 3s
		      success: [{fieldComparisons: [{name: seen, path: "{.metadata.generation}", value: {path: "{.status.observedGeneration}"}}, {name: available, path: "{.status.availableReplicas}", value: {path: "{.spec.replicas}"}, default: 0}]}]
	YAML
}
of() { k get ist -o "jsonpath={.items[?(@.spec.version==\"$1\")]$2}"; }
why() { of "$1" '.status.conditions[?(@.status=="False")].message'; }
state() { printf '%s %s' "$(of "$1" .status.phase)" "$(of "$1" '.status.conditions[?(@.status=="False")].reason')"; }
version() { k get apptype web -o 'jsonpath={.status.installedVersion}'; }

pack 1.0.0 1
k create -f catalog.yaml >/dev/null
k create -f - >/dev/null <<'YAML'
apiVersion: app.coreos.com/v1beta1
kind: AppType
metadata: {name: web}
spec: {type: com.example, rolloutRef: {name: careful}}
YAML
soon "a Rollout that is not there blocks" "Blocked RolloutInvalid" state 1.0.0
is "and is named, with what to do" "spec.rolloutRef: there is no Rollout careful; create it, or remove the field" "$(why 1.0.0)"
rollout templates/web.yaml Replace | k create -f - >/dev/null
unknown() { why 1.0.0 | grep -c "CreateIfNotExist"; }
soon "an unknown action: the known ones are listed" 1 unknown
has "with its field" "Rollout careful: spec.groups[2].steps[0].action: " "$(why 1.0.0)"
rollout templates/service.yaml CreateOrUpdate | k apply -f - >/dev/null 2>&1
nothing() { why 1.0.0 | grep -c "nothing that was rendered is \"templates/service.yaml\""; }
soon "a step that names no object of the chart" 1 nothing
OR_EMPTY=1 lacks "nothing was written" k get configmap -n web -o name -- -v kube-root
has "alm status tells it" "templates/service.yaml" "$(alm status)"
rollout templates/web.yaml CreateOrUpdate | k apply -f - >/dev/null 2>&1
soon "mended, it is installed" 1.0.0 version
is "all groups are finished" "ConfigMap:Finished once:Finished migrate:Finished web:Finished" \
	"$(of 1.0.0 .status.groups | jq -r '[.[] | "\(.name):\(.state)"] | join(" ")')"
ns=$(k get deployment -A -o 'jsonpath={.items[?(@.metadata.name=="web")].metadata.namespace}')
job() { k get job migrate -n "$ns" -o 'jsonpath={.metadata.uid}'; }
first=$(job)
is "the Job ran" yes "$([ -n "$first" ] && echo yes)"
k patch configmap seed -n "$ns" --type=merge -p '{"data":{"version":"mine"}}' >/dev/null
k delete job migrate -n "$ns" >/dev/null

pack 1.1.0 2
soon "the next version" 1.1.0 version
is "CreateIfNotExist: what is there stays as it is" mine "$(k get configmap seed -n "$ns" -o 'jsonpath={.data.version}')"
is "what is rolled out is the new one" "example.com/web:2" "$(k get deployment web -n "$ns" -o 'jsonpath={.spec.template.spec.containers[0].image}')"
is "the Job ran again, for this version" yes "$([ "$(job)" != "$first" ] && [ -n "$(job)" ] && echo yes)"

pack 1.2.0 fail
soon "a step that fails: the former version again" "RolledBack" of 1.2.0 .status.phase
has "its step is named" "step web/templates/web.yaml: Deployment $ns/web: " "$(why 1.2.0)"
is "its group has failed" "web:Failed" "$(of 1.2.0 .status.groups | jq -r '.[] | select(.state == "Failed") | "\(.name):\(.state)"')"
is "the former version runs" "1.1.0 example.com/web:2" "$(version) $(k get deployment web -n "$ns" -o 'jsonpath={.spec.template.spec.containers[0].image}')"
has "alm why tells the step" "step web/templates/web.yaml" "$(alm why web; alm status web)"
has "and so does the log" "step web/templates/web.yaml" "$(alm audit timeline apptype/web -o json; alm audit query -o json)"
finish
