#!/bin/bash
# The definitions of ALM itself pass ALM's gate: one that a newer ALM brought and that objects need is not taken back by an older
# program, which waits, is not ready, and says what would be lost. Older ones, and none, are put back, with alm controller; alm up
# keeps its own (test_own_crd).
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - own definitions # SKIP no kubectl"
	echo 1..1
	exit 0
}
manifests
cd "$dir" || exit 1
server_start
one=
trap '[ -z "$one" ] || kill "$one"; up_stop; rm -rf "$dir"' EXIT
port=$(free_port)
start() {
	"$alm_bin" controller --data-dir "$data" --catalog-root "$catalog" --metrics-listen "127.0.0.1:$port" --verify-soak 1s \
		>>one.out 2>>one.err &
	one=$!
}
stop() {
	kill "$one"
	wait "$one" 2>/dev/null
	one=
}
ready() { curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port/readyz"; }
novel() { k get crd apps.app.coreos.com -o 'jsonpath={.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.novel.type}'; }
start
WAIT_S=90 soon "it brings its definitions and is ready" 200 ready
stop
k patch crd apps.app.coreos.com --type=json -p '[{"op": "add", "value": {"type": "string"},
	"path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/novel"}]' >/dev/null
is "a newer ALM had one more field" string "$(novel)"
sed 's/^spec:/spec:\n  novel: used/' etcd-apptype.yaml | k create -f - >/dev/null
is "an app uses it" used "$(k get apptypes.app.coreos.com etcd -o 'jsonpath={.spec.novel}')"
start
told() { grep -q 'apps.app.coreos.com of this version of ALM would not fit to what is there: FieldRemoved' one.err && echo yes; }
WAIT_S=90 soon "the older program refuses its own definition" yes told
has "names the field" "spec.novel" "$(cat one.err)"
is "is not ready" 503 "$(ready)"
is "and has changed nothing" "string used" "$(novel) $(k get apptypes.app.coreos.com etcd -o 'jsonpath={.spec.novel}')"
none "nor begun anything" k get ist -o name
stop
k patch crd apps.app.coreos.com --type=json -p '[{"op": "remove",
	"path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/novel"}]' >/dev/null
start
WAIT_S=90 soon "an administrator who took it back himself has his way" 200 ready

# --- while it runs ---
package 0.9.4 >/dev/null
k create -f catalog.yaml >/dev/null
app_is etcd "status.installedVersion = '0.9.4'" >/dev/null
# Whatever is written on them, they belong to no app.
k annotate crd apps.app.coreos.com app.coreos.com/owner=etcd.com.tectonic.storage >/dev/null
code "a definition of ALM goes with no app: exit 3" 3 "--with-crd: apps.app.coreos.com is a definition of ALM itself" \
	alm delete apptype etcd --with-crd apps.app.coreos.com=1
is "nothing is deleted" "etcd" "$(k get apptypes -o 'jsonpath={.items[*].metadata.name}')"
fields() { k get crd "$1" -o json | jq -c '.spec.versions[0].schema.openAPIV3Schema.properties.status.properties | has("candidates") or has("packageNames")'; }
older() { # CRD FIELD...: what an older ALM, or last year's file, had
	k get crd "$1" -o json | jq --args '.metadata |= {name, resourceVersion} | .spec.versions[0].schema.openAPIV3Schema.properties.status.properties |=
		with_entries(select(.key | IN($ARGS.positional[]) | not))' "${@:2}" | k replace -f - >/dev/null
}
has_status() {
	k get apptype etcd -o json | jq -c '[.status.selfRef, (.status.candidates | length > 0), .status.source.package,
		.status.observedGeneration == .metadata.generation]'
}
older apps.app.coreos.com candidates source selfRef
soon "an older definition is put back" true fields apps.app.coreos.com
has "and the log tells" "somebody else has touched a definition of ALM, which is put back\" name=apps.app.coreos.com what=changed" "$(cat one.err)"
put_back() { k get events -n default -o json | jq -r --arg n "$1" '[.items[] | select(.reason == "DefinitionPutBack" and .involvedObject.name == $n)] | last | .message'; }
p="spec.versions[0].schema.openAPIV3Schema.properties.status.properties"
soon "and an Event names it, who it was, and what" \
	"definition apps.app.coreos.com of ALM was changed (claimed by manager kubectl-replace); it is put back: $p.selfRef was gone, $p.source was gone, $p.candidates was gone" put_back apps.app.coreos.com
older apps.app.coreos.com candidates source selfRef # the second one within a minute is put back after a second
k patch apptype etcd --type=merge -p '{"spec":{"displayName":"meanwhile"}}' >/dev/null
soon "what was written meanwhile is written again" '["etcd.com.tectonic.storage",true,"etcd-operator",true]' has_status
k delete crd catalogs.app.coreos.com >/dev/null
soon "and one that is deleted" true fields catalogs.app.coreos.com
soon "an Event tells that, too" "definition catalogs.app.coreos.com of ALM was deleted, and its objects with it; it is put back" put_back catalogs.app.coreos.com
k wait --for=condition=Established crd/catalogs.app.coreos.com --timeout=60s >/dev/null
k create -f catalog.yaml >/dev/null
soon "a Catalog is read again" 1 k get catalog community -o 'jsonpath={.status.versions}'

# A version that an object can be read in is not taken from it: what was changed is told, and stays until it is taken back.
k get crd apps.app.coreos.com -o json | jq 'del(.metadata.managedFields) | .spec.versions += [.spec.versions[0] | .name = "v9" | .storage = false]' |
	k replace -f - >/dev/null
kept() { k get events -n default -o json | jq -r '.items[] | select(.reason == "DefinitionKept") | .message' | grep -o 'is not put back: apps.app.coreos.com .*VersionRemoved apps.app.coreos.com/v9'; }
WAIT_S=120 soon "a version that was added is told in an Event" \
	"is not put back: apps.app.coreos.com of this version of ALM would not fit to what is there: VersionRemoved apps.app.coreos.com/v9" kept
k patch crd apps.app.coreos.com --type=json -p '[{"op": "remove", "path": "/spec/versions/1"}]' >/dev/null
is "the app is as it was" '["etcd.com.tectonic.storage",true,"etcd-operator",true]' "$(has_status)"

# --- while it does not ---
stop
older apps.app.coreos.com candidates source selfRef
k patch apptype etcd --type=merge -p '{"spec":{"displayName":"pruned"}}' >/dev/null
is "the older one has taken what it does not know" '[null,false,null,false]' "$(has_status)"
k patch crd bundles.app.coreos.com --type=json -p '[{"op": "add", "value": {"type": "string"},
	"path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/novel"}]' >/dev/null
start
WAIT_S=90 soon "a field that no object has keeps nobody waiting" 200 ready
none "it has no app as its owner" k get crd apps.app.coreos.com -o 'jsonpath={.metadata.ownerReferences}'
soon "and the status is whole again" '["etcd.com.tectonic.storage",true,"etcd-operator",true]' has_status
finish
