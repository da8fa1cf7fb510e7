# shellcheck shell=bash disable=SC2034,SC2119,SC2120
# lib.sh: sourced by the story tests. Runs `alm up` on free ports in a folder of its own and compares
# what users see with the story: tables column by column, times and digests masked.
#	up_start [OPTION...]       starts alm up, catalogs below $catalog; exports KUBECONFIG; sets $dir $data $metrics
#	server_start               alm server alone below $dir/server; exports KUBECONFIG; sets $pid
#	cluster_start              the same, or a real cluster
#	bare_cluster [THING...]    alm server or a real cluster, for alm install --to-cluster; ends with what ended() of the script does
#	up_stop                    SIGTERM, and waits
#	repository BARE CLONE      a git repository, and a clone of it on branch main; git is alice from here on
#	is NAME WANT GOT           equal after mask
#	has NAME TEXT GOT          GOT contains TEXT
#	none NAME COMMAND...       it exits with 0 (of EXIT=N with N) and prints nothing; what it says on standard error does not count
#	lacks NAME COMMAND... -- GREP...	it exits so and prints something (of OR_EMPTY=1 or nothing), in which grep with these arguments
#	                           finds nothing
#	seek GREP... / both COMMAND...	for those two: a grep that may find nothing; standard error counts, too
#	soon NAME WANT COMMAND...  until the output of COMMAND equals WANT, WAIT_S (60) seconds at most, of a sanitizer three times that
#	rests NAME COMMAND...      two looks at what COMMAND counts, three seconds apart, are the same; it may come to rest first, as with soon
#	code NAME N TEXT COMMAND.. exit status and a text of the output
#	skip NAME WHY              what it would take is not on this machine
#	next_steps [APP]           the steps that alm status prints, a line each
#	run_step NAME STEP [FILE]  runs a printed step as it stands, FILE on its standard input; its output is in $said
#	steps_ran                  each format of steps.txt that names this script was run
: "${BUILD:=build}"
alm_bin=$PWD/$BUILD/alm
export ALM=$alm_bin
examples=$PWD/tests/e2e/examples
demo=$PWD/deploy/demo
dir=$(mktemp -d)
data=$dir/data
catalog=$dir/catalog
export HOME=$dir
mkdir -p "$catalog"
pid=
controller_flags=() # more of cluster_start, on a cluster
tests=0
patience=1
[ -n "${SANITIZE:-}" ] && patience=3 # slower, and the machine of CI may be, too
wait_s=$((60 * patience))

up_stop() {
	[ -n "$pid" ] && kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	pid=
}
trap 'up_stop; rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM

repository() {
	export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=alice GIT_AUTHOR_EMAIL=a@example.com
	export GIT_COMMITTER_NAME=alice GIT_COMMITTER_EMAIL=a@example.com
	git init -q --bare -b main "$1"
	git clone -q "$1" "$2" 2>/dev/null
	git -C "$2" checkout -q -b main
}

# What a server that was just started wrote, its port first; a loaded machine takes its time.
written() { # FILE
	# shellcheck disable=SC2016 # the inner shell's
	timeout 90 sh -c 'until [ -s "$1" ]; do sleep 0.1; done' - "$1" || echo "nothing is in $1 after 90 s" >&2
	cat "$1"
}

free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

up_start() {
	: >"$dir/out"
	# an address of its own: on 127.0.0.1 another's connection may have taken the port when alm starts again
	: "${metrics:=127.$(($$ / 65536 % 200 + 1)).$(($$ / 256 % 256)).$(($$ % 256)):$(free_port)}"
	"$alm_bin" up --data-dir "$data" --listen 127.0.0.1:0 --metrics-listen "$metrics" --verify-soak 1s \
		--catalog-root "$catalog" "$@" \
		>"$dir/out" 2>>"$dir/err" &
	pid=$!
	export KUBECONFIG=$data/kubeconfig
	for _ in $(seq 600); do # of a sanitizer on a machine that does other things
		[ -s "$dir/out" ] && break
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.1
	done
	[ -s "$dir/out" ] || {
		not_ok "alm up starts" "$(tail -5 "$dir/err")"
		exit 1
	}
}

# alm server alone, for controllers apart from it.
server_start() {
	: >"$dir/out" # it is waited for what the server says, not for what stood there
	"$alm_bin" server --data-dir "$dir/server" --listen 127.0.0.1:0 --simulate-workloads >"$dir/out" 2>"$dir/err" &
	pid=$!
	timeout 60 sh -c "until [ -s '$dir/out' ]; do sleep 0.1; done" || {
		not_ok "alm server starts" "$(tail -5 "$dir/err")"
		exit 1
	}
	export KUBECONFIG=$dir/server/kubeconfig
}

on_cluster() { [ -n "${ALM_TEST_CLUSTER:-}" ]; }
has_policies() { k api-resources --api-group=admissionregistration.k8s.io -o name | grep -q validatingadmissionpolicies; } # since Kubernetes 1.30
# The manifest that kubectl alone applies; before 1.30 as the README has it made, in the tree.
own_manifest() {
	if has_policies; then
		cat deploy/manifests/alm.yaml
	else
		"$alm_bin" template alm deploy/charts/alm -n alm-system --set createNamespace=true --kube-version 1.29
	fi
}

# alm up; or alm controller on the real cluster whose kubeconfig ALM_TEST_CLUSTER is, and that may be written to.
cluster_start() {
	on_cluster || {
		up_start
		return
	}
	KUBECONFIG=$ALM_TEST_CLUSTER kubectl proxy --port=0 >"$dir/proxy" 2>&1 &
	proxy=$!
	trap 'kill "$proxy"; up_stop; rm -rf "$dir"' EXIT
	timeout 60 sh -c "until grep -q 127.0.0.1: '$dir/proxy'; do sleep 0.1; done"
	export KUBECONFIG=$dir/kubeconfig
	kubectl config set-cluster c "--server=http://$(grep -o '127\.0\.0\.1:[0-9]*' "$dir/proxy")" >/dev/null
	kubectl config set-context c --cluster=c >/dev/null
	kubectl config use-context c >/dev/null
	: "${metrics:=127.0.0.1:$(free_port)}"
	cluster_again
	timeout 60 sh -c 'until kubectl wait --for=condition=Established crd/apps.app.coreos.com; do sleep 0.5; done' >/dev/null 2>&1
}

# The same after up_stop.
cluster_again() {
	on_cluster || {
		up_start
		return
	}
	"$alm_bin" controller --data-dir "$data" --metrics-listen "$metrics" --verify-soak 1s --catalog-root "$catalog" "${controller_flags[@]}" \
		>>"$dir/out" 2>>"$dir/err" &
	pid=$!
}

# Without ALM: alm server, or the real cluster, with a volume for its log as one without a provisioner needs it, which goes at the
# end with each THING, as soon as nothing uses it; makes_volume: the script makes it, on the $node of
# first_node. $insecure: what alm has to be told of it.
bare_cluster() {
	if [ -n "${ALM_TEST_CLUSTER:-}" ]; then
		(umask 077 && cp "$ALM_TEST_CLUSTER" "$dir/kubeconfig")
		export KUBECONFIG=$dir/kubeconfig
		of_cluster=(pv/alm-log "$@")
		[ -n "${makes_volume:-}" ] || log_volume
	else
		server_start
	fi
	insecure=$(grep -q 'insecure-skip-tls-verify: true' "$KUBECONFIG" && echo --insecure-skip-tls-verify)
	trap 'ended; [ -z "${of_cluster:-}" ] || k delete "${of_cluster[@]}" --ignore-not-found --wait=false >/dev/null; up_stop; rm -rf "$dir"' EXIT
}
# The name that a kubelet gives its node, where there are simulated nodes, or none.
first_node() {
	node=$(k get nodes -o 'jsonpath={.items[0].metadata.name}' 2>/dev/null)
	[ -n "$node" ] || k create -f - <<<'{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}}' >/dev/null
	k label node "${node:=node-1}" "kubernetes.io/hostname=$node" >/dev/null 2>&1
	node=$(k get node "$node" -o 'jsonpath={.metadata.labels.kubernetes\.io/hostname}')
}
log_volume() {
	k apply -f - >/dev/null <<'END'
apiVersion: v1
kind: PersistentVolume
metadata: {name: alm-log}
spec:
  capacity: {storage: 2Gi}
  accessModes: [ReadWriteOnce]
  hostPath: {path: /var/lib/alm-log}
  claimRef: {namespace: alm-system, name: alm-log}
END
}

# The manifests of the examples, the catalog pointing at this test's folder.
manifests() {
	cp "$examples"/*.yaml "$dir/"
	sed -i "s|dir:///var/lib/alm/catalog|dir://$catalog|" "$dir/catalog.yaml"
}

alm() { timeout $((wait_s + 70)) "$alm_bin" "$@"; }
k() { timeout 100 kubectl "$@"; }
# A namespace that is there before its app, and says that the app may use it.
namespace_for() { # NAME [APPS]
	k create namespace "$1" >/dev/null
	k annotate namespace "$1" "app.coreos.com/apps=${2:-$1}" >/dev/null
}
package() { "$demo/package.sh" "$1" "${2:-$catalog}"; }
app_is() { alm wait apptype "$1" "$2" --timeout "${WAIT_S:-$wait_s}s" -o name; }

ok() {
	tests=$((tests + 1))
	echo "ok $tests - $1"
}
# What alm said until then goes to standard error once: the folder is gone when somebody asks.
not_ok() {
	tests=$((tests + 1))
	echo "not ok $tests - $1"
	[ -z "${told_err:-}" ] && [ -s "$dir/err" ] && grep -v "level=info" "$dir/err" | tail -12 >&2
	told_err=1
	[ -n "${2:-}" ] && printf '%s\n' "$2" | head -30 | sed 's/^/    # /'
	return 0
}
skip() { # NAME WHY
	tests=$((tests + 1))
	echo "ok $tests - $1 # SKIP $2"
}
# Ages, clock times, digests and audit numbers vary; the width of a column is no part of the comparison.
mask() {
	sed -E 's/sha256:[0-9a-f]{64}/sha256:D/g; s/sha256:[0-9a-f]{3,12}…/sha256:D…/g; s/[0-9]{2}:[0-9]{2}:[0-9]{2}/TIME/g
		s/#[0-9]+/#N/g; s/  +/  /g; s/(^| )[0-9]+[smh]([0-9]+[sm])?( |$)/\1AGE\3/g; s/ +$//'
}
is() {
	local want got
	want=$(printf '%s\n' "$2" | mask)
	got=$(printf '%s\n' "$3" | mask)
	if [ "$want" = "$got" ]; then ok "$1"; else
		not_ok "$1" "$(diff <(echo "$want") <(echo "$got") | grep '^[<>]' | sed 's/^</want/; s/^>/got /')"
	fi
}
has() {
	case $3 in
	*"$2"*) ok "$1" ;;
	*) not_ok "$1: wanted $2" "$3" ;;
	esac
}
# A command that fails prints nothing, too: one whose output is to be empty, or to lack something, has to end well.
seek() { grep "$@" || [ $? -eq 1 ]; }
both() { "$@" 2>&1; }
ends_as_told() { # COMMAND...: its output is in $got, all of a pipe counts
	got=$(set -o pipefail; "$@" 2>"$dir/none.err" </dev/null)
	status=$?
	[ "$status" -eq "${EXIT:-0}" ]
}
none() {
	local got status name=$1
	shift
	if ! ends_as_told "$@"; then
		not_ok "$name: exit $status of $*" "$got$(tail -5 "$dir/none.err")"
	elif [ -n "$got" ]; then
		not_ok "$name" "$got"
	else
		ok "$name"
	fi
}
lacks() {
	local got status name=$1 words=()
	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		words+=("$1")
		shift
	done
	shift
	if ! ends_as_told "${words[@]}"; then
		not_ok "$name: exit $status of ${words[*]}" "$got$(tail -5 "$dir/none.err")"
	elif [ -z "$got${OR_EMPTY:-}" ]; then
		not_ok "$name: ${words[*]} printed nothing to look through"
	elif ! got=$(seek "$@" <<<"$got") || [ -n "$got" ]; then
		not_ok "$name" "$got"
	else
		ok "$name"
	fi
}
soon() {
	local got="" name=$1 want=$2 end=$((SECONDS + ${WAIT_S:-60} * patience)) tenths=2
	shift 2
	local -x KUBECTL_READS=${KUBECTL_READS:-} # tests/lib/kubectl.sh
	while [ $SECONDS -le $end ]; do
		got=$("$@" 2>&1)
		[ "$got" = "$want" ] && {
			ok "$name"
			return
		}
		KUBECTL_READS=${KUBECTL_READS:-$alm_bin}
		sleep 0.$tenths # to ask costs as much of a core as what is waited for
		tenths=$((tenths < 8 ? tenths + 1 : 8))
	done
	not_ok "$name" "want $want
got  $got"
}
# What something else has begun may still be under way on a slow machine; what writes again and again never rests.
rests() {
	local name=$1 was now end=$((SECONDS + wait_s))
	shift
	now=$("$@")
	while [ $SECONDS -le $end ]; do
		was=$now
		quiet_for 3
		now=$("$@")
		[ -n "$now" ] && [ "$was" = "$now" ] && {
			ok "$name"
			return
		}
	done
	not_ok "$name" "first $was, three seconds later $now"
}
code() {
	local name=$1 want=$2 text=$3 got status
	shift 3
	got=$("$@" 2>&1 </dev/null)
	status=$?
	if [ "$status" -ne "$want" ]; then
		not_ok "$name: exit $status, want $want" "$got"
	else
		has "$name" "$text" "$got"
	fi
}
next_steps() { alm status "$@" -o json | jq -r '.apps[].waits[].next[]?, .catalogs[].next[]?, .bundles[]?.next[]?'; }
# A step that only shows what a version lacks answers with 3.
run_step() {
	local want="" status
	mkdir -p "$dir/bin"
	ln -sf "$alm_bin" "$dir/bin/alm"
	[ -n "${helm:-}" ] && [ -x "$helm" ] && ln -sf "$helm" "$dir/bin/helm"
	case $2 in "alm why-not "* | "alm diff "*) [[ $2 == *"|"* ]] || want=3 ;; esac
	said=$(PATH=$dir/bin:$PATH EDITOR=true KUBE_EDITOR=true timeout 130 bash -c "$2" 2>&1 <"${3:-/dev/null}")
	status=$?
	printf '%s\n' "$2" >>"$dir/steps.ran"
	if [ -z "$2" ]; then
		not_ok "$1: no step is printed"
	elif [ "$status" -eq 0 ] || [ "$status" = "$want" ]; then
		ok "$1"
	else
		not_ok "$1: exit $status of $2" "$said"
	fi
}
steps_txt=$PWD/tests/e2e/steps.txt
steps_ran() {
	none "every step of this script was run as it stands" not_run
}
not_run() {
	HELM=${helm:-} python3 - "$steps_txt" "${0##*/}" "$dir/steps.ran" <<'END'
import os, re, sys
table, script, ran = sys.argv[1:]
said = open(ran, encoding="utf-8").read() if os.path.exists(ran) else ""
helm = os.access(os.environ["HELM"], os.X_OK)
for line in open(table, encoding="utf-8"):
    fmt, _, name = line.rstrip("\n").partition("\t")
    if name.strip() != script or ("helm " in fmt and not helm):
        continue
    wanted = "[^\n]*".join(re.escape(part) for part in re.split(r"%(?:\.\*)?(?:s|lld|d)", fmt))
    if not re.search("(?m)^" + wanted, said):
        print(fmt)
END
}
# Nothing is to happen in these seconds; what would is seen after them.
quiet_for() {
	sleep "$1" # sleep: what does not come cannot be waited for
}
# Requests that write at the server whose metrics are at $metrics, but for Leases; and when its own first ones are over.
writes() { curl -s "http://$metrics/metrics" | awk '/^alm_api_requests_total.*verb="(create|update|patch|apply|delete|deletecollection)"/ && !/resource="leases"/ {n += $NF} END {print n + 0}'; }
settled() {
	local n
	n=$(writes)
	next_second
	[ "$(writes)" = "$n" ] && echo settled
}
# The next time stamp, in whole seconds, is another one.
next_second() {
	local was=$EPOCHSECONDS
	while [ "$EPOCHSECONDS" = "$was" ]; do sleep 0.1; done
}
finish() { echo "1..$tests"; }
