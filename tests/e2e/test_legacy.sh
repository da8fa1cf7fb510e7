#!/bin/bash
# A33: the documents of 2017 as they were published, through three doors: alm convert, alm create and apply, and
# kubectl create on the embedded server.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - legacy # SKIP no kubectl"
	exit 0
}
old=$PWD/tests/e2e/legacy
up_start
cd "$dir" || exit 1

is "A33 alm convert prints the form of today" "apiVersion: app.coreos.com/v1beta1
kind: AppType
metadata:
  name: etcd
spec:
  type: com.tectonic.storage" "$(alm convert -f "$old/etcd-apptype.yaml" 2>/dev/null)"
has "A33 and says what changed" "etcd-apptype.yaml:1: metadata.type is legacy; stored as spec.type" \
	"$(alm convert -f "$old/etcd-apptype.yaml" 2>&1 >/dev/null)"
alm convert -f "$old" >new.yaml 2>/dev/null
k apply --dry-run=server -f new.yaml >said 2>&1
has "A33 what it prints is what a server takes" "customresourcedefinition.apiextensions.k8s.io/etcds.etcd.coreos.com created" "$(cat said)"
only_said() { { "$@" >/dev/null; } 2>&1; }
none "A33 a document of today stays as it is" only_said alm convert -f "$examples/etcd-crd.yaml"

# --- kubectl, by itself ---
k create -f "$old/etcd-apptype.yaml" >said 2>&1
has "A33 kubectl create of the old AppType" "apptype.app.coreos.com/etcd created" "$(cat said)"
has "A33 with a warning" "Warning: metadata.type is legacy; stored as spec.type" "$(cat said)"
soon "A33 it is one of today" "com.tectonic.storage etcd.com.tectonic.storage" \
	k get apptype etcd -o 'jsonpath={.spec.type} {.status.selfRef}'
for verb in apply apply "apply --server-side --force-conflicts" replace; do
	# shellcheck disable=SC2086 # a verb with its flags
	k $verb -f "$old/etcd-apptype.yaml" >said 2>&1
	has "A33 kubectl $verb of what is there" "Warning: metadata.type is legacy; stored as spec.type" "$(cat said)"
	none "A33 and it is taken" seek -i error said
done
is "A33 nothing of then is stored" "com.tectonic.storage" "$(k get apptype etcd -o 'jsonpath={.spec.type}{.metadata.type}{.metadata.selfRef}')"
sed 's/com.tectonic.storage/com.other/' "$old/etcd-apptype.yaml" >wrong.yaml
code "A33 what cannot change is refused, and named" 1 "metadata.type is com.other and spec.type is com.tectonic.storage" k apply -f wrong.yaml
k create -f "$old/etcd-installstrategy.yaml" >said 2>&1
has "A33 kubectl create of the old InstallStrategy" "installstrategy.opinstaller.coreos.com/install.1.etcd.com.tectonic.storage created" "$(cat said)"
is "A33 its resources are those of today" "etcds.etcd.coreos.com/v1 1" \
	"$(k get ist install.1.etcd.com.tectonic.storage -o 'jsonpath={.spec.resources[0]} {.spec.version}')"
soon "A33 the controllers take it as one of the app" "Blocked" k get ist install.1.etcd.com.tectonic.storage -o 'jsonpath={.status.phase}'
k create -f "$old/website-apptype.yaml" >said 2>&1
has "A33 the stateless app of then" "apptype.app.coreos.com/coreos-website created" "$(cat said)"
printf 'apiVersion: app.coreos.com/v1beta1\nkind: AppType\nmetadata: {name: a, type: b, selfRef: c.d}\n' >wrong.yaml
code "A33 what contradicts itself is refused and named" 1 "metadata.selfRef is c.d, name and type make it a.b" k create -f wrong.yaml

k create -f "$old/etcd-crd.yaml" >said 2>&1
has "A33 kubectl create of the old definition" "customresourcedefinition.apiextensions.k8s.io/etcds.etcd.coreos.com created" "$(cat said)"
has "A33 it says what became of it" "Warning: spec.version is legacy; stored as" "$(cat said)"
k wait --for=condition=Established crd/etcds.etcd.coreos.com --timeout=60s >/dev/null
is "A33 it is one of today, of the app" "etcd.com.tectonic.storage etcd.coreos.com v1" \
	"$(k get crd etcds.etcd.coreos.com -o 'jsonpath={.metadata.annotations.app\.coreos\.com/owner} {.spec.group} {.spec.versions[*].name}')"
k create -f "$old/etcd-instance.yaml" >said 2>&1
has "A33 kubectl create of the old instance" "etcdcluster.etcd.coreos.com/etcd-purple-ant created" "$(cat said)"
has "A33 and which group it is of" "Warning: apiVersion v1alpha1.etcd.coreos.com/v1alpha1 is legacy; stored as etcd.coreos.com/v1" "$(cat said)"
is "A33 a name without group is that of today" "etcd.coreos.com/v1 3" "$(k get etcds etcd-purple-ant -o 'jsonpath={.apiVersion} {.spec.size}')"
for verb in apply apply replace; do
	is "A33 kubectl $verb of the old instance that is there" "etcdcluster" "$(k $verb -f "$old/etcd-instance.yaml" 2>/dev/null | cut -d. -f1)"
	is "A33 kubectl $verb of the old definition that is there" "customresourcedefinition.apiextensions.k8s.io/etcds.etcd.coreos.com" \
		"$(k $verb -f "$old/etcd-crd.yaml" 2>/dev/null | cut -d' ' -f1)"
done
sed 's/size: 3/size: 5/' "$old/etcd-instance.yaml" | k apply -f - >/dev/null 2>&1
is "A33 what the file changes is changed" "etcd.coreos.com/v1 5" "$(k get etcds etcd-purple-ant -o 'jsonpath={.apiVersion} {.spec.size}')"
k apply -f "$old/etcd-instance.yaml" >/dev/null 2>&1
is "A33 kubectl diff finds nothing" "0" "$(k diff -f "$old/etcd-instance.yaml" >/dev/null 2>&1; echo $?)"
has "A33 kubectl get by the old names" etcd-purple-ant "$(k get -f "$old/etcd-instance.yaml" 2>&1)"
sed 's/etcd-purple-ant/wrong/; s/size: 3/size: x/' "$old/etcd-instance.yaml" >wrong.yaml
code "A33 the schema of today judges it" 1 'spec.size: Invalid value: "string"' k create -f wrong.yaml
k create clusterrolebinding mary-views --clusterrole=view --user=mary >/dev/null
code "A33 the rights are those of today's group" 1 'cannot create resource "etcds" in API group "etcd.coreos.com"' \
	k create -f "$old/etcd-instance.yaml" --as mary

# --- a second version, which was a definition of its own ---
sed 's/1.etcd/2.etcd/; s/version: 1$/version: 2/; s/"serviceName": "string"/&, "keySecretName": "string"/' "$old/etcd-crd.yaml" >second.yaml
versions() { k get crd etcds.etcd.coreos.com -o json | jq -c '[.spec.versions[] | [.name, .served, .storage, (.schema.openAPIV3Schema | tostring | contains("keySecretName"))]]'; }
k create clusterrole makes-crds --verb=create --resource=customresourcedefinitions.apiextensions.k8s.io >/dev/null
k create clusterrolebinding mary-makes --clusterrole=makes-crds --user=mary >/dev/null
code "who may not change the first cannot add one" 1 'cannot update resource "customresourcedefinitions"' k create -f second.yaml --as mary
sed 's/EtcdCluster/Other/' second.yaml >wrong.yaml
code "of another kind it is none" 1 "whose spec.names.kind is EtcdCluster and not Other" k create -f wrong.yaml
sed 's/com.tectonic/com.other/' second.yaml >wrong.yaml
code "nor of another app" 1 "belongs to etcd.com.tectonic.storage and not to etcd.com.other.storage" k create -f wrong.yaml
is "and nothing has changed" '[["v1",true,true,false]]' "$(versions)"
has "A33 the second definition is a version of the first" "Warning: etcds.etcd.coreos.com is there; this is its version v2" "$(k create -f second.yaml 2>&1)"
is "A33 both are served, the first is stored" '[["v1",true,true,false],["v2",true,false,true]]' "$(versions)"
has "A33 the same once more exists" "AlreadyExists" "$(k create -f second.yaml 2>&1)"
k wait --for=condition=Established crd/etcds.etcd.coreos.com --timeout=60s >/dev/null
is "A33 the instance is of both" "etcd.coreos.com/v2" "$(k get etcds.v2.etcd.coreos.com etcd-purple-ant -o 'jsonpath={.apiVersion}')"
sed 's/v1alpha1.etcd.coreos.com.*/2.etcd.coreos.com\/2/; s/etcd-purple-ant/second/' "$old/etcd-instance.yaml" >instance2.yaml
has "A33 and one of the second group is" "etcdcluster.etcd.coreos.com/second created" "$(k create -f instance2.yaml 2>&1)"
for file in "$old/etcd-crd.yaml" second.yaml; do
	for verb in apply apply "apply --server-side --force-conflicts" replace; do
		# shellcheck disable=SC2086 # a verb with its flags
		k $verb -f "$file" >said 2>&1
		is "A33 $verb of $(basename "$file") keeps both" '[["v1",true,true,false],["v2",true,false,true]] ' "$(versions) $(grep -i error said)"
	done
	is "A33 and kubectl diff of it finds nothing" "0" "$(k diff -f "$file" >/dev/null 2>&1; echo $?)"
done
code "A33 deleting one of them would take both" 1 "etcds.etcd.coreos.com has 2 versions, and all of them would go, with their objects: kubectl delete crd etcds.etcd.coreos.com does that" k delete -f second.yaml
k delete etcds.etcd.coreos.com second >/dev/null
k get crd etcds.etcd.coreos.com -o json | jq '.spec.versions |= .[:1] | .metadata.annotations."app.coreos.com/legacy-group" = "1.etcd.coreos.com"' | k replace -f - >/dev/null
is "A33 the step that it names leads there" '[["v1",true,true,false]]' "$(versions)"
up_stop
up_start
sed 's/etcd-purple-ant/again/' "$old/etcd-instance.yaml" >again.yaml
has "A33 after a restart as well" "etcdcluster.etcd.coreos.com/again created" "$(k create -f again.yaml 2>&1)"
has "A33 kubectl delete of the old instance" deleted "$(k delete -f "$old/etcd-instance.yaml" 2>&1)"
has "A33 and of the old definition" deleted "$(k delete -f "$old/etcd-crd.yaml" 2>&1)"
lacks "A33 the groups of 2017 go with it" k api-resources -- -E '(^| )(1|v1alpha1)\.etcd'

# --- alm, on any server ---
has "A33 alm create of the old definition" "customresourcedefinition.apiextensions.k8s.io/etcds.etcd.coreos.com created" \
	"$(alm create -f "$old/etcd-crd.yaml" 2>&1)"
k wait --for=condition=Established crd/etcds.etcd.coreos.com --timeout=60s >/dev/null
is "A33 it belongs to the app" "etcd.com.tectonic.storage v1" \
	"$(k get crd etcds.etcd.coreos.com -o 'jsonpath={.metadata.annotations.app\.coreos\.com/owner} {.spec.versions[*].name}')"
has "A33 alm apply of the old instance" "etcdcluster.etcd.coreos.com/etcd-purple-ant created" "$(alm apply -f "$old/etcd-instance.yaml" 2>&1)"
is "A33 it is one of today" "etcd.coreos.com/v1 3" "$(k get etcds etcd-purple-ant -o 'jsonpath={.apiVersion} {.spec.size}')"
has "A33 alm create of the second definition" "customresourcedefinition.apiextensions.k8s.io/etcds.etcd.coreos.com configured" "$(alm create -f second.yaml 2>&1)"
is "A33 it is a version of the first" '[["v1",true,true,false],["v2",true,false,true]]' "$(versions)"
code "A33 the same once more exists, as anywhere" 1 "already exists" alm create -f second.yaml
has "A33 alm apply of the first" "customresourcedefinition.apiextensions.k8s.io/etcds.etcd.coreos.com" "$(alm apply -f "$old/etcd-crd.yaml" 2>&1)"
has "A33 alm apply of the second" "customresourcedefinition.apiextensions.k8s.io/etcds.etcd.coreos.com" "$(alm apply -f second.yaml 2>&1)"
is "A33 keeps both" '[["v1",true,true,false],["v2",true,false,true]]' "$(versions)"
code "A33 alm delete of one of them would take both" 3 "has other versions, too" alm delete -f second.yaml
code "A33 of another kind it is none" 1 "whose spec.names.kind is EtcdCluster and not Other" sh -c "sed s/EtcdCluster/Other/ second.yaml | '$alm_bin' apply -f -"
has "A33 the same file deletes it" "etcdcluster.etcd.coreos.com \"etcd-purple-ant\" deleted" "$(alm delete -f "$old/etcd-instance.yaml" 2>&1)"

# --- a group that is named like that today ---
sed 's/etcd.coreos.com/v2.etcd.example.com/g; /annotations:/,/owner:/d' "$examples/etcd-crd.yaml" | k create -f - >/dev/null
k wait --for=condition=Established crd/etcds.v2.etcd.example.com --timeout=60s >/dev/null
sed 's/etcd.coreos.com/v2.etcd.example.com/' "$examples/etcd-instance.yaml" >today.yaml
is "an instance whose kind the server knows goes as it is" "etcdcluster.v2.etcd.example.com/etcd-purple-ant created" \
	"$(alm create -f today.yaml 2>&1)"

# --- told not to ---
up_stop
data=$dir/deny metrics=off
up_start --legacy-yaml deny
code "--legacy-yaml deny: refused as any server does" 1 'unknown field "metadata.selfRef"' k create -f "$old/etcd-apptype.yaml"
code "--legacy-yaml takes two words" 2 "--legacy-yaml is warn or deny, not maybe" alm up --legacy-yaml maybe --data-dir "$dir/x"
finish
