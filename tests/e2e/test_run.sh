#!/bin/bash
# `alm run`: the files of the folder examples/files, once and again and again, its requests counted at the server (L2, L4,
# L5, L7, L11 to L16, L18, L21 to L23, L34 of capabilities.md).
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - alm run # SKIP no kubectl"
	exit 0
}
runner=
stop_runner() {
	[ -n "$runner" ] && kill "$runner" 2>/dev/null && wait "$runner" 2>/dev/null
	runner=
}
# One that goes on until it is stopped; not through alm(), whose process is another one's child.
start_runner() {
	"$alm_bin" run --kubeconfig "$K" "$@" >"$dir/runner" 2>&1 &
	runner=$!
}
trap 'stop_runner; up_stop; rm -rf "$dir"' EXIT
up_start
cp -r "$examples/files" "$dir/files"
cd "$dir" || exit 1
K=$KUBECONFIG

# Requests that would write, answered or not, as the server counts them; kubectl's are few and before or after.
# NAME WANT COMMAND...: how many requests that write it makes
writing() {
	local name=$1 want=$2 before
	shift 2
	before=$(writes)
	"$@" >"$dir/said" 2>&1
	is "$name" "$want" "$(($(writes) - before))"
}
run() { alm run --kubeconfig "$K" --renderer=file --renderer.file.dir="${DIR:-files/manifests/}" --renderer.file.rollout="${ROLLOUT:-files/rollout.yaml}" "$@"; }
objects() { k get configmap -n alm-system "inv.$1.files" -o 'jsonpath={.data.objects}' | cut -d' ' -f2-4; }
configmap() { printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\ndata:\n  v: "%s"\n' "$1" "$2"; }

soon "the server is at rest" settled settled

# The seed's three command lines.
writing "L11 render-only writes nothing" 0 run --trigger=oneoff --render-only
asked() { curl -s "http://$metrics/metrics" | awk '/^alm_api_requests_total/ && !/verb=""/ {n += $NF} END {print n + 0}'; }
before=$(asked)
run --trigger=oneoff --render-only >"$dir/said"
is "L11 nor does it read an object" "$before" "$(asked)"
is "L11 it prints objects and rollout" "grafana/deployment.yaml Deployment CreateOrUpdate" "$(jq -r '"\(.objects | keys[0]) \(.objects[].kind) \(.rollout.spec.groups[0].steps[0].action)"' "$dir/said")"
is "L11 indented, as kubectl does" '    "objects": {' "$(sed -n 2p "$dir/said")"
code "L4 L22 once" 0 "grafana/deployment.yaml: Finished" run --trigger=oneoff
is "L22 Grafana is in default" "1" "$(k get deployment grafana -n default -o 'jsonpath={.status.availableReplicas}')"
is "2.6 the inventory names it" "Deployment default grafana" "$(objects grafana-rollout-0)"
writing "L13 the second run writes nothing" 0 run --trigger=oneoff
mkdir -p forms/m
printf 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: forms, annotations: {app.coreos.com/wait: disabled}}\nspec:\n  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}, creationTimestamp: null}\n    spec:\n      containers: [{name: c, image: i, env: [], resources: {limits: {cpu: 0.5, memory: 1024Mi}}}]\n' >forms/m/d.yaml
form() { alm run --kubeconfig "$K" --trigger=oneoff --renderer.file.dir=forms/m; }
form >/dev/null 2>&1
is "a server has its own form of a value" "500m 1Gi" "$(k get deployment forms -o 'jsonpath={.spec.template.spec.containers[0].resources.limits.cpu} {.spec.template.spec.containers[0].resources.limits.memory}')"
writing "which is not written again by the next process" 0 form
writing "L2 nor does --one-off" 0 run --one-off
k annotate deployment grafana by=hand >/dev/null
k scale deployment grafana --replicas=3 >/dev/null
start_runner --renderer=file --renderer.file.dir=files/manifests/ --renderer.file.rollout=files/rollout.yaml --trigger=interval --trigger.interval.duration=300ms
replicas() { k get deployment grafana -o 'jsonpath={.spec.replicas}'; }
soon "L23 an interval takes over, and puts drift back" "1" replicas
is "L13 what another manager has set survives that" "hand" "$(k get deployment grafana -o 'jsonpath={.metadata.annotations.by}')"
k delete deployment grafana >/dev/null
soon "L5 deleted by hand, it is back" "1" replicas
echo 'not: [yaml' >files/manifests/broken.yaml
soon "L5 a failed tick is told" "yes" sh -c "grep -q 'broken.yaml' '$dir/runner' && echo yes"
rm files/manifests/broken.yaml
configmap more 1 >files/manifests/more.yaml
k scale deployment grafana --replicas=2 >/dev/null
soon "L5 and ends nothing" "1" replicas
is "L5 it runs" "yes" "$(kill -0 "$runner" 2>/dev/null && echo yes)"
stop_runner
rm files/manifests/more.yaml

# What is refused, before anything is written.
code "L21 an unknown trigger" 2 "want oneoff, interval, resource, sql, or NAME" run --trigger=never
code "L21 no trigger" 2 "--trigger is missing: want oneoff, interval, resource, sql, or NAME of a program trigger-NAME" run
code "L21 two triggers" 2 "--one-off and --trigger interval are two triggers" run --one-off --trigger=interval
for idle in trigger.interval.duration=1s trigger.resource.config=x trigger.resource.write-status=true trigger.database.config=x; do
	code "L21 what says nothing to it is refused: $idle" 2 "--${idle%=*} says nothing to --trigger oneoff" run --trigger=oneoff "--$idle"
done
code "L21 nor a time that only a one-off waits" 2 "--lease-timeout says nothing to --trigger interval" run --trigger=interval --lease-timeout=1s
for idle in adopt overwrite-ownership accept-empty max-deletes=1 inventory-namespace=x lease-timeout=1s audit-log=x metrics-listen=off feedback.sql=x feedback.webhook=https://h/; do
	code "L11 what is printed is not written: $idle" 2 "--${idle%%=*} says nothing to --render-only" run --trigger=oneoff --render-only "--$idle"
done
code "L11 a flag that is taken back says nothing" 0 "deployment.yaml" run --trigger=oneoff --render-only --adopt=false --accept-empty=false
code "L38 --master is the server" 1 "127.0.0.1" run --trigger=oneoff --master=https://127.0.0.1:1
sed 's/CreateOrUpdate/Replace/' files/rollout.yaml >action.yaml
ROLLOUT=action.yaml code "L12 an unknown action lists the known ones" 1 "CreateIfNotExist" run --trigger=oneoff
sed 's/deployment.yaml/service.yaml/' files/rollout.yaml >unknown.yaml
ROLLOUT=unknown.yaml code "L12 a step that names no object" 1 "alm: unknown.yaml: spec.groups[0].steps[0].object: UnknownObject: nothing that was rendered is" run --trigger=oneoff
mkdir bad kind
printf 'a: 1\n b: 2\n' >bad/x.yaml
DIR=bad code "L7 a file that cannot be parsed" 1 "x.yaml" run --trigger=oneoff
sed "s|server: .*|server: https://127.0.0.1:1|" "$K" >dead
code "an unreachable cluster" 1 "the cluster" alm run --kubeconfig dead --trigger=oneoff --renderer.file.dir=files/manifests
printf 'apiVersion: nowhere.example/v1\nkind: Thing\nmetadata:\n  name: a\n' >kind/x.yaml
code "a kind that nobody serves" 3 "no CRD of the unit brings it" alm run --kubeconfig "$K" --trigger=oneoff --renderer.file.dir=kind --name kind
mkdir own && configmap theirs 1 >own/theirs.yaml
k apply -f - >/dev/null <<'END'
{"apiVersion": "v1", "kind": "ConfigMap", "data": {"v": "0", "left": "out"},
 "metadata": {"name": "theirs", "labels": {"app.kubernetes.io/managed-by": "Helm"}}}
END
k label configmap theirs by=hand >/dev/null
code "T23 an object that is there and nobody's" 3 "not managed by ALM; --adopt" alm run --kubeconfig "$K" --trigger=oneoff --renderer.file.dir=own --name own
writing "T23 it is not touched" 0 alm run --kubeconfig "$K" --trigger=oneoff --renderer.file.dir=own --name own
code "T32 taken over" 0 "" alm run --kubeconfig "$K" --trigger=oneoff --renderer.file.dir=own --name own --adopt
is "T32 nothing of kubectl and Helm is left, by whom a field was that goes; what was set by hand stays" \
	'["alm:cli:own"] ["v"] hand no no' \
	"$(k get configmap theirs -o json --show-managed-fields | jq -r '[([.metadata.managedFields[].manager] | unique | tojson),
		(.data | keys | tojson), .metadata.labels.by, (.metadata.labels["app.kubernetes.io/managed-by"] // "no"),
		(.metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"] // "no")] | join(" ")')"
writing "T32 and nobody fights" 0 alm run --kubeconfig "$K" --trigger=oneoff --renderer.file.dir=own --name own
code "T23 another bundle's" 3 "belongs to bundle own" alm run --kubeconfig "$K" --trigger=oneoff --renderer.file.dir=own --name other

mkdir -p lost && for i in l1 l2; do configmap "$i" 1 >"lost/$i.yaml"; done
empty=
# shellcheck disable=SC2086
lost() { alm run --kubeconfig "$K" --trigger=oneoff --renderer.file.dir=lost --name lost $empty; }
lost >/dev/null
k delete configmap -n alm-system inv.lost.files >/dev/null
rm lost/l2.yaml
k get configmap l2 -o json | jq '.metadata |= {name: "copy", labels, annotations}' | k create -f - >/dev/null
code "a lost inventory is rebuilt by marks" 0 "" lost
none "so that what only it named is pruned" k get configmap l2 -o name --ignore-not-found
is "but not what somebody has copied from it" "configmap/copy" "$(k get configmap copy -o name)"
k delete configmap copy >/dev/null
rm lost/l1.yaml
code "an empty folder is no wish that all goes" 3 "SourceEmpty: nothing was rendered, and 1 object would be deleted, ConfigMap default/l1" lost
is "so it stays" "configmap/l1" "$(k get configmap l1 -o name)"
empty=--accept-empty
code "unless it is said" 0 "" lost
none "then it is gone" k get configmap l1 -o name --ignore-not-found

# Actions, groups, pruning.
mkdir -p app && cat >crd.yaml <<'END'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.run.example}
spec:
  group: run.example
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
END
cp crd.yaml app/crd.yaml
printf 'apiVersion: run.example/v1\nkind: Thing\nmetadata: {name: one}\nspec: {a: 1}\n' >app/thing.yaml
for i in a b old; do configmap "$i" 1 >"app/$i.yaml"; done
configmap seeded 1 >app/seeded.yaml
k create configmap seeded --from-literal=v=theirs >/dev/null
k create configmap old --from-literal=v=theirs >/dev/null
printf 'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: one}\n' >app/s.yaml
printf 'apiVersion: batch/v1\nkind: Job\nmetadata: {name: migrate}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: busybox}]}}}\n' >app/job.yaml
cat >app.yaml <<'END'
apiVersion: app.coreos.com/v1alpha1
kind: Rollout
metadata: {name: app}
spec:
  rest: Before
  groups:
  - name: first
    parallel: true
    steps:
    - {object: crd.yaml, action: CreateOrUpdate}
    - {object: seeded.yaml, action: CreateIfNotExist}
    - {object: old.yaml, action: DeleteIfExist}
  - name: migrate
    steps: [{object: job.yaml, action: Job}]
  - name: last
    steps: [{object: thing.yaml, action: CreateOrUpdate}]
END
app() { DIR=app ROLLOUT=app.yaml run --trigger=oneoff "$@"; }
k create -f - >/dev/null <<END
{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "of-old", "finalizers": ["example.com/held"], "ownerReferences":
 [{"apiVersion": "v1", "kind": "ConfigMap", "name": "old", "uid": "$(k get configmap old -o 'jsonpath={.metadata.uid}')", "blockOwnerDeletion": true}]}}
END
"$alm_bin" run --kubeconfig "$K" --renderer.file.dir=app --renderer.file.rollout=app.yaml --trigger=oneoff >first 2>&1 &
runner=$!
dying() { k get configmap old of-old -o json | jq -c "[.items[].metadata | has(\"deletionTimestamp\")]"; }
soon "L15 what is to go waits for its dependents" "[true,true]" dying
is "  and so does its step" yes "$(kill -0 "$runner" && ! grep -q old.yaml first && echo yes)"
k patch configmap of-old --type=merge -p '{"metadata":{"finalizers":null}}' >/dev/null
wait "$runner"
is "L16 L18 groups with all four actions" "0 last/thing.yaml: Finished" "$? $(grep last/thing first)"
runner=
none "L15 when it ends, its dependents are gone" k get configmap of-old -o name --ignore-not-found
has "L18 the log of a Job that succeeded is kept in its step" "migrate/job.yaml: Finished: Job default/migrate: it has run; the end of its log (pod migrate-" "$(cat first)"
is "L14 what exists is untouched, and told" "theirs first/seeded.yaml: Finished: exists" "$(k get configmap seeded -o 'jsonpath={.data.v}') $(DIR=app ROLLOUT=app.yaml run --trigger=oneoff | grep seeded)"
none "L15 deleted" k get configmap old -o name --ignore-not-found
is "L16 the custom resource of a CRD of this run" "1" "$(k get thing one -o 'jsonpath={.spec.a}')"
job=$(k get job migrate -o 'jsonpath={.metadata.uid}')
writing "L13 again: nothing, the Secret included" 0 app
is "L18 the Job did not run again" "$job" "$(k get job migrate -o 'jsonpath={.metadata.uid}')"
mkdir jobs
cat >jobs/job.yaml <<'END'
apiVersion: batch/v1
kind: Job
metadata: {name: broken}
spec:
  backoffLimit: 0
  template:
    metadata: {annotations: {app.coreos.com/simulate: BackoffLimitExceeded}}
    spec: {restartPolicy: Never, containers: [{name: c, image: busybox}]}
END
cat >jobs.yaml <<'END'
apiVersion: app.coreos.com/v1alpha1
kind: Rollout
metadata: {name: jobs}
spec: {groups: [{name: g, steps: [{object: job.yaml, action: Job}]}]}
END
jobs() { DIR=jobs ROLLOUT=${1:-jobs.yaml} run --trigger=oneoff; }
code "L18 a Job that failed tells the end of its log" 1 "the Job failed; the end of its log (pod broken-" jobs
sed -i '/annotations:/d' jobs/job.yaml
sed 's/action: Job/&, success: [{fieldComparisons: {timeout: 1s, expectedValues: [{name: two, path: "{.status.succeeded}", value: {staticInt64: 2}}]}}]/' jobs.yaml >jobs-two.yaml
code "L28 a Job that has run, and not what is asked of it besides" 1 "step g/job.yaml: Job default/broken: CheckFailed: not so after 1s: two: " jobs jobs-two.yaml
mkdir once && configmap once 1 >once/a.yaml
echo '{apiVersion: app.coreos.com/v1alpha1, kind: Rollout, metadata: {name: once}, spec: {groups: [{steps: [{object: a.yaml, action: CreateIfNotExist}]}]}}' >once.yaml
once() { DIR=once ROLLOUT=once.yaml run --trigger=oneoff; }
is "L14 what is made is not said to have been there" "group-1/a.yaml: Finished" "$(once)"
configmap once 2 >once/a.yaml
is "L14 what was made of another text is untouched, and told" "1 group-1/a.yaml: Finished: exists" "$(k get configmap once -o 'jsonpath={.data.v}') $(once)"
sed -i 's/CreateIfNotExist/DeleteIfExist, success: [{fieldComparisons: {timeout: 1s, expectedValues: [{name: x, path: "{.data.v}", value: {static: "1"}}]}}]/' once.yaml
code "L15 L28 gone, and not what is asked of it besides" 1 "step group-1/a.yaml: ConfigMap default/once: CheckFailed: not so after 1s: x: " once
sed -i 's/one}/two}/' app/s.yaml
rm app/b.yaml
code "a changed Secret, an object less" 0 "" app
is "the Secret is changed" "two" "$(k get secret s -o 'jsonpath={.data.password}' | base64 -d)"
none "5.4 what is not there any more is pruned" k get configmap b -o name --ignore-not-found
rm app/thing.yaml app/crd.yaml
cat >app.yaml <<'END'
apiVersion: app.coreos.com/v1alpha1
kind: Rollout
metadata: {name: app}
spec:
  rest: Before
  groups: [{steps: [{object: a.yaml, action: CreateOrUpdate}]}]
END
rm app/old.yaml app/seeded.yaml app/job.yaml
code "5.4 a CRD stays, and that is told" 0 "CustomResourceDefinition things.run.example is not deleted" app
none "5.4 its objects do not" k get thing one -o name --ignore-not-found
is "2.6 the inventory has what is there" "ConfigMap default a,Secret default s" "$(objects app | paste -sd,)"

code "a file where a folder is wanted" 1 "--renderer.file.dir: files/rollout.yaml is a file; a folder is wanted" alm run --kubeconfig "$K" --one-off --renderer.file.dir=files/rollout.yaml
ROLLOUT=none.yaml code "a rollout that is not there" 1 "--renderer.file.rollout: none.yaml: there is no such file" run --one-off
mkdir nothing
code "a folder without a manifest is told" 0 "nothing was rendered, so nothing is to be there: no .yaml" alm run --kubeconfig "$K" --one-off --name nothing --renderer.file.dir=nothing

# Failures: every one is told, and what comes after does not begin.
mkdir fail && for i in x y z; do configmap "$i" 1 >"fail/$i.yaml"; done
sed -i 's/name: [xy]/name: Bad_&/; s/Bad_name: /Bad_/' fail/x.yaml fail/y.yaml
cat >fail.yaml <<'END'
apiVersion: app.coreos.com/v1alpha1
kind: Rollout
metadata: {name: fail}
spec:
  rest: Ignore
  groups:
  - {name: one, parallel: true, steps: [{object: x.yaml, action: CreateOrUpdate}, {object: y.yaml, action: CreateOrUpdate}]}
  - {name: two, steps: [{object: z.yaml, action: CreateOrUpdate}]}
END
DIR=fail ROLLOUT=fail.yaml code "L34 all failures are told" 1 "step one/y.yaml" run --trigger=oneoff
none "L34 the next group does not begin" k get configmap z -o name --ignore-not-found
sed -i 's/object: \([xy]\).yaml, /&continueOnError: true, /g' fail.yaml
DIR=fail ROLLOUT=fail.yaml code "L34 continueOnError: failed all the same" 1 "step one/x.yaml" run --trigger=oneoff
is "L34 and the rest ran" "configmap/z" "$(k get configmap z -o name --ignore-not-found)"

# Success checks: those of the seed, and one that does not come true.
run_checks() { ROLLOUT=files/rollout-checks.yaml run --trigger=oneoff; }
code "L28 field comparisons" 0 "grafana/deployment.yaml: Finished" run_checks
cat >check.yaml <<'END'
apiVersion: app.coreos.com/v1alpha1
kind: Rollout
metadata: {name: fail}
spec:
  rest: Ignore
  groups:
  - steps:
    - object: z.yaml
      action: CreateOrUpdate
      success: [{fieldComparisons: {timeout: 1s, expectedValues: [{name: is two, path: "{.data.v}", value: {static: "2"}}]}}]
END
DIR=fail ROLLOUT=check.yaml code "L28 L35 one that does not hold in time fails its step" 1 "step group-1/z.yaml: ConfigMap default/z: CheckFailed" run --trigger=oneoff

# Jsonnet: without a configuration, with one of a file, and with the objects of a kind.
cp -r "$examples/jsonnet" jsonnet
jsonnet() { alm run --kubeconfig "$K" --renderer=jsonnet --renderer.jsonnet.entrypoint="jsonnet/$1" "${@:2}"; }
if ldconfig -p | grep -q libjsonnet.so.0; then
	code "L24 jsonnet, with the rollout that it gives" 0 "group-1/grafana/deployment: Finished" jsonnet main.jsonnet --trigger=oneoff
	is "L24 it is there" "1" "$(k get deployment grafana-jsonnet -o 'jsonpath={.spec.replicas}')"
	is "L25 L9 a configuration file" "grafana-file default 2" "$(jsonnet with-config.jsonnet --trigger=oneoff --config-file=jsonnet/config.json --render-only | jq -r '.objects.deployment | "\(.metadata.name) \(.metadata.namespace) \(.spec.replicas)"')"
	code "a configuration that is missing" 1 "config" jsonnet with-config.jsonnet --trigger=oneoff
	k create configmap settings --from-literal=doc='{size: {cpu: 1, memory: 2}}' --from-literal=level=low >/dev/null
	k create secret generic settings --from-literal=doc='{size: {memory: 9}}' >/dev/null
	cat >from.yaml <<'END'
from:
- {configMap: {name: settings, key: doc}}
- {secret: {namespace: default, name: settings, key: doc}}
- {configMap: {name: settings}}
- {resource: {apiVersion: v1, kind: ServiceAccount, name: from}}
- {resource: {apiVersion: v1, kind: Namespace, name: default}}
- {sql: {path: from.db, query: SELECT x FROM t}}
- {file: {path: from-file.yaml}}
END
	sqlite3 from.db 'CREATE TABLE t (x); INSERT INTO t VALUES (7)'
	echo '{level: mid, here: true}' >from-file.yaml
	echo '{"level": "high"}' >top.json
	cat >from.jsonnet <<'END'
local c = import 'alm-runtime/config';
local secrets = import 'alm-runtime/secrets/list';
{ a: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'from' }, data: {
  config: '%s %s %s %s %s %s' % [c.size.cpu, c.size.memory, c.level, c.kind, c.rows[0].x, c.here],
  secrets: std.join(' ', [s.kind + '/' + s.metadata.name for s in secrets if s.metadata.namespace == 'default']),
} } }
END
	from() { alm run --kubeconfig "$K" --renderer=jsonnet --renderer.jsonnet.entrypoint=from.jsonnet --config-from=from.yaml --trigger=oneoff "$@"; }
	k create serviceaccount from >/dev/null
	accounts() { curl -s "http://$metrics/metrics" | awk '/^alm_api_requests_total/ && /verb="get",resource="serviceaccounts"/ {n += $NF} END {print n + 0}'; }
	before=$(accounts)
	code "L30 configuration of several resources" 0 "ConfigMap/ConfigMap: Finished" from --name from --config-file=top.json
	is "  each is read once" "$((before + 1))" "$(accounts)"
	is "L30 merged in their order, the file on top" "1 9 high Namespace 7 true" "$(k get configmap from -o 'jsonpath={.data.config}')"
	has "L30 a live list" "Secret/settings" "$(k get configmap from -o 'jsonpath={.data.secrets}')"
	cat >parts.yaml <<'END'
mainResource: conf
resources:
- {name: conf, apiVersion: v1, kind: ConfigMap, namespace: default, selector: {matchLabels: {role: main}}}
- {name: parts, apiVersion: v1, kind: ConfigMap, namespace: default, selector: {matchLabels: {role: part}}, keyTransformations: [{regex: ".*", replacement: default/m}]}
END
	cat >parts.jsonnet <<'END'
local c = import 'alm-runtime/config', parts = import 'alm-runtime/parts/list';
{ a: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'parts' }, data: {
  all: '%s %s %s' % [c.data.v, c.size.memory, std.join(',', [p.metadata.name for p in parts])] } } }
END
	start_runner --renderer=jsonnet --renderer.jsonnet.entrypoint=parts.jsonnet --config-from=from.yaml --trigger=resource --trigger.resource.config=parts.yaml
	for name in m p1 p2; do
		k create configmap "$name" --from-literal=v=0 --dry-run=client -o json | jq --arg r "$([ "$name" = m ] && echo main || echo part)" '.metadata.labels = {role: $r}' | k create -f - >/dev/null
	done
	for i in 1 2 3 4 5 6; do # while the sources are read
		k patch configmap m --type=merge -p "{\"data\": {\"v\": \"$i\"}}" >/dev/null
	done
	soon "L30 a list of what the trigger names, below the object that began the run" "6 9 p1,p2" k get configmap parts -o 'jsonpath={.data.all}'
	stop_runner
	sed -i 's/name: settings, key/name: gone, key/' from.yaml
	code "L30 one that is not there is no empty one" 1 "ConfigMap default/gone: configmaps \"gone\" not found" from --render-only
	k create -f "$examples/grafana-crd.yaml" >/dev/null
	watch=(--renderer=jsonnet --renderer.jsonnet.entrypoint=jsonnet/with-config.jsonnet --trigger=resource --trigger.resource.config=jsonnet/trigger.yaml)
	code "L21 an empty folder is nothing to objects" 2 "--accept-empty says nothing to --trigger resource" alm run "${watch[@]}" --accept-empty
	code "L21 unless that is taken back" 0 '"objects"' alm run "${watch[@]}" --accept-empty=false --render-only --config-file=jsonnet/config.json
	start_runner "${watch[@]}"
	k wait --for=condition=Established crd/grafanas.monitoring.coreos.com >/dev/null
	grafana() { printf 'apiVersion: monitoring.coreos.com/v1\nkind: Grafana\nmetadata: {name: %s, namespace: default}\nspec: {replicas: %s}\n' "$1" "$2"; }
	of_main() { k get deployment grafana-main -o 'jsonpath={.spec.replicas}'; }
	grafana main 50 | k create -f - >/dev/null
	soon "L26 L10 an object begins a run" "50" of_main
	is "L10 and owns what that makes" "Grafana main $(k get grafana main -o 'jsonpath={.metadata.uid}')" \
		"$(k get deployment grafana-main -o 'jsonpath={range .metadata.ownerReferences[*]}{.kind} {.name} {.uid}{end}')"
	soon "L19 its status tells" "Finished True" k get grafana main -o 'jsonpath={.status.groups[0].state} {.status.conditions[?(@.type=="Ready")].status}'
	k scale deployment grafana-main --replicas=3 >/dev/null
	soon "L27 a hand edit is put back" "50" of_main
	grafana main 4 | k apply -f - >/dev/null 2>&1
	soon "L6 a changed object is run again" "4" of_main
	for i in 5 6 7 8; do # the hand edit begins a run, which is rendered when the object changes
		k scale deployment grafana-main --replicas=3 >/dev/null
		grafana main "$i" | k apply -f - >/dev/null 2>&1
		soon "L6 and while a hand edit is put back: $i" "$i" of_main
	done
	grafana other 2 | k create -f - >/dev/null
	soon "L26 one more" "2" k get deployment grafana-other -o 'jsonpath={.spec.replicas}'
	k annotate deployment grafana-other app.coreos.com/prune=disabled >/dev/null
	soon "L10 what pruning keeps has no owner any more: the garbage collector would delete it" "2" \
		k get deployment grafana-other -o 'jsonpath={.spec.replicas}{.metadata.ownerReferences}'
	stop_runner # of the next one a minute is not over when all is deleted
	start_runner "${watch[@]}"
	k delete grafana main --wait=false >/dev/null
	k wait --for=delete grafana/main --timeout=25s >/dev/null
	is "L40 it waits for no write that may come late, which took a minute" 0 "$?"
	soon "  what is waited for behind it is told" 1 grep -c 'main: deletion: Waiting: all is deleted; until 60 s after' "$dir/runner"
	none "L40 deleted: what it made went first" k get deployment grafana-main -o name --ignore-not-found
	is "L40 the other stays" "2" "$(k get deployment grafana-other -o 'jsonpath={.spec.replicas}')"
	is "2.6 its inventory is there as long as that, beside the other one" "configmap/inv.grafana.default.main configmap/inv.grafana.default.other" \
		"$(k get configmap -n alm-system -l app.coreos.com/bundle=grafana -o name | paste -sd' ')"
	stop_runner
	sed '/^- name: grafana/a\  namespace: default\n  selector: {matchLabels: {use: it}, matchExpressions: [{key: never, operator: DoesNotExist}]}' \
		jsonnet/trigger.yaml >narrow.yaml
	start_runner "${watch[@]/jsonnet\/trigger.yaml/narrow.yaml}" --trigger.resource.write-status=false
	k create namespace away >/dev/null
	grafana away 1 | sed 's/default/away/; s/metadata: {/&labels: {use: it}, /' | k create -f - >/dev/null
	grafana no-label 1 | k create -f - >/dev/null
	grafana never 1 | sed 's/metadata: {/&labels: {use: it, never: "1"}, /' | k create -f - >/dev/null
	grafana bare 1 | sed 's/metadata: {/&labels: {use: it}, /' | k create -f - >/dev/null
	soon "L37 with writing off it is run" "1" k get deployment grafana-bare -o 'jsonpath={.spec.replicas}'
	is "L37 and untouched" " " "$(k get grafana bare -o 'jsonpath={.metadata.finalizers} {.status}')"
	none "  so it owns nothing, which would go with it at once" k get deployment grafana-bare -o 'jsonpath={.metadata.ownerReferences}'
	lacks "L37 one of another namespace, and those that the selector leaves out, are not" k get deployment -A -o name -- -E 'grafana-(away|no-label|never)$'
	k delete grafana bare --timeout=60s >/dev/null
	soon "L40 what it made goes all the same" "" k get deployment grafana-bare -o name --ignore-not-found
	grafana meanwhile 1 | sed 's/metadata: {/&labels: {use: it}, /' | k create -f - >/dev/null
	soon "  another one" "1" k get deployment grafana-meanwhile -o 'jsonpath={.spec.replicas}'
	stop_runner
	k delete grafana meanwhile >/dev/null
	start_runner "${watch[@]/jsonnet\/trigger.yaml/narrow.yaml}" --trigger.resource.write-status=false
	soon "L40 of an object that went while nobody ran" "" k get deployment grafana-meanwhile -o name --ignore-not-found
	is "  one that its watch leaves out is there" "2" "$(k get deployment grafana-other -o 'jsonpath={.spec.replicas}')"
	stop_runner
else
	ok "L24 jsonnet # SKIP no libjsonnet"
fi
finish
