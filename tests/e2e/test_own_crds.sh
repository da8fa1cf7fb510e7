#!/bin/bash
# The definitions of ALM itself pass ALM's gate: one that a newer ALM brought and that objects need is not taken back by an older
# program, which waits, is not ready, and says what would be lost.
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
is "nor begun anything" "" "$(k get ist -o name)"
stop
k patch crd apps.app.coreos.com --type=json -p '[{"op": "remove",
	"path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/novel"}]' >/dev/null
start
WAIT_S=90 soon "an administrator who took it back himself has his way" 200 ready
finish
