#!/bin/bash
# alm run on the cluster of ALM_TEST_CLUSTER (skipped without one): the seed's command lines, the requests of each counted at the
# server's door; a Grafana becomes a Deployment and goes with all that it made; a bad image goes back with no Pod fewer at any
# moment; what kubectl and Helm had is taken over. Rows FL1, FL10, FL22, FL26, FT32.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
on_cluster || {
	ok "alm run on a real cluster # SKIP no ALM_TEST_CLUSTER"
	finish
	exit 0
}
recorder=$PWD/tests/e2e/request_recorder.py
pids=()
ended() {
	[ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null
	k delete namespace pipelines --wait=false >/dev/null 2>&1
	k delete deployment grafana --ignore-not-found >/dev/null 2>&1
	k delete crd grafanas.monitoring.coreos.com --ignore-not-found --timeout=60s >/dev/null 2>&1
	k delete namespace alm-system --ignore-not-found --wait=false >/dev/null 2>&1
	k delete clusterrolebinding alm-pipelines --ignore-not-found >/dev/null 2>&1
	rm -rf "$dir"
}
trap ended EXIT
cp -r "$examples" "$dir/example"
cd "$dir" || exit 1
export KUBECONFIG=$ALM_TEST_CLUSTER
k create namespace pipelines >/dev/null
k create serviceaccount admin -n pipelines >/dev/null
k create clusterrolebinding alm-pipelines --clusterrole=cluster-admin --serviceaccount=pipelines:admin >/dev/null
openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=door -addext subjectAltName=IP:127.0.0.1 -days 2 -keyout key -out cert 2>/dev/null
touch requests
server=$(k config view --minify -o 'jsonpath={.clusters[0].cluster.server}')
hostport=${server#https://}
python3 "$recorder" port cert key "${hostport%:*}" "${hostport#*:}" requests 2>door.err &
pids+=($!)
door=$(written port)
umask 077
k create token admin -n pipelines --duration=2h >bearer
cat >through <<Y
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:$door", certificate-authority: $dir/cert}}]
users: [{name: u, user: {tokenFile: $dir/bearer}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
Y
# since the last command: requests, and writes of them, but Leases and reviews
requests() { tail -n "+$((before + 1))" requests | wc -l; }
wrote() { tail -n "+$((before + 1))" requests | seek -E '^(POST|PUT|PATCH|DELETE) ' | seek -vE '/leases|subjectaccessreviews' | wc -l; }
cost() { # NAME REQUESTS WRITES COMMAND...: at most so many
	local name=$1 most=$2 writes=$3 r w
	shift 3
	before=$(wc -l <requests)
	code "$name" "${EXIT:-0}" "${SAYS:-}" "$@"
	r=$(requests) w=$(wrote)
	if [ "$r" -le "$most" ] && [ "$w" -le "$writes" ]; then
		ok "$name: at most $most requests and $writes writes"
	else
		not_ok "$name: at most $most requests and $writes writes" "$(tail -n "+$((before + 1))" requests)"
	fi
	echo "# $name: $r requests, $w writes"
}
run() { alm run --kubeconfig through "$@"; }

# The seed's command lines, as they stand there
files=(--renderer=file --renderer.file.dir=example/files/manifests/ --renderer.file.rollout=example/files/rollout.yaml)
cost "render-only" 0 0 run "${files[@]}" --trigger=oneoff --render-only
SAYS="Finished" cost "one-off" 30 6 run "${files[@]}" --trigger=oneoff
is "Grafana is in default" 1 "$(k get deployment grafana -o 'jsonpath={.status.availableReplicas}')"
cost "again" 16 0 run "${files[@]}" --trigger=oneoff
runner=
begin() { # FILE COMMAND...: until end
	"$alm_bin" run --kubeconfig through "${@:2}" >"$1" 2>&1 &
	runner=$!
	pids+=($!)
}
end() {
	kill "$runner"
	wait "$runner" 2>/dev/null
}
begin interval "${files[@]}" --trigger=interval --trigger.interval.duration=300ms
asked() { # at least so often
	[ "$(seek -c "$1" requests)" -ge "$2" ] && echo yes
}
looks=$(seek -c 'GET .*namespaces/kube-system ' requests)
soon "the interval runs again and again" yes asked 'GET .*namespaces/kube-system ' $((looks + 4))
replicas() { k get deployment grafana -o 'jsonpath={.spec.replicas}'; }
k scale deployment grafana --replicas=2 >/dev/null
soon "what is changed by hand is put back" 1 replicas
k delete deployment grafana >/dev/null
soon "what is deleted by hand is back" 1 replicas
end
jsonnet=(--renderer=jsonnet --trigger=oneoff --render-only)
SAYS='"grafana/deployment"' cost "Jsonnet without configuration" 0 0 run "${jsonnet[@]}" --renderer.jsonnet.entrypoint=example/jsonnet/main.jsonnet
SAYS='"level": "warn"' cost "Jsonnet with configuration" 0 0 run "${jsonnet[@]}" --renderer.jsonnet.entrypoint=example/jsonnet-with-config/main.jsonnet \
	--config-file=example/jsonnet-with-config/config.json

# A custom resource as configuration
k create -f example/grafana-crd.yaml >/dev/null
k wait --for=condition=Established crd/grafanas.monitoring.coreos.com --timeout=30s >/dev/null
begin resource --renderer=jsonnet --renderer.jsonnet.entrypoint=example/jsonnet/with-config.jsonnet --trigger=resource \
	--trigger.resource.config=example/jsonnet/trigger.yaml
soon "Grafanas are watched" yes asked 'GET [^ ]*/grafanas[^ ]*watch=' 1
k create -f example/grafana-instance.yaml >/dev/null
deployment() { k get deployment grafana-main -o "jsonpath=$1"; }
soon "Grafana main with 50 replicas is a Deployment" "50" deployment '{.spec.replicas}'
made() { k get "$1" -o json | jq '.metadata.creationTimestamp | fromdate'; }
took=$(($(made deployment/grafana-main) - $(made grafana/main)))
is "within a second (of whole ones, which the server keeps)" yes "$([ $took -le 1 ] && echo yes || echo "$took s")"
is "which has an owner" "Grafana main $(k get grafana main -o 'jsonpath={.metadata.uid}')" \
	"$(deployment '{.metadata.ownerReferences[0].kind} {.metadata.ownerReferences[0].name} {.metadata.ownerReferences[0].uid}')"
soon "its status tells" "Finished True" k get grafana main -o 'jsonpath={.status.groups[*].state} {.status.conditions[?(@.type=="Ready")].status}'
k scale deployment grafana-main --replicas=3 >/dev/null
soon "a hand edit is put back" "50" deployment '{.spec.replicas}'
k delete grafana main --timeout=90s >/dev/null
none "with it all goes that it made" k get deployment grafana-main -o name --ignore-not-found
end

echo "(import 'with-config.jsonnet') + { deployment+: { metadata+: { ownerReferences: [{ blockOwnerdeletion: true, apiVersion: 'v1', kind: 'Node', name: 'a', uid: 'a' }] } } }" >example/jsonnet/typo.jsonnet
code "a field that no server has ends the run at once, and is named" 1 ".blockOwnerdeletion: field not declared in schema" \
	run --renderer=jsonnet --renderer.jsonnet.entrypoint=example/jsonnet/typo.jsonnet --config-file=example/jsonnet/config.json --trigger=oneoff

# A bad image
mkdir web
deployment() { # VERSION [SPEC]
	cat >web/web.yaml <<-Y
		apiVersion: apps/v1
		kind: Deployment
		metadata: {name: web, namespace: pipelines}
		spec:
		  replicas: 3
		  selector: {matchLabels: {app: web}}
		  template:
		    metadata: {labels: {app: web}}
		    spec: {${2:-} containers: [{name: web, image: "registry.k8s.io/pause:$1"}]}
	Y
}
cat >rollout.yaml <<'Y'
apiVersion: app.coreos.com/v1alpha1
kind: Rollout
metadata: {name: web}
spec:
  rest: Before
  rollback: {onFailure: Previous}
  groups: [{name: web, steps: [{object: web.yaml, action: CreateOrUpdate, timeout: 15s}]}]
Y
web() { run --renderer.file.dir=web --renderer.file.rollout=rollout.yaml --trigger=oneoff; }
deployment 3.10
code "a good image" 0 "web/web.yaml: Finished" web
k get deployment web -n pipelines -w -o 'jsonpath={.status.availableReplicas}{" "}' >available 2>/dev/null &
pids+=($!)
deployment none "nodeSelector: {there: is-none},"
code "a bad one fails, and goes back" 1 "RolledBack: step web/web.yaml: " web
live() { k get deployment web -n pipelines -o 'jsonpath={.spec.template.spec.containers[0].image} {.status.availableReplicas} {.status.updatedReplicas}'; }
soon "the image is the one before" "registry.k8s.io/pause:3.10 3 3" live
is "available Pods were never fewer" 3 "$(tr ' ' '\n' <available | seek . | sort -u)"

# What kubectl and Helm had
mkdir own
k create configmap theirs -n pipelines --from-literal=made=1 >/dev/null
k apply --server-side --force-conflicts --field-manager=helm -f - >/dev/null <<'Y'
apiVersion: v1
kind: ConfigMap
metadata: {name: theirs, namespace: pipelines, labels: {app.kubernetes.io/managed-by: Helm}}
data: {v: "0", left: out}
Y
k create configmap by-hand -n pipelines --from-literal=v=0 --from-literal=by=hand >/dev/null
for name in theirs by-hand; do
	printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: pipelines}\ndata: {v: "1"}\n' $name >own/$name.yaml
done
own() { run --name own --trigger=oneoff --renderer.file.dir=own "$@"; }
code "what is there is not taken by itself" 3 "--adopt takes it over" own
code "it is taken over" 0 "Finished" own --adopt
left() { k get configmap "$1" -n pipelines -o json --show-managed-fields | jq -c '[([.metadata.managedFields[].manager] | unique), .data, .metadata.labels["app.kubernetes.io/managed-by"]]'; }
is "with fields and marks, and what Helm had beyond them goes" '[["alm:cli:own"],{"made":"1","v":"1"},null]' "$(left theirs)"
is "what was made by hand stays" '[["alm:cli:own"],{"by":"hand","v":"1"},null]' "$(left by-hand)"
cost "nobody fights for it" 16 0 own
finish
