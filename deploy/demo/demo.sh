#!/bin/bash
# demo.sh: plays the story of the README with the real kubectl, each command before its output.
#   demo.sh            starts `alm up` in a temporary folder, plays, and leaves nothing running
#   demo.sh cluster    the same with `alm controller` against the cluster of $KUBECONFIG
# ALM and KUBECTL name the programs; SOAK is how long workloads must stay available (default 3s).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export ALM=${ALM:-$(cd "$here/../.." && pwd)/build/alm}
KUBECTL=${KUBECTL:-kubectl}
SOAK=${SOAK:-3s}
mode=${1:-up}
work=$(mktemp -d)
export ALM_CATALOG=$work/catalog
mkdir -p "$ALM_CATALOG"
daemon=

cleanup() {
	code=$?
	trap - EXIT INT TERM
	if [ "$mode" = cluster ]; then
		"$KUBECTL" delete apptypes.app.coreos.com etcd --ignore-not-found --timeout=60s >/dev/null 2>&1 || true
		"$KUBECTL" delete catalogs.app.coreos.com community --ignore-not-found >/dev/null 2>&1 || true
		"$KUBECTL" delete crd etcds.etcd.coreos.com --ignore-not-found --timeout=30s >/dev/null 2>&1 || true
	fi
	if [ -n "$daemon" ]; then
		kill "$daemon" 2>/dev/null || true
		wait "$daemon" 2>/dev/null || true
	fi
	[ $code -eq 0 ] || tail -20 "$work/daemon.log" >&2 || true
	rm -rf "$work"
	exit $code
}
trap cleanup EXIT INT TERM

title() { printf '\n## %s\n' "$*"; }
# Prints what a user would type, then runs it.
run() {
	local shown=$*
	shown=${shown//$ALM/alm}
	shown=${shown//$KUBECTL /kubectl }
	shown=${shown//$work/\$WORK}
	shown=${shown//$here/deploy\/demo}
	printf '\n$ %s\n' "$shown"
	"$@"
}
package() { run "$here/package.sh" "$1" "$ALM_CATALOG" | sed "s|$work|\$WORK|"; }
kube() { run "$KUBECTL" "$@"; }
insecure= # set for a cluster whose kubeconfig asks for it
# shellcheck disable=SC2086 # nothing, or one flag
alm() { run "$ALM" $insecure "$@"; }
# Waits in silence for what the next command shows.
# shellcheck disable=SC2086
settle() { "$ALM" $insecure wait apptype etcd "$1" --timeout 2m -o name >/dev/null; }

start_up() {
	"$ALM" up --data-dir "$work/data" --listen 127.0.0.1:0 --metrics-listen 127.0.0.1:0 --verify-soak "$SOAK" \
		--catalog-root "$ALM_CATALOG" >"$work/daemon.log" 2>&1 &
	daemon=$!
	export KUBECONFIG=$work/data/kubeconfig ALM_DATA=$work/data
	for _ in $(seq 100); do
		[ -s "$KUBECONFIG" ] && "$KUBECTL" get crd installstrategies.opinstaller.coreos.com >/dev/null 2>&1 && return
		kill -0 "$daemon" 2>/dev/null || break
		sleep 0.1
	done
	[ -s "$KUBECONFIG" ] || { echo "alm up did not start" >&2; exit 1; }
}

start_controller() {
	: "${KUBECONFIG:?names the cluster}"
	# A copy that only we can read: alm refuses credentials that others may read.
	(umask 077 && "$KUBECTL" config view --raw --flatten >"$work/kubeconfig")
	export KUBECONFIG=$work/kubeconfig
	grep -q 'insecure-skip-tls-verify: true' "$KUBECONFIG" && insecure=--insecure-skip-tls-verify
	export ALM_DATA=$work/data
	# shellcheck disable=SC2086
	"$ALM" controller --data-dir "$work/data" --kubeconfig "$KUBECONFIG" $insecure \
		--metrics-listen 127.0.0.1:0 --verify-soak "$SOAK" --catalog-root "$ALM_CATALOG" >"$work/daemon.log" 2>&1 &
	daemon=$!
	for _ in $(seq 300); do # it brings its CRDs
		"$KUBECTL" wait --for=condition=Established crd/apps.app.coreos.com crd/catalogs.app.coreos.com \
			crd/installstrategies.opinstaller.coreos.com --timeout=60s >/dev/null 2>&1 && return
		kill -0 "$daemon" 2>/dev/null || exit 1
		sleep 0.2
	done
	echo "alm controller did not bring its CRDs" >&2
	exit 1
}

if [ "$mode" = cluster ]; then start_controller; else start_up; fi
sed "s|dir:///var/lib/alm/catalog|dir://$ALM_CATALOG|" "$here/manifests/catalog.yaml" >"$work/catalog.yaml"
cp "$here"/manifests/etcd-*.yaml "$work/"
cd "$work"
KUBECTL=$(command -v "$KUBECTL")

title "1. What runs"
sed "s|$work|\$WORK|g; s|127.0.0.1:[0-9]*|127.0.0.1:PORT|" "$work/daemon.log"
kube get crd apps.app.coreos.com installstrategies.opinstaller.coreos.com -o name

title "2. An operator from a catalog"
package 0.9.4
alm catalog lint "$ALM_CATALOG"
kube create -f catalog.yaml -f etcd-apptype.yaml
kube wait --for=condition=Ready apptype/etcd --timeout=120s
kube get apps.app.coreos.com
kube get catalogs,ist
kube -n etcd get deployments
kube create -f etcd-instance.yaml
kube get etcds

title "3. A version appears: upgrade by itself"
package 0.9.5
alm wait apptype etcd "status.installedVersion = '0.9.5'" --timeout 2m -o name
kube get apps.app.coreos.com
kube -n etcd get deployment etcd-operator -o 'jsonpath={.spec.template.spec.containers[0].image}{"\n"}'

title "4. Manual: the version waits for approval"
kube patch apptype etcd --type=merge -p '{"spec":{"upgrade":{"mode":"Manual"}}}'
package 0.9.6
settle "status.conditions[?type='Ready'].reason = 'AwaitingApproval'"
kube get ist
alm why etcd
alm approve etcd 0.9.6 --reason CHG-4711
alm wait apptype etcd "status.installedVersion = '0.9.6'" --timeout 2m -o name

title "5. A dropped resource version blocks the upgrade"
kube patch apptype etcd --type=merge -p '{"spec":{"upgrade":{"mode":"Automatic"}}}'
package 1.0.0
settle "status.conditions[?type='Ready'].reason = 'UpgradeBlocked'"
sleep 1
kube get apps.app.coreos.com etcd
kube get events --field-selector involvedObject.name=etcd,reason=UpgradeBlocked
alm why etcd
set +e
alm approve etcd 1.0.0 --reason x
echo "exit status $?"
set -e

title "6. The steps it names lead on"
alm crd migrate etcds.etcd.coreos.com --to v2
alm wait apptype etcd "status.installedVersion = '1.0.0'" --timeout 2m -o name
kube get apps.app.coreos.com
kube get etcds

title "7. Who did what, when and why"
alm audit timeline --data-dir "$ALM_DATA" --subject AppType/etcd
alm audit why apptype/etcd --version 0.9.6 --data-dir "$ALM_DATA"
alm audit verify --data-dir "$ALM_DATA"
