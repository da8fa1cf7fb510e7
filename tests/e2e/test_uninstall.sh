#!/bin/bash
# alm install --to-cluster brings the manifest, alm uninstall --from-cluster takes it off: not while there are apps, with
# --keep-apps what they installed runs on, and nothing is left that waits for ALM. On alm server, or ALM_TEST_CLUSTER.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
# shellcheck source=tests/e2e/controllers.sh
. tests/e2e/controllers.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - uninstall # SKIP no kubectl"
	echo 1..1
	exit 0
}
one=
ended() { [ -z "$one" ] || kill "$one"; }
manifests
cd "$dir" || exit 1
makes_volume=yes
bare_cluster
# shellcheck disable=SC2086 # nothing, or one flag
alm() { timeout 130 "$alm_bin" $insecure "$@" 2>&1 | grep -v -e '^Warning: insecure' -e 'is left out'; return "${PIPESTATUS[0]}"; }

is "--dry-run prints the manifest" "$(grep -c '^kind:' "$OLDPWD/deploy/manifests/alm.yaml")" "$(alm install --to-cluster --dry-run | grep -c '^kind:')"
code "no image of that name" 2 'is no reference of an image' alm install --to-cluster --image 'a b'
code "no folder of a node" 2 "want NODE:/PATH" alm install --to-cluster --log-volume /var/lib/alm-log
code "nor a flag that would do nothing" 2 "--set is of the chart of a catalog" alm install --to-cluster --set replicas=2
code "one of ALM itself" 2 "--log-volume is of ALM itself" alm install own/chart --log-volume node-1:/var/lib/alm-log
code "nor another namespace" 2 "ALM works from alm-system" alm install --to-cluster -n other
first_node
volume=(install --to-cluster --log-volume "$node:/var/lib/alm-log")
code "nor one of a node that is not there" 3 "no node has label kubernetes.io/hostname=nowhere" alm install --to-cluster --log-volume nowhere:/var/lib/alm-log
k create -f - >/dev/null <<'END'
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: alm-test, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: volumes.example.com
END
code "a volume that nobody would use" 3 "is the default of this cluster and makes the volume" alm "${volume[@]}"
k delete storageclass alm-test >/dev/null
k create -f - >/dev/null <<'END'
apiVersion: v1
kind: PersistentVolume
metadata: {name: alm-log}
spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /srv/theirs}}
END
code "nor one that somebody else made" 3 "was not made by this option" alm "${volume[@]}"
is "  which stays as it is" "/srv/theirs " "$(k get pv alm-log -o 'jsonpath={.spec.hostPath.path} {.metadata.labels}')"
k delete pv alm-log >/dev/null
code "a folder of a node for the log" 0 "persistentvolume/alm-log applied" alm "${volume[@]}"
is "which no other claim gets" "alm-system/alm-log $node /var/lib/alm-log" "$(k get pv alm-log -o \
	'jsonpath={.spec.claimRef.namespace}/{.spec.claimRef.name} {.spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].values[0]} {.spec.local.path}')"
code "it is installed" 0 "deployment.apps/alm-controller applied" alm install --to-cluster --image registry.example.com/alm:1
is "with that image" registry.example.com/alm:1 \
	"$(k get deployment alm-controller -n alm-system -o 'jsonpath={.spec.template.spec.containers[0].image}')"
code "again, with --wait" 0 "deployment.apps/alm-controller applied" alm install --to-cluster --wait
is "now with its own" alm: "$(k get deployment alm-controller -n alm-system -o 'jsonpath={.spec.template.spec.containers[0].image}' | cut -c1-4)"
k annotate deployment alm-controller -n alm-system meta.helm.sh/release-name=mine >/dev/null
code "what helm installed helm upgrades" 3 "ALM is Helm release mine of this cluster: helm upgrade mine" alm install --to-cluster
k annotate deployment alm-controller -n alm-system meta.helm.sh/release-name- >/dev/null

for command in "catalog add own dir:///nowhere" "install own/chart" "status"; do
	# shellcheck disable=SC2086 # words
	code "before its controller ran, alm ${command%% *} says what brings the kinds" 1 "the controller of ALM brings its kinds: \`alm install --to-cluster --wait\`" alm $command
done
# shellcheck disable=SC2086
"$alm_bin" controller --data-dir "$data" --catalog-root "$catalog" --metrics-listen off --verify-soak 1s $insecure >one.out 2>one.err &
one=$!
WAIT_S=90 soon "it brings its definitions" served definitions
package 0.9.4 >/dev/null
k create -f catalog.yaml -f etcd-apptype.yaml >/dev/null
has "an app is installed" etcd "$(app_is etcd "status.installedVersion = '0.9.4'" 2>&1)"
k create -f "$demo/manifests/etcd-instance.yaml" >/dev/null
code "not while there are apps" 3 "there are 1 AppTypes (etcd), which nobody could delete without ALM" alm uninstall --from-cluster
code "only when it is meant" 2 "--from-cluster says that ALM itself goes" alm uninstall
code "not while another controller works" 3 "a controller outside of Deployment alm-system/alm-controller works for this cluster" \
	alm uninstall --from-cluster --keep-apps
kill "$one"
wait "$one" 2>/dev/null
one=
"$alm_bin" template alm "$OLDPWD/deploy/charts/alm" -n alm-system --set auditRecords.enabled=true,admissionWebhook.enabled=true \
	-s templates/auditrecords.yaml -s templates/webhook.yaml | k apply -f - >/dev/null 2>&1
is "audit records were asked for" apiservice.apiregistration.k8s.io/v1alpha1.audit.app.coreos.com "$(k get apiservices -o name | grep audit.app)"
unanswered() { k annotate ist --all a=b --overwrite 2>&1 | grep -o 'failed calling webhook "approvals.opinstaller.coreos.com"'; }
soon "and a webhook, which nobody answers now" 'failed calling webhook "approvals.opinstaller.coreos.com"' unanswered
printf 'apiVersion: app.coreos.com/v1alpha1\nkind: Bundle\nmetadata: {name: left, finalizers: [app.coreos.com/bundle]}\nspec: {source: {git: {url: "https://git.invalid/x.git"}}}\n' | k create -f - >/dev/null
is "and a Bundle, whose finalizer nobody takes off now" bundle.app.coreos.com/left "$(k get bundles -o name)"
code "then it goes" 0 "The audit log stays: PersistentVolumeClaim alm-system/alm-log" alm uninstall --from-cluster --keep-apps
lacks "no definition of ALM is left" k get crd -o name -- -E '/(apps|catalogs|installstrategies)\.'
lacks "no right of it" k get clusterroles,clusterrolebindings,rolebindings,roles -A -o name -- -E '/(alm:|alm-controller)'
OR_EMPTY=1 lacks "no APIService that leads nowhere" k get apiservices -o name -- audit.app
OR_EMPTY=1 lacks "no webhook" k get validatingwebhookconfigurations -o name -- opinstaller
is "nothing but its log" "persistentvolumeclaim/alm-log" "$(k get all,pvc,networkpolicies,pdb -n alm-system -o name | grep -v -e '^replicaset' -e '^pod/')"
is "what it installed runs on" "deployment.apps/etcd-operator" "$(k get deployments -n etcd -o name)"
none "and belongs to nobody" k get deployments,services,secrets,configmaps -n etcd -o 'jsonpath={.items[*].metadata.ownerReferences}'
is "the custom resources are there" etcdcluster.etcd.coreos.com/etcd-purple-ant "$(k get etcds -o name)"
code "twice is no error" 0 "The audit log stays" alm uninstall --from-cluster
k delete pvc alm-log -n alm-system >/dev/null
on_cluster || k patch pv alm-log --type=merge -p '{"spec":{"claimRef":{"uid":"former"}},"status":{"phase":"Released"}}' >/dev/null
on_cluster || k patch pv alm-log --type=merge --subresource=status -p '{"status":{"phase":"Released"}}' >/dev/null
phase() { k get pv alm-log -o 'jsonpath={.status.phase}'; }
soon "of a volume whose claim was deleted" Released phase
former=$(k get pv alm-log -o 'jsonpath={.spec.claimRef.uid}')
code "the next ALM takes it" 0 "persistentvolume/alm-log applied" alm "${volume[@]}"
is "which another claim may have now" no "$([ "$(k get pv alm-log -o 'jsonpath={.spec.claimRef.uid}')" = "$former" ] && echo yes || echo no)"
code "the log, too, and its volume" 0 "PersistentVolume alm-log deleted" alm uninstall --from-cluster --with-log
space() { k get namespace alm-system -o name --ignore-not-found; }
soon "and nothing is left" "" space
finish
