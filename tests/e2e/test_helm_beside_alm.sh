#!/bin/bash
# The real helm 4 and 3 (HELM and HELM3, or among the oracles; skipped without) on a release that ALM made: get, upgrade,
# uninstall with its history kept. What the AppType wants comes back, and the history tells it; while it is paused
# helm has its way. On alm up, or on the cluster of ALM_TEST_CLUSTER.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
oracles=$(getent passwd "$(id -u)" | cut -d: -f6)/.cache/alm-oracles/bin
helms=
for helm in "${HELM:-$(command -v helm || echo "$oracles/helm")}" "${HELM3:-$oracles/helm3}"; do [ -x "$helm" ] && helms="$helms $helm"; done
if [ -z "$helms" ] || ! command -v kubectl >/dev/null; then
	echo "ok 1 - helm beside alm # SKIP no helm (set HELM) or no kubectl"
	echo "1..1"
	exit 0
fi
cluster_start
manifests
cd "$dir" || exit 1
helm() { timeout 60 "$helm" "$@" 2>&1; }

mkdir -p web/templates
cat >web/templates/all.yaml <<-'END'
	apiVersion: v1
	kind: ConfigMap
	metadata: {name: web}
	data: {v: "{{ .Chart.Version }}", color: {{ .Values.color }}}
	---
	apiVersion: v1
	kind: Service
	metadata: {name: web}
	spec: {ports: [{port: 80}], selector: {app: web}}
END
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: hook, annotations: {helm.sh/hook: pre-upgrade}}\n' >web/templates/hook.yaml
printf 'color: red\n' >web/values.yaml
printf '{{ .Release.Name }} is there' >web/templates/NOTES.txt
printf 'apiVersion: v2\nname: web\nversion: 1.0.0\n' >web/Chart.yaml
alm package build web -o "$catalog" >/dev/null
k create -f catalog.yaml >/dev/null

history() { helm history "$1" -n "$1" -o json | jq -r '.[] | "\(.revision) \(.status) \(.description)"'; }
color() { k get configmap web -n "$1" -o 'jsonpath={.data.color}'; }
managers() { k get configmap web -n "$1" --show-managed-fields -o json | jq -r '[.metadata.managedFields[] | .manager + " " + .operation] | join(" ")'; }
repaired="1 superseded Install complete
2 superseded Upgrade complete
3 deployed Repaired as its AppType wants it"

n=0
for helm in $helms; do
	n=$((n + 1))
	app=web$n
	name=$(helm version --short | cut -d. -f1,2)
	k create -f - >/dev/null <<-END
		apiVersion: app.coreos.com/v1beta1
		kind: AppType
		metadata: {name: $app}
		spec: {type: com.example, package: web, upgrade: {mode: Automatic}, values: {color: blue}}
	END
	is "$name: installed by alm" "apptype.app.coreos.com/$app" "$(app_is $app "status.installedVersion = '1.0.0'" 2>&1)"
	is "helm list" "$app 1 deployed web-1.0.0" "$(helm list -n $app -o json | jq -r '.[] | "\(.name) \(.revision) \(.status) \(.chart)"')"
	is "helm get all" "NAME CHART USER-SUPPLIED COMPUTED HOOKS MANIFEST NOTES" \
		"$(helm get all $app -n $app | grep -oE '^(NAME|CHART|USER-SUPPLIED|COMPUTED|HOOKS|MANIFEST|NOTES)\b' | xargs)"
	is "helm get notes" "$app is there" "$(helm get notes $app -n $app | sed '/^NOTES:$/d; /^$/d')"
	is "helm get hooks" "hook" "$(helm get hooks $app -n $app | grep -o 'name: [a-z]*' | cut -d' ' -f2)"
	is "helm get values" '{"color":"blue"}' "$(helm get values $app -n $app -o json)"
	has "helm upgrade" "has been upgraded" "$(helm upgrade $app ./web -n $app --set color=green)"
	soon "is repaired, and history tells it" "$repaired" history $app
	soon "with its values" blue color $app
	soon "and its field manager" "alm Apply" managers $app
	k patch apptype $app --type merge -p '{"spec":{"paused":true}}' >/dev/null
	alm wait apptype $app "status.conditions[?type='Paused'].status = 'True'" --timeout 60s >/dev/null 2>&1
	has "paused: helm upgrade" "has been upgraded" "$(helm upgrade $app ./web -n $app --set color=green)"
	sleep 3
	is "stays" "green 4 deployed" "$(color $app) $(history $app | tail -1 | cut -d' ' -f1,2)"
	k patch apptype $app --type merge -p '{"spec":{"paused":false}}' >/dev/null
	soon "until it goes on" blue color $app
	soon "which history tells" "5 deployed Repaired as its AppType wants it" sh -c "$(declare -f helm history); helm=$helm; history $app | tail -1"
	has "helm uninstall --keep-history" 'uninstalled' "$(helm uninstall $app -n $app --keep-history)"
	soon "comes back" blue color $app
	soon "with the history" "5 uninstalled Uninstallation complete
6 deployed Repaired as its AppType wants it" sh -c "$(declare -f helm history); helm=$helm; history $app | tail -2"
	k delete apptype $app >/dev/null
	soon "without its AppType nothing of it is left, but helm's own hook" "configmap/hook" \
		sh -c "kubectl get configmaps,secrets,services -n $app -o name | grep -v -e kube-root-ca -e default-token"
done
finish
