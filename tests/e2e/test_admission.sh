#!/bin/bash
# Admission webhooks, called over HTTPS: kubectl is refused and told, mutated objects are stored, the server serves others meanwhile,
# a Service leads to a process of this machine, a certificate of another authority is no answer, and a server that is killed while a
# write waits has stored nothing of it.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	skip "webhooks that are called" "no kubectl"
	finish
	exit 0
}
hook=
trap 'kill $hook 2>/dev/null; up_stop; rm -rf "$dir"' EXIT
root=$dir/hooks
mkdir -p "$root"
(cd tests/e2e && exec python3 admission_server.py "$root") >"$root/port" 2>"$root/err" &
hook=$!
port=$(written "$root/port")
ca=$(base64 -w0 "$root/ca.crt")
answers() { printf '%s' "$2" >"$root/$1.json"; } # NAME RESPONSE
config() {                                       # KIND NAME CLIENTCONFIG [FIELD...]
	cat <<-YAML
		apiVersion: admissionregistration.k8s.io/v1
		kind: $1WebhookConfiguration
		metadata: {name: $2}
		webhooks:
		- name: $2.example.com
		  clientConfig: {$3}
		  sideEffects: None
		  admissionReviewVersions: [v1]
		  rules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [configmaps]}]
		  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: default}}
		  ${4:-}
	YAML
}
url() { printf 'url: "https://127.0.0.1:%s/%s", caBundle: %s' "$port" "$1" "$ca"; }
asked() { grep -c "\"/$1?" "$root/log"; }
map() { kubectl get configmap "$1" -o "jsonpath=$2" 2>&1; }

up_start
answers deny '{"allowed": false, "status": {"code": 403, "reason": "Forbidden", "message": "not today"}, "warnings": ["beware"]}'
config Validating deny "$(url deny)" | kubectl create -f - >/dev/null
code "a webhook refuses" 1 'admission webhook "deny.example.com" denied the request: not today' kubectl create configmap a
has "and warns" "Warning: beware" "$(kubectl create configmap a 2>&1)"
has "nothing was stored" NotFound "$(map a '{.data}')"
is "of another namespace it is not asked" "configmap/a created" "$(kubectl create configmap a -n kube-public)"
kubectl delete validatingwebhookconfiguration deny >/dev/null

answers made '{"allowed": true, "ops": [{"op": "add", "path": "/data", "value": {"made": "here"}}], "auditAnnotations": {"why": "because"}}'
config Mutating made "$(url made)" | kubectl create -f - >/dev/null
kubectl create configmap a >/dev/null
is "another one fills in what is missing" here "$(map a '{.data.made}')"
has "and its note is in the log" '"made.example.com/why": "because"' "$(alm audit query --tail 20 -o json)"
kubectl delete mutatingwebhookconfiguration made >/dev/null

answers slow '{"allowed": true, "until": "go"}'
config Validating slow "$(url slow)" "timeoutSeconds: 30" | kubectl create -f - >/dev/null
kubectl create configmap b >"$dir/b" 2>&1 &
waiting=$!
soon "a slow one is asked" 1 asked slow
kubectl get --raw /healthz >/dev/null
has "the write waits" NotFound "$(map b '{.metadata.name}')"
kubectl create secret generic other >/dev/null
none "and others are served meanwhile" cat "$dir/b"
touch "$root/go"
wait "$waiting"
is "then it is done" "configmap/b created" "$(cat "$dir/b")"
answers slow '{"allowed": true, "delay": 3}'
kubectl patch validatingwebhookconfiguration slow --type=json -p '[{"op":"add","path":"/webhooks/0/timeoutSeconds","value":1}]' >/dev/null
code "an answer that is late is none" 1 'failed calling webhook "slow.example.com": failed to call webhook' kubectl create configmap c

answers slow '{"allowed": true, "delay": 20}'
kubectl patch validatingwebhookconfiguration slow --type=json -p '[{"op":"replace","path":"/webhooks/0/timeoutSeconds","value":30}]' >/dev/null
kubectl create configmap killed >/dev/null 2>&1 &
waiting=$!
soon "one more is asked" 3 asked slow
kill -9 "$pid"
wait "$pid" 2>/dev/null
wait "$waiting"
up_start
has "of a write that waited when the server was killed there is nothing" NotFound "$(map killed '{.metadata.name}')"
kubectl delete validatingwebhookconfiguration slow >/dev/null

# A Service that leads to a process of this machine.
answers served '{"allowed": false, "status": {"message": "by the service"}}'
config Validating served "service: {namespace: default, name: hook, path: /served}, caBundle: $ca" | kubectl create -f - >/dev/null
code "without the Service the call fails" 1 'service "hook" not found' kubectl create configmap d
kubectl create -f - >/dev/null <<YAML
apiVersion: v1
kind: Service
metadata: {name: hook, namespace: default}
spec: {ports: [{port: 443}]}
YAML
code "and without an endpoint" 1 'no endpoints available for service "hook"' kubectl create configmap d
slice() {
	kubectl create -f - <<-YAML
		apiVersion: discovery.k8s.io/v1
		kind: EndpointSlice
		metadata: {name: hook-1, namespace: default, labels: {kubernetes.io/service-name: hook}}
		addressType: IPv4
		endpoints: [{addresses: [$1]}]
		ports: [{name: "", port: $port}]
	YAML
}
code "loopback is no endpoint" 1 'may not be in the loopback range' slice 127.0.0.1
address=$(hostname -I | tr ' ' '\n' | grep -m1 '^[0-9.]*$')
if [ -n "$address" ]; then
	slice "$address" >/dev/null
	code "with one it is asked, under its name" 1 'denied the request: by the service' kubectl create configmap d
else
	skip "with one it is asked, under its name" "this machine has no address but loopback"
fi
kubectl delete validatingwebhookconfiguration served >/dev/null

# Whoever answers is who the configuration says.
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=other -keyout "$dir/o.key" -out "$dir/o.crt" 2>/dev/null
config Validating other "url: \"https://127.0.0.1:$port/served\", caBundle: $(base64 -w0 "$dir/o.crt")" "failurePolicy: Fail" |
	kubectl create -f - >/dev/null
before=$(wc -l <"$root/log")
code "a certificate of another authority is no answer" 1 'failed calling webhook "other.example.com"' kubectl create configmap e
is "and nothing was sent to it" "$before" "$(wc -l <"$root/log")"
kubectl patch validatingwebhookconfiguration other --type=json -p '[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Ignore"}]' >/dev/null
is "which may be ignored" "configmap/e created" "$(kubectl create configmap e)"
kubectl delete validatingwebhookconfiguration other >/dev/null

# A hundred at once, and all gone at once.
answers all '{"allowed": true}'
config Validating all "$(url all)" | kubectl create -f - >/dev/null
for i in $(seq 100); do printf -- '---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: many-%s, labels: {many: "yes"}}\n' "$i"; done |
	kubectl create --validate=false -f - >/dev/null
is "a hundred are admitted" 100 "$(kubectl get configmaps -l many=yes -o name | wc -l)"
kubectl delete configmaps -l many=yes >/dev/null
kubectl delete --raw '/api/v1/namespaces/default/configmaps?labelSelector=many' >/dev/null
is "each was asked about" 200 "$(asked all)"
none "and deleted" k get configmaps -l many=yes -o name
finish
