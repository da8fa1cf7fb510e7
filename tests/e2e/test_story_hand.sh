#!/bin/bash
# Sections 1 and 2 of the story: the CRDs of ALM are there, and an app installed by strategies made by hand. By alm up, or on the
# cluster of ALM_TEST_CLUSTER.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - story by hand # SKIP no kubectl"
	exit 0
}
started=$(date +%s)
cluster_start
manifests
cd "$dir" || exit 1

soon "A5 the CRDs of ALM are created" \
	"customresourcedefinition.apiextensions.k8s.io/apps.app.coreos.com
customresourcedefinition.apiextensions.k8s.io/installstrategies.opinstaller.coreos.com" \
	k get crd apps.app.coreos.com installstrategies.opinstaller.coreos.com -o name
k wait --for=condition=Established crd/apps.app.coreos.com crd/installstrategies.opinstaller.coreos.com --timeout=60s >/dev/null
# As the server says it: kubectl itself takes seconds on a slow machine.
established() { k get crd apps.app.coreos.com installstrategies.opinstaller.coreos.com -o \
	'jsonpath={range .items[*]}{.status.conditions[?(@.type=="Established")].lastTransitionTime}{"\n"}{end}' | sort | tail -1; }
if on_cluster; then
	has "1 alm controller says where things are" ", data $data" "$(cat out)"
else
	is "A5 Established within 5 s" "yes" "$([ $(($(date -d "$(established)" +%s) - started)) -le 5 ] && echo yes)"
	has "1 alm up says where things are" "kubeconfig $data/kubeconfig" "$(cat out)"
fi

printed=$(package plain:1.0.0)
is "2 package build prints archive and digest" "$catalog/etcd-operator-1.0.0.tgz  sha256:D" "$printed"
digest=$(echo "$printed" | grep -o 'sha256:[0-9a-f]*' | cut -d: -f2)
is "2 the digest is the archive's" "$(sha256sum "$catalog/etcd-operator-1.0.0.tgz" | cut -d' ' -f1)" "$digest"
is "A1 create by kubectl" "catalog.app.coreos.com/community created
apptype.app.coreos.com/etcd created" "$(k create -f catalog.yaml -f etcd-apptype.yaml 2>&1)"
app_is etcd "status.conditions[?type='Ready'].reason = 'Unresolved'" >/dev/null
is "2 no app type is named by the chart: Unresolved" \
	"NAME   KIND   INSTALLED   AVAILABLE   UPGRADE     READY   REASON       AGE
etcd                                  Automatic   False   Unresolved   1s" "$(k get Apps)"
soon "A6 selfRef is generated" "etcd.com.tectonic.storage" k get apptype etcd -o 'jsonpath={.status.selfRef}'
code "A6 spec.type is immutable: 422" 1 "spec.type" k patch apptype etcd --type=merge -p '{"spec":{"type":"com.other"}}'
is "A6 and unchanged" "com.tectonic.storage" "$(k get apptype etcd -o 'jsonpath={.spec.type}')"

wrong=$(printf 'f%.0s' $(seq 64))
sed "s/aef4455/$wrong/" etcd-installstrategy.yaml >wrong.yaml
k create -f wrong.yaml >/dev/null
reason() { k get ist "$1" -o 'jsonpath={.status.phase} {.status.conditions[?(@.status=="False")].reason}'; }
soon "A7 another digest: Blocked, DigestMismatch" "Blocked DigestMismatch" reason install.1.etcd.com.tectonic.storage
OR_EMPTY=1 lacks "A7 and nothing is applied" k get deployments,services,serviceaccounts,configmaps -n etcd -o name -- -v -e /default -e kube-root-ca
k delete ist install.1.etcd.com.tectonic.storage >/dev/null

sed -i "s/aef4455/$digest/" etcd-installstrategy.yaml
is "2 the strategy by hand" "installstrategy.opinstaller.coreos.com/install.1.etcd.com.tectonic.storage created" \
	"$(k create -f etcd-installstrategy.yaml 2>&1)"
soon "2 its CRD is nowhere: Blocked, ResourceMissing" "Blocked ResourceMissing" reason install.1.etcd.com.tectonic.storage
is "2 kubectl get ist" "NAME                                  APP    VERSION   APPROVED   PHASE     AGE
install.1.etcd.com.tectonic.storage   etcd   1                    Blocked   1s" "$(k get ist)"
none "2 nothing is applied while Blocked" k get deployments -A -o name
is "2 the CRD" "customresourcedefinition.apiextensions.k8s.io/etcds.etcd.coreos.com created" "$(k create -f etcd-crd.yaml 2>&1)"
is "2 Ready" "apptype.app.coreos.com/etcd condition met" "$(k wait --for=condition=Ready apptype/etcd --timeout=60s 2>&1)"
is "A9 kubectl get Apps" "NAME   KIND                      INSTALLED   AVAILABLE   UPGRADE     READY   REASON      AGE
etcd   Etcd.v1.etcd.coreos.com   1           1           Automatic   True    Installed   19s" "$(k get Apps)"
is "A7 values reach the chart: 2 replicas, live and ready" "2 2" \
	"$(k get deployment etcd-operator -n etcd -o 'jsonpath={.spec.replicas} {.status.readyReplicas}')"
is "A7 ownerReferences are set" "AppType etcd" \
	"$(k get ist install.1.etcd.com.tectonic.storage -o 'jsonpath={.metadata.ownerReferences[0].kind} {.metadata.ownerReferences[0].name}')"
code "A7 the spec of a strategy is immutable: 422" 1 "immutable" k patch ist install.1.etcd.com.tectonic.storage \
	--type=merge -p '{"spec":{"strategy":{"values":{"replicas":3}}}}'
soon "A8 the owner annotation is an ownerReference" "AppType/etcd Namespace/kube-system" sh -c \
	"kubectl get crd etcds.etcd.coreos.com -o 'jsonpath={range .metadata.ownerReferences[*]}{.kind}/{.name} {end}' | tr ' ' '\n' | sort | xargs"

is "A2 an instance by kubectl" "etcdcluster.etcd.coreos.com/etcd-purple-ant created" "$(k create -f etcd-instance.yaml 2>&1)"
is "A11 instances are listed" "NAME              SIZE   VERSION
etcd-purple-ant   3      3.2.2" "$(k get etcds)"
sed 's/size: 3/size: "x"/; s/purple-ant/bad/' etcd-instance.yaml >bad.yaml
code "A10 a wrong size is refused by the schema" 1 "spec.size" k create -f bad.yaml
is "A12 the operator reports outputs" "etcdcluster.etcd.coreos.com/etcd-purple-ant patched" \
	"$(k patch etcd etcd-purple-ant --subresource=status --type=merge -p '{"status":{"outputs":{"serviceName":"etcd-purple-ant.service"}}}' 2>&1)"
is "A12 and they are shown" "etcd-purple-ant.service" \
	"$(k get etcd etcd-purple-ant -o 'jsonpath={.status.outputs.serviceName}{"\n"}')"
has "A12 alm describe shows them" "etcd-purple-ant.service" "$(alm describe etcd etcd-purple-ant 2>&1)"
is "A12 edit: other managers' outputs stay" "etcd-purple-ant.service 5" \
	"$(k patch etcd etcd-purple-ant --type=merge -p '{"spec":{"size":5}}' >/dev/null; k get etcd etcd-purple-ant -o 'jsonpath={.status.outputs.serviceName} {.spec.size}')"

sed -i "s/aef4455/$digest/" etcd-v2-installstrategy.yaml
is "A13 CRD and strategy of version 2" "customresourcedefinition.apiextensions.k8s.io/etcds.etcd.coreos.com replaced
installstrategy.opinstaller.coreos.com/install.2.etcd.com.tectonic.storage created" \
	"$(k replace -f etcd-v2-crd.yaml 2>&1 && k create -f etcd-v2-installstrategy.yaml 2>&1)"
is "A13 version 2 is installed" "apptype.app.coreos.com/etcd" "$(app_is etcd "status.installedVersion = '2'" 2>&1)"
is "A13 the instance reads as v2" "etcd.coreos.com/v2" \
	"$(k get etcds.v2.etcd.coreos.com etcd-purple-ant -o 'jsonpath={.apiVersion}{"\n"}')"
is "A13 and as v1" "etcd.coreos.com/v1" "$(k get etcds.v1.etcd.coreos.com etcd-purple-ant -o 'jsonpath={.apiVersion}')"
is "A13 the operator is that of strategy 2" "1 install.2.etcd.com.tectonic.storage" \
	"$(k get deployment etcd-operator -n etcd -o 'jsonpath={.spec.replicas} {.metadata.ownerReferences[0].name}')"
is "A30 phases after the upgrade" "install.1.etcd.com.tectonic.storage Superseded
install.2.etcd.com.tectonic.storage Succeeded" \
	"$(k get ist -o 'jsonpath={range .items[*]}{.metadata.name} {.status.phase}{"\n"}{end}')"
soon "A9 the newest managed version is shown" "Etcd.v2.etcd.coreos.com" sh -c "kubectl get Apps etcd --no-headers | awk '{print \$2}'"
finish
