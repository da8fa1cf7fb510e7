#!/bin/bash
# What deploy/ holds: the plain manifest is what the chart renders, helm renders the chart alike, both lints are clean, values
# that are wrong are refused, alerts and dashboard name only series that ALM has, the unit file is one.
set -u
: "${BUILD:=build}"
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
chart=deploy/charts/alm
helm=${HELM:-$(command -v helm || echo "$(getent passwd "$(id -u)" | cut -d: -f6)/.cache/alm-oracles/bin/helm")}
render() { "$1" template alm "$chart" -n alm-system "${@:2}" 2>&1; }

render "$alm_bin" --set createNamespace=true >"$dir/plain.out"
none "deploy/manifests/alm.yaml is what the chart renders (make manifests)" diff deploy/manifests/alm.yaml "$dir/plain.out"
cat >"$dir/all.yaml" <<'END'
replicas: 2
image: {repository: registry.example.com/alm, digest: sha256:0123456789012345678901234567890123456789012345678901234567890123}
imagePullSecrets: [{name: pull}]
persistence: {storageClass: fast, accessMode: ReadWriteOncePod}
controller: {allowSources: [10.0.0.0/8], alertmanager: "http://alerts:9093", auditAnchors: [log], auditRetain: 400d, extraArgs: [--render-cpu=90s]}
extraVolumes: [{name: charts, persistentVolumeClaim: {claimName: charts}}]
extraVolumeMounts: [{name: charts, mountPath: /var/lib/alm/catalog, readOnly: true}]
rbac: {readAll: false, readGroups: [etcd.coreos.com], accounts: [{namespace: etcd, name: installer}]}
networkPolicy: {metricsFrom: [{namespaceSelector: {matchLabels: {a: b}}}], egressPorts: [5000]}
metrics:
  serviceMonitor: {enabled: true, labels: {release: prometheus}}
  prometheusRule: {enabled: true, labels: {release: prometheus}}
  dashboard: {enabled: true}
nodeSelector: {a: b}
tolerations: [{key: a, operator: Exists}]
priorityClassName: system-cluster-critical
podAnnotations: {a: b}
END
cat >"$dir/records.yaml" <<'END'
auditRecords: {enabled: true}
admissionWebhook: {enabled: true}
END
kinds() { grep -h '^kind:' "$1" | sort | uniq -c | tr -s ' ' | tr '\n' ';'; }
render "$alm_bin" -f "$dir/all.yaml" >"$dir/alm.out"
is "all options have their objects" " 1 kind: ClusterRole; 1 kind: ClusterRoleBinding; 1 kind: ConfigMap; 1 kind: Deployment; 1 kind: NetworkPolicy; 1 kind: PersistentVolumeClaim; 1 kind: PodDisruptionBudget; 1 kind: PrometheusRule; 3 kind: Role; 3 kind: RoleBinding; 1 kind: Service; 1 kind: ServiceAccount; 1 kind: ServiceMonitor; 4 kind: ValidatingAdmissionPolicy; 4 kind: ValidatingAdmissionPolicyBinding;" \
	"$(kinds "$dir/alm.out")"
render "$alm_bin" -f "$dir/records.yaml" >"$dir/records.out"
is "audit records and the webhook bring their objects, Services and rights" "+kind: APIService +kind: ClusterRole +kind: ClusterRole +kind: ClusterRole +kind: ClusterRoleBinding +kind: ClusterRoleBinding +kind: RoleBinding +kind: Service +kind: Service +kind: ValidatingWebhookConfiguration" \
	"$(diff -U0 <(render "$alm_bin" | grep '^kind:' | sort) <(grep '^kind:' "$dir/records.out" | sort) | grep '^[+-]k' | sort | tr '\n' ' ' | sed 's/ $//')"
for one in auditRecords admissionWebhook; do
	code "but not $one with a second replica" 1 "$one.enabled wants replicas: 1" render "$alm_bin" --set "$one.enabled=true,replicas=2"
done
render "$alm_bin" --set persistence.existingClaim=mine,networkPolicy.enabled=false,podDisruptionBudget.enabled=false,admissionPolicies.enabled=false \
	>"$dir/few.out"
none "what is switched off is not there" seek -E '^kind: (Pers|Net|Pod|Valid)' "$dir/few.out"
if [ -x "$helm" ]; then
	render "$helm" --set createNamespace=true >"$dir/plain.helm"
	none "helm renders the plain manifest" diff deploy/manifests/alm.yaml "$dir/plain.helm"
	render "$helm" -f "$dir/all.yaml" >"$dir/alm.helm"
	render "$helm" -f "$dir/records.yaml" >"$dir/records.helm"
	none "and all options" diff "$dir/alm.out" "$dir/alm.helm"
	none "and those of audit records" diff "$dir/records.out" "$dir/records.helm"
	code "helm lint is clean" 0 "0 chart(s) failed" "$helm" lint --strict "$chart"
	lacks "without a warning" "$helm" lint "$chart" -- -F WARN
else
	skip "helm renders the plain manifest" "no helm"
	skip "and all options" "no helm"
	skip "and those of audit records" "no helm"
	skip "helm lint is clean" "no helm"
	skip "without a warning" "no helm"
fi
code "alm lint is clean" 0 "0 chart(s) failed" alm lint --strict "$chart"
for bad in replicas=4:replicas image.repository=:repository rbac.bogus=1:bogus persistence.accessMode=ReadWriteMany:accessMode \
	controller.logLevel=loud:logLevel image.digest=sha256-1:digest; do
	code "refused: ${bad%:*}" 1 "${bad##*:}" render "$alm_bin" --set "${bad%:*}"
done
code "another namespace is refused" 1 "ALM works from namespace alm-system" "$alm_bin" template alm "$chart" -n other

none "the policy for approvals is the one that ALM looks for" diff deploy/approver.yaml "$chart/files/approver.yaml"
none "as is the webhook" diff deploy/approval-webhook.yaml "$chart/files/approval-webhook.yaml"
# What holds for every Pod of a hardened namespace (Pod Security "restricted"), and a file system that nobody writes.
for want in 'runAsNonRoot: true' 'readOnlyRootFilesystem: true' 'allowPrivilegeEscalation: false' 'type: RuntimeDefault' 'drop:'; do
	has "the Pod has $want" "$want" "$(cat deploy/manifests/alm.yaml)"
done
none "no privilege is asked for" seek -nE 'privileged|hostPath|hostNetwork|hostPID' deploy/manifests/alm.yaml
{ "$alm_bin" controller --help; "$alm_bin" help; } >"$dir/help"
unknown() { # of the flags on standard input
	local flag
	while read -r flag; do grep -qe "$flag" "$dir/help" || echo "$flag"; done
}
of_containers() { grep -ohE '^ *- "?--[a-z-]+' "$dir/alm.out" "$dir/records.out" | grep -oE -- '--[a-z-]+' | sort -u | unknown; }
none "every argument is one of alm controller" of_containers

# --- metrics ---
names() { grep -ohE '\b(alm|rollout)_[a-z_]+' "$@" | sed -E 's/_(sum|count|bucket)$//' | sort -u; }
grep -rhoE '"(alm|rollout)_[a-z_]+"' alm --include='*.c' | tr -d '"' | sort -u >"$dir/series"
foreign_series() { names deploy/prometheus/alerts.yaml deploy/grafana/alm.json | comm -23 - "$dir/series"; }
none "alerts and dashboard name series that ALM has" foreign_series
is "every alert has a runbook line" "$(grep -c '  - alert:' deploy/prometheus/alerts.yaml)" "$(grep -c '      runbook:' deploy/prometheus/alerts.yaml)"
is "the dashboard is JSON" "ALM" "$(jq -r .title deploy/grafana/alm.json)"
none "its panels have places and queries" jq -r '.panels[] | select((.gridPos | not) or (.targets | length) == 0) | .title' deploy/grafana/alm.json
if command -v promtool >/dev/null; then
	code "promtool: the alerts" 0 "SUCCESS" promtool check rules deploy/prometheus/alerts.yaml
else
	skip "promtool: the alerts" "no promtool"
fi

# --- systemd ---
sed "s|/usr/local/bin/alm|$alm_bin|; s|^User=.*|User=root|; s|^Group=.*|Group=root|" deploy/systemd/alm.service >"$dir/alm.service"
if command -v systemd-analyze >/dev/null; then
	verified() { systemd-analyze verify --man=no "$dir/alm.service" 2>&1 | seek -F alm.service; }
	none "systemd-analyze: the unit" verified
else
	skip "systemd-analyze: the unit" "no systemd-analyze"
fi
"$alm_bin" up --help >"$dir/help"
of_unit() { sed -n 's/^ExecStart=//p' deploy/systemd/alm.service | grep -oE -- '--[a-z-]+' | unknown; }
none "its arguments are those of alm up" of_unit
finish
