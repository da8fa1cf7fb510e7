#!/bin/bash
# The first commands of people, by the real kubectl and helm on `alm server --simulate-workloads`: what they print is what they
# print on a Kubernetes 1.36 with kwok, but for names, times and rollouts, which take one step here.
set -u
. tests/e2e/lib.sh
# SC2154: lib.sh sets it
# shellcheck disable=SC2154
cd "$dir" || exit 1
oracles=${XDG_CACHE_HOME:-/root/.cache}/alm-oracles/bin
server_start

cat >all.yaml <<'END'
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, annotations: {team: a}}
spec:
  replicas: 2
  revisionHistoryLimit: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: "nginx:1", ports: [{containerPort: 8080, name: http}]}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: c, image: "nginx:1", volumeMounts: [{name: data, mountPath: /d}]}]}
  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: ds}
spec:
  selector: {matchLabels: {app: ds}}
  template:
    metadata: {labels: {app: ds}}
    spec: {containers: [{name: c, image: "nginx:1"}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec: {completions: 2, template: {spec: {restartPolicy: Never, containers: [{name: c, image: "nginx:1"}]}}}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {type: LoadBalancer, selector: {app: web}, ports: [{port: 80, name: http, targetPort: http}]}
END
names() { alm get "$@" -o 'jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}'; }
count() { names "$@" | grep -c .; }
path() { alm get "$1" "$2" -o "jsonpath=$3"; }

k apply -f all.yaml >/dev/null
has "rollout status of a Deployment" 'deployment "web" successfully rolled out' "$(k rollout status deploy/web --timeout=60s)"
has "  of a StatefulSet" "complete" "$(k rollout status sts/db --timeout=60s)"
has "  of a DaemonSet" 'daemon set "ds" successfully rolled out' "$(k rollout status ds/ds --timeout=60s)"
is "wait for Pods" 2 "$(k wait --for=condition=Ready pod -l app=web --timeout=60s | grep -c "condition met")"
is "  for a Job" "job.batch/once condition met" "$(k wait --for=condition=Complete job/once --timeout=60s)"
is "get pods -l" "1/1 Running 0
1/1 Running 0" "$(k get pods -l app=web --no-headers | awk '{print $2, $3, $4}')"
is "  of the Job" "0/1 Completed
0/1 Completed" "$(k get pods -l job-name=once --no-headers | awk '{print $2, $3}')"
is "  of the StatefulSet, by number" "db-0
db-1" "$(names pods -l app=db)"
is "  whose claims are bound" "data-db-0 Bound
data-db-1 Bound" "$(k get pvc --no-headers | awk '{print $1, $2}')"
k create -f - >/dev/null <<'END'
{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "there"}, "spec": {"capacity": {"storage": "4Gi"},
 "accessModes": ["ReadWriteOnce"], "storageClassName": "by-hand", "hostPath": {"path": "/x"}}}
END
soon "a volume that nobody claims is there to be had" "Available" k get pv there -o 'jsonpath={.status.phase}'
k create -f - >/dev/null <<'END'
{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "fits"}, "spec": {"accessModes": ["ReadWriteOnce"],
 "storageClassName": "by-hand", "resources": {"requests": {"storage": "2Gi"}}}}
END
soon "a claim takes the volume that is there and large enough" "there Bound" \
	k get pvc fits -o 'jsonpath={.spec.volumeName} {.status.phase}'
soon "  which says whose it is" "fits Bound" k get pv there -o 'jsonpath={.spec.claimRef.name} {.status.phase}'
set=$(names rs -l app=web)
is "its ReplicaSet has the Deployment's hash, revision and owner" \
	"${set#web-} ${set#web-} 1 Deployment/web true" \
	"$(path rs "$set" '{.metadata.labels.pod-template-hash} {.spec.selector.matchLabels.pod-template-hash} {.metadata.annotations.deployment\.kubernetes\.io/revision} {.metadata.ownerReferences[0].kind}/{.metadata.ownerReferences[0].name} {.metadata.ownerReferences[0].controller}')"
is "a Service has endpoints" 2 "$(alm get endpoints web -o 'jsonpath={.subsets[0].addresses[*].ip}' 2>/dev/null | wc -w)"
is "  in its slice, with the number of the named port" "2 8080" "$(alm get endpointslices -l kubernetes.io/service-name=web -o json | jq -r '.items[0] | "\(.endpoints | length) \(.ports[0].port)"')"
has "  a load balancer its address" 192.0.2.1 "$(k get svc web --no-headers)"
is "logs are one line" 1 "$(k logs deploy/web 2>/dev/null | grep -c simulated)"
is "applied again, nothing changes" "deployment.apps/web unchanged
daemonset.apps/ds unchanged
job.batch/once unchanged
service/web unchanged" "$(k apply -f all.yaml | grep -v statefulset)"

# --- history ---
k set image deploy/web c=nginx:2 >/dev/null
has "an update" "successfully rolled out" "$(k rollout status deploy/web --timeout=60s)"
is "has a revision" "1
2" "$(k rollout history deploy/web | awk '/^[0-9]/ {print $1}')"
has "  with its template" "nginx:1" "$(k rollout history deploy/web --revision=1)"
is "  and Pods of it alone" "nginx:2 nginx:2" "$(alm get pods -l app=web -o 'jsonpath={.items[*].spec.containers[0].image}')"
k rollout undo deploy/web >/dev/null 2>&1
has "undo" "successfully rolled out" "$(k rollout status deploy/web --timeout=60s)"
is "  is the first set again, as revision 3" "$set nginx:1 3" "$(alm get rs -l app=web -o json |
	jq -r '.items[] | select(.spec.replicas == 2) | "\(.metadata.name) \(.spec.template.spec.containers[0].image) \(.metadata.annotations["deployment.kubernetes.io/revision"])"')"
for n in 3 4; do
	k set image deploy/web c=nginx:$n >/dev/null
	k rollout status deploy/web --timeout=60s >/dev/null
done
is "the history has a limit" 2 "$(count rs -l app=web)"
k rollout restart deploy/web ds/ds sts/db >/dev/null
has "restart" "successfully rolled out" "$(k rollout status deploy/web --timeout=60s)"
has "  of a DaemonSet" "successfully rolled out" "$(k rollout status ds/ds --timeout=60s)"
k rollout status sts/db --timeout=60s >/dev/null
is "  of a StatefulSet: a revision" "1
2" "$(k rollout history sts/db | awk '/^[0-9]/ {print $1}')"
k rollout undo sts/db >/dev/null 2>&1
k rollout status sts/db --timeout=60s >/dev/null
none "  taken back" path sts db '{.spec.template.metadata.annotations.kubectl\.kubernetes\.io/restartedAt}'
k scale deploy/web --replicas=3 >/dev/null
k rollout status deploy/web --timeout=60s >/dev/null
is "scale" 3 "$(count pods -l app=web)"
gone=$(names pods -l app=web | head -1)
k delete pod "$gone" >/dev/null
soon "a deleted Pod is replaced" "3 0" sh -c "$ALM get pods -l app=web -o name | awk '/$gone/ {g++} END {print NR, g + 0}'"
k scale deploy/web --replicas=5000 >/dev/null
soon "a workload has 10 Pods at most, and counts what is wanted" "5000/5000" sh -c "$ALM get deploy web --no-headers | awk '{print \$2}'"
is "  (10)" 10 "$(count pods -l app=web)"
k rollout pause deploy/web >/dev/null
k set image deploy/web c=nginx:9 >/dev/null
soon "paused, nothing rolls out" 0 path deploy web '{.status.updatedReplicas}'
k rollout resume deploy/web >/dev/null
has "  until it goes on" "successfully rolled out" "$(k rollout status deploy/web --timeout=60s)"

# --- run, expose ---
k run lone --image=nginx:1 --labels=app=lone >/dev/null
is "run" "pod/lone condition met" "$(k wait --for=condition=Ready pod/lone --timeout=60s)"
is "expose" "service/lone exposed" "$(k expose pod lone --port 80)"
soon "  finds it" 1 sh -c "$ALM get endpointslices -l kubernetes.io/service-name=lone -o json | jq '.items[0].endpoints | length'"
k run ends --image=nginx:1 --restart=Never >/dev/null
soon "one that is not restarted ends" Completed sh -c "$ALM get pod ends --no-headers | awk '{print \$3}'"
k create cronjob tick --image=nginx:1 --schedule='@every 1s' >/dev/null
soon "a CronJob makes Jobs" Complete sh -c "$ALM get jobs --no-headers | awk '/^tick/ {print \$2; exit}'"
k delete cronjob tick >/dev/null

# --- failures, in the words of who waits for them ---
fails() { # NAME WORDS...
	k create deployment "$1" --image=nginx:1 --dry-run=client -o json |
		jq --arg s "$2" '.spec.template.metadata.annotations = {"app.coreos.com/simulate": $s}' | k apply -f - >/dev/null
}
fails image "ImagePullBackOff: manifest unknown"
soon "a Pod fails as its template says" "ImagePullBackOff manifest unknown" sh -c \
	"$ALM get pods -l app=image -o 'jsonpath={.items[0].status.containerStatuses[0].state.waiting.reason} {.items[0].status.containerStatuses[0].state.waiting.message}'"
has "  get pods" "0/1     ImagePullBackOff" "$(alm get pods -l app=image)"
is "  the Deployment is not available" "0 False" "$(path deploy image '{.status.readyReplicas} {.status.conditions[?(@.type=="Available")].status}')"
fails oom "OOMKilled: too much"
soon "  OOMKilled" "OOMKilled 137" sh -c \
	"$ALM get pods -l app=oom -o 'jsonpath={.items[0].status.containerStatuses[0].lastState.terminated.reason} {.items[0].status.containerStatuses[0].lastState.terminated.exitCode}'"
fails place "Unschedulable: 0/1 nodes are available"
soon "  Unschedulable" "Pending Unschedulable" sh -c \
	"$ALM get pods -l app=place -o 'jsonpath={.items[0].status.phase} {.items[0].status.conditions[0].reason}'"
fails late "ProgressDeadlineExceeded: too slow"
code "  ProgressDeadlineExceeded" 1 "exceeded its progress deadline" kubectl rollout status deploy/late --timeout=60s
fails mount "FailedMount: no such volume"
soon "  FailedMount, by an Event" "no such volume" sh -c \
	"$ALM get events --field-selector reason=FailedMount -o 'jsonpath={.items[0].message}'"

# --- what owns goes, at rest nothing is written ---
k delete deploy,sts,ds,job,svc --all >/dev/null
soon "what they owned is collected" "ends lone " sh -c "$ALM get pods,rs,controllerrevisions,endpointslices,endpoints -o json 2>/dev/null | jq -j '.items[].metadata.name + \" \"'"
rv() { alm get configmaps -o json | jq -r .metadata.resourceVersion; }
k apply -f all.yaml >/dev/null
k rollout status deploy/web --timeout=60s >/dev/null
soon "(all is there)" 2 sh -c "$ALM get endpointslices -l kubernetes.io/service-name=web -o json | jq '.items[0].endpoints | length'"
before=x
for _ in $(seq 60); do # two looks a second apart agree
	now=$(rv)
	[ "$now" = "$before" ] && break
	before=$now
	alm wait pod once "x = 1" --timeout 1s >/dev/null 2>&1
done
is "at rest nothing is written" "$before" "$now"

# --- helm --wait, of a chart as helm makes it ---
for helm in helm3 helm; do
	if [ ! -x "$oracles/$helm" ]; then
		skip "$helm --wait" "no $helm (oracles)"
		continue
	fi
	rm -rf web
	"$oracles/$helm" create web >/dev/null 2>&1
	h() { timeout 100 "$oracles/$helm" "$@" 2>&1; }
	has "$helm install --wait" "STATUS: deployed" "$(h install "$helm" ./web --wait --timeout 60s)"
	has "  upgrade" "STATUS: deployed" "$(h upgrade "$helm" ./web --set image.tag=2,replicaCount=2 --wait --timeout 60s)"
	is "  its Pods" "nginx:2 nginx:2" "$(alm get pods -l "app.kubernetes.io/instance=$helm" -o 'jsonpath={.items[*].spec.containers[0].image}')"
	has "  rollback" "Rollback was a success" "$(h rollback "$helm" 1 --wait --timeout 60s)"
	has "  uninstall" uninstalled "$(h uninstall "$helm" --wait --timeout 60s)"
	soon "  leaves nothing" 0 sh -c "$ALM get pods,rs,deploy,svc,endpoints,endpointslices -l app.kubernetes.io/instance=$helm -o name 2>&1 | grep -vc '^Warning: v1 Endpoints is deprecated'"
done
finish
