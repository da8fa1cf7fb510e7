#!/bin/bash
# Hooks, lookup and the release record of charts that ALM installs: order, waiting, delete policies, failure,
# a killed controller, removal; compared with what the real helm reads (HELM, PATH or the oracles; else skipped).
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - install hooks # SKIP no kubectl"
	exit 0
}
helm=${HELM:-$(command -v helm || echo "$(getent passwd "$(id -u)" | cut -d: -f6)/.cache/alm-oracles/bin/helm")}
up_start
manifests
cd "$dir" || exit 1

# hook NAME EVENTS WEIGHT IMAGE POLICY: one Job
hook() {
	cat <<-END
		apiVersion: batch/v1
		kind: Job
		metadata:
		  name: $1
		  annotations:
		    helm.sh/hook: $2
		    helm.sh/hook-weight: "$3"
		    helm.sh/hook-delete-policy: $5
		spec:
		  backoffLimit: 0
		  template:
		    spec:
		      restartPolicy: Never
		      containers: [{name: c, image: "$4"}]
	END
}
# chart VERSION: packs $dir/web into the catalog
chart() {
	printf 'apiVersion: v2\nname: web\nversion: %s\n' "$1" >web/Chart.yaml
	alm package build web -o "$catalog" >/dev/null
}
mkdir -p web/templates
cat >web/templates/all.yaml <<-'END'
	apiVersion: v1
	kind: ConfigMap
	metadata: {name: web}
	data:
	  version: {{ .Chart.Version }}
	  install: "{{ .Release.IsInstall }}"
	  kube: {{ .Capabilities.KubeVersion.Version | quote }}
	  apps: {{ .Capabilities.APIVersions.Has "apps/v1/Deployment" | quote }}
	  crd: {{ .Capabilities.APIVersions.Has "app.coreos.com/v1beta1/AppType" | quote }}
	  berlin: {{ dateInZone "MST" (toDate "2006-01-02" "2024-07-01") "Europe/Berlin" }}
	---
	apiVersion: v1
	kind: Secret
	metadata: {name: web}
	data:
	  password: {{ ((lookup "v1" "Secret" .Release.Namespace "web").data).password | default (randAlphaNum 24 | b64enc) }}
	---
	apiVersion: v1
	kind: ConfigMap
	metadata: {name: kept, annotations: {helm.sh/resource-policy: " Keep "}}
END
{
	hook pre-late pre-install,pre-upgrade 5 job:1 hook-succeeded
	echo ---
	hook pre-early pre-install -5 job:1 before-hook-creation
	echo ---
	hook post post-install,post-upgrade 0 job:1 before-hook-creation
	echo ---
	hook never test 0 job:1 before-hook-creation
	echo ---
	hook bye pre-delete 0 job:1 before-hook-creation
	echo ---
	hook gone post-delete 0 job:1 hook-succeeded
} >web/templates/hooks.yaml
chart 1.0.0
cat >app.yaml <<-'END'
	apiVersion: app.coreos.com/v1beta1
	kind: AppType
	metadata: {name: web}
	spec: {type: com.example, package: web, upgrade: {mode: Automatic}}
END
k create -f catalog.yaml -f app.yaml >/dev/null
ist() { echo "install.$1.web.com.example"; }
hooks_of() { k get ist "$(ist "$1")" -o 'jsonpath={range .status.hooks[*]}{.event} {.name} {.phase}{"\n"}{end}'; }
phase_of() { k get ist "$(ist "$1")" -o 'jsonpath={.status.phase}'; }
jobs() { k get jobs -n web -o name | sort; }

is "install" "apptype.app.coreos.com/web" "$(app_is web "status.installedVersion = '1.0.0'" 2>&1)"
is "hooks ran by weight, the test did not" "pre-install pre-early Succeeded
pre-install pre-late Succeeded
post-install post Succeeded" "$(hooks_of 1.0.0)"
is "hook-succeeded is deleted, the others stay" "job.batch/post
job.batch/pre-early" "$(jobs)"
# row_of KIND/NAME: the row that tells of its creation
row_of() { alm audit query --type Write --subject "$1" -o json | jq -s 'map(if type == "array" then .[] else . end) | map(.seq) | min'; }
created="$(row_of Job/web/pre-early) $(row_of Job/web/pre-late) $(row_of ConfigMap/web/web) $(row_of Job/web/post)"
is "pre hooks, objects, post hook: in this order" "$created" "$(echo "$created" | tr ' ' '\n' | sort -n | xargs)"
data() { k get configmap web -n web -o "jsonpath={.data.$1}"; }
is "real capabilities, time zones" "true true CEST true" "$(data apps) $(data crd) $(data berlin) $(data install)"
# Answered within the turn: the pass ended below the hands of what had started it (a sanitizer's build tells)
mkdir -p zone/templates
printf 'apiVersion: v2\nname: zone\nversion: 1.0.0\n' >zone/Chart.yaml
printf '%s\n' 'apiVersion: v1' 'kind: ConfigMap' 'metadata: {name: zone}' \
	"data: {t: '{{ dateInZone \"MST\" (toDate \"2006-01-02\" \"2026-07-01\") \"Europe/Berlin\" }}'}" >zone/templates/all.yaml
alm package build zone -o "$catalog" >/dev/null
echo '{apiVersion: app.coreos.com/v1beta1, kind: AppType, metadata: {name: zone}, spec: {type: com.zone, package: zone}}' | k create -f - >/dev/null
is "a chart that asks for nothing but a time zone" "apptype.app.coreos.com/zone" "$(app_is zone "status.installedVersion = '1.0.0'" 2>&1)"
is "  has it" CEST "$(k get configmap zone -n zone -o 'jsonpath={.data.t}')"
is "the version is the server's" "$(k get --raw /version | jq -r .gitVersion)" "$(data kube)"
secret() { k get secret web -n web -o 'jsonpath={.data.password}'; }
first=$(secret)
is "a random password" "32" "${#first}"

chart 1.1.0
is "upgrade" "apptype.app.coreos.com/web" "$(app_is web "status.installedVersion = '1.1.0'" 2>&1)"
is "upgrade hooks ran, install hooks did not" "pre-upgrade pre-late Succeeded
post-upgrade post Succeeded" "$(hooks_of 1.1.0)"
is "lookup found the old password" "$first" "$(secret)"
is "it is an upgrade for the chart too" "false 1.1.0" "$(data install) $(data version)"

# A failing hook, and its way back
hook pre-late pre-upgrade 5 job:fail hook-succeeded >web/templates/hooks.yaml
hook back pre-rollback 0 job:1 before-hook-creation >web/templates/back.yaml
chart 1.2.0
soon "a failed hook fails the revision" "RolledBack" phase_of 1.2.0
has "and is named" "pre-upgrade hook Job web/pre-late: the Job failed" \
	"$(k get ist "$(ist 1.2.0)" -o 'jsonpath={.status.conditions[?(@.type=="Applied")].reason} {.status.conditions[?(@.type=="Applied")].message}')"
is "nothing of it was applied" "1.1.0" "$(data version)"
app_is web "status.conditions[?type='Ready'].status = 'True'" >/dev/null

if [ -x "$helm" ]; then
	history() { timeout 30 "$helm" history web -n web -o json 2>&1 | jq -r '.[] | "\(.revision) \(.status) \(.description)"'; }
	soon "helm history" '1 superseded Install complete
2 superseded Upgrade complete
3 failed Upgrade "web" failed: pre-upgrade hook Job web/pre-late: the Job failed
4 deployed Rollback to 2' history
	is "helm get hooks" "back bye gone never post pre-early pre-late" \
		"$( (timeout 30 "$helm" get hooks web -n web --revision 2; timeout 30 "$helm" get hooks web -n web --revision 3) |
			awk '/^  name:/ {print $2}' | sort -u | xargs)"
	is "helm status" "deployed 4" "$(timeout 30 "$helm" status web -n web -o json | jq -r '"\(.info.status) \(.version)"')"
	is "helm get values knows the chart's" "{}" "$(timeout 30 "$helm" get values web -n web -a -o json)"
else
	ok "helm reads the records # SKIP no helm (set HELM)"
fi

# Removal, with a controller that is killed three times meanwhile
k delete apptype web --wait=false >/dev/null
for pause in 0.2 0.4 0.8; do
	sleep $pause
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	up_start
done
soon "the AppType is gone" "" k get apptypes web -o name --ignore-not-found
soon "its objects are gone, what is kept stays" "configmap/kept" \
	sh -c 'kubectl get configmaps,secrets -n web -o name | grep -v -e kube-root-ca -e default-token'
# done_to KIND/NAME Created|Deleted: entries of writes that were carried out, oldest first. A write that was under way at a kill
# is Unknown, and is tried again: what ran twice is Created twice.
done_to() {
	alm audit query --type Write --subject "$1" --reason "$2" -o json |
		jq -s 'map(if type == "array" then .[] else . end | .seq) | sort | .[]'
}
is "each delete hook ran once" "1 1" "$(done_to Job/web/bye Created | wc -l) $(done_to Job/web/gone Created | wc -l)"
order="$(done_to Job/web/bye Created | head -1) $(done_to ConfigMap/web/web Deleted | tail -1) $(done_to Secret/web/web Deleted | tail -1) $(done_to Job/web/gone Created | head -1)"
is "pre-delete hook, objects in uninstall order, post-delete hook" "4 $order" "$(echo "$order" | wc -w) $(echo "$order" | tr ' ' '\n' | sort -n | xargs)"
soon "nothing of the hooks and records is left" "" \
	sh -c 'kubectl get jobs,secrets -n web -o name --ignore-not-found && kubectl get apptypes web -o name --ignore-not-found'
finish
