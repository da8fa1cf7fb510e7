#!/bin/bash
# What goes wrong around alm controller on the cluster of ALM_TEST_CLUSTER (an empty one, of an administrator): its API server is
# away for AWAY_S seconds, slow, says 429, knows its token no more, has a certificate of another CA; replicas differ by hours; the
# volume of the log is full, then lost; OBJECTS custom resources that are no app's are there. A version appears in each of these: it is installed once when it is over, without
# a storm of writes and without growing; at the end each transition is in the log once. The leader is killed in
# tests/e2e/test_leader_killed.sh, clocks jump in tests/sim.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
# shellcheck source=tests/e2e/controllers.sh
. tests/e2e/controllers.sh
: "${ALM_TEST_CLUSTER:?names the cluster}" "${AWAY_S:=60}" "${OBJECTS:=10000}"
recorder=$PWD/tests/e2e/request_recorder.py
recording=
controller=
things=
ended() {
	for p in $controller $recording; do kill "$p" 2>/dev/null && wait "$p" 2>/dev/null; done
	[ -z "$things" ] || k delete crd things.example.com --wait=false >/dev/null
	umount "$dir/volume" 2>/dev/null
	rm -rf "$dir"
}
trap ended EXIT
manifests
cd "$dir" || exit 1
export KUBECONFIG=$ALM_TEST_CLUSTER
server=$(k config view --minify -o 'jsonpath={.clusters[0].cluster.server}')
hostport=${server#https://}
certificate() { # NAME [COMMAND...]: which starts openssl
	"${@:2}" openssl req -x509 -newkey rsa:2048 -nodes -subj "/CN=relay $1" -addext subjectAltName=IP:127.0.0.1 -days 2 \
		-keyout key.pem -out cert.pem 2>/dev/null
}
certificate 1
echo ok >mode
python3 "$recorder" port cert.pem key.pem "${hostport%:*}" "${hostport#*:}" requests mode 2>relay.err &
recording=$!
timeout 60 sh -c 'until [ -s port ]; do sleep 0.1; done'
k create namespace alm-system >/dev/null
k create serviceaccount admin -n alm-system >/dev/null
k create clusterrolebinding alm-failures --clusterrole=cluster-admin --serviceaccount=alm-system:admin >/dev/null
token() { (umask 077 && k create token admin -n alm-system >token.new) && mv token.new token; }
token
(
	umask 077
	cat >through.kubeconfig <<END2
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:$(cat port)", certificate-authority: $dir/cert.pem}}]
users: [{name: u, user: {tokenFile: $dir/token}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
END2
)
act() { # DIR [COMMAND...]: which starts it
	"${@:2}" "$alm_bin" controller --data-dir "$1" --kubeconfig "$dir/through.kubeconfig" --metrics-listen off --verify-soak 1s \
		--catalog-root "$catalog" >>controller.out 2>>controller.err &
	controller=$!
}
stop() {
	kill "$controller" 2>/dev/null
	wait "$controller" 2>/dev/null
	controller=
}
# Writes of an upgrade, without the Lease and the anchor of the log: what is refused counts, too.
writes() { grep -cE '^(POST|PUT|PATCH|DELETE) ' <(grep -vE '/leases/|alm-audit-anchor|selfsubject|subjectaccess|/events' requests); }
peak() { awk '/^VmHWM/ {print int($2 / 1024)}' "/proc/$controller/status"; }
at_most() { # NAME LIMIT NUMBER
	if [ "$3" -le "$2" ]; then ok "$1"; else not_ok "$1" "$3, at most $2"; fi
}
usual=0
upgrade_is_bounded() { # NAME WRITES_BEFORE TIMES
	local n=$(($(writes) - $2))
	at_most "$1: no storm of writes" $(($3 * usual)) "$n"
}

mkdir volume
act "$dir/volume/alm"
WAIT_S=90 soon "it brings its definitions" served definitions
first_version
before=$(writes)
version 1.0.1
WAIT_S=90 soon "an upgrade with nothing wrong" 1.0.1 installed
rests() { # a second passes without a write
	local n
	n=$(writes)
	sleep 1
	[ "$(writes)" = "$n" ] && echo yes
}
soon "then it rests" yes rests
usual=$(($(writes) - before))

wrong() { # NAME MODE VERSION SECONDS [TIMES the usual writes, 2]: the version appears while it is so; it ends by itself after SECONDS, or once it is installed (0)
	local before name=$1
	for _ in $(seq 30); do # what the one before still writes is not counted as of this one
		[ -n "$(rests)" ] && break
	done
	before=$(writes)
	echo "$2" >mode
	version "$3"
	if [ "$4" -gt 0 ]; then
		sleep "$4" # sleep: how long it is so
		echo ok >mode
	fi
	WAIT_S=400 soon "$name: the version is installed" "$3" installed
	echo ok >mode
	upgrade_is_bounded "$name" "$before" "${5:-2}"
}
wrong "the API server is away for $AWAY_S s" away 1.0.2 "$AWAY_S"
wrong "each request takes 2 s" "slow 2" 1.0.3 0
wrong "each second request is answered 429" "answer 429 2" 1.0.4 0 3 # each goes out twice
wrong "no request is authenticated for 15 s" "answer 401 1" 1.0.5 15
echo nonsense >token
version 1.0.6
sent=$(wc -l <requests)
heard() { [ "$(wc -l <requests)" -gt "$((sent + 3))" ] && echo yes; }
soon "requests go out with a token that is no good" yes heard
token
WAIT_S=240 soon "and then with the one that its file has by now" 1.0.6 installed

certificate 2
echo renew >mode
version 1.0.7
WAIT_S=120 soon "the API server has a certificate of another CA, and the file of it, too" 1.0.7 installed
renewed=$(grep -c 'the CA of the server is another one' controller.err)
is "which was read once" 1 "$renewed"
if command -v faketime >/dev/null; then
	stop
	act "$dir/volume/alm" faketime -f +3h
	version 1.0.8
	WAIT_S=120 soon "a replica whose clock is 3 hours ahead" 1.0.8 installed
	kill -9 "$(cat "$dir/volume/alm/alm.db.lock")" "$controller" 2>/dev/null # the Lease says that it has it, for 3 hours
	wait "$controller" 2>/dev/null
	act "$dir/volume/alm"
	version 1.0.9
	WAIT_S=120 soon "it was killed, and another one is right" 1.0.9 installed
	kill -9 "$controller"
	wait "$controller" 2>/dev/null
	certificate 3 faketime -f -1d # it is valid by that clock, too
	echo renew >mode
	act "$dir/volume/alm" faketime -f -3h
	version 1.0.10
	WAIT_S=120 soon "and another one is 3 hours behind" 1.0.10 installed
	kill "$(cat "$dir/volume/alm/alm.db.lock")"
	wait "$controller" 2>/dev/null
	act "$dir/volume/alm"
else
	skip "a replica whose clock is 3 hours ahead" "no faketime"
	skip "it was killed, and another one is right" "no faketime"
	skip "and another one is 3 hours behind" "no faketime"
fi

if [ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=64m small small 2>/dev/null; then
	umount small
	stop
	cp -a volume/alm kept
	mount -t tmpfs -o size=64m volume volume
	cp -a kept volume/alm
	act "$dir/volume/alm"
	before=$(installed)
	fallocate -l "$(($(df --output=avail -B1 volume | tail -1) - 1000000))" volume/fill
	version 1.0.11
	full() { grep -c 'DiskFull\|disk of the data folder is full' controller.err | sed 's/^[1-9].*/full/'; }
	soon "a full volume is told" full full
	is "and nothing goes on without the log" "$before" "$(installed)"
	rm volume/fill
	WAIT_S=120 soon "with room again the version is installed" 1.0.11 installed
else
	skip "a full volume is told" "no mount"
	skip "and nothing goes on without the log" "no mount"
	skip "with room again the version is installed" "no mount"
fi

k apply -f - >/dev/null <<'END2'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
END2
things=yes
k wait --for=condition=Established crd/things.example.com >/dev/null
memory=$(peak)
python3 - "$server" "$(cat token)" "$OBJECTS" <<'END2'
import concurrent.futures, http.client, json, ssl, sys, threading
address, token, n = sys.argv[1].removeprefix("https://"), sys.argv[2], int(sys.argv[3])
context, local = ssl._create_unverified_context(), threading.local()
def create(i):
    if not hasattr(local, "c"):
        local.c = http.client.HTTPSConnection(address, context=context)
    local.c.request("POST", "/apis/example.com/v1/namespaces/default/things", json.dumps(
        {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": f"t{i}"}, "data": "x" * 1000}),
        {"Authorization": "Bearer " + token, "Content-Type": "application/json"})
    local.c.getresponse().read()
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    list(pool.map(create, range(n)))
END2
version 1.0.12
WAIT_S=120 soon "a version beside $OBJECTS objects of others" 1.0.12 installed
is "which nobody read" "" "$(grep -E ' /apis/example.com/v1/.*things' requests | head -1)"
grown=$(($(peak) - memory))
at_most "and memory did not grow with them (MiB)" 8 "$grown"

# --- the log, then its loss ---
last_transition
stop
transitions_are_once "$dir/volume/alm"
echo "# usual writes of an upgrade: $usual; peak memory: $memory MiB"
version 1.0.13
act "$dir/new"
refused() { grep -c 'accept-gap' controller.err | sed 's/^[1-9].*/refused/'; }
soon "a lost log is not begun anew in silence" refused refused
is "nothing is done meanwhile" 1.0.12 "$(installed)"
stop
code "accepted" 0 "begins anew as" alm audit accept-gap --data-dir "$dir/new" --reason "volume lost"
act "$dir/new"
WAIT_S=120 soon "it goes on" 1.0.13 installed
stop
code "and the new log is whole" 0 "" alm audit verify --data-dir "$dir/new"
act "$dir/new"
k delete apptype etcd --timeout=60s >/dev/null
k delete catalog community >/dev/null
k delete clusterrolebinding alm-failures >/dev/null
finish
