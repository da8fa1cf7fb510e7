#!/bin/bash
# ALM as an app of ALM: what alm install --to-cluster brought is given to an app, whose version releases/alm-0.1.0.tgz (as it was
# released) is upgraded to the chart of this tree by ALM itself. The Pod is replaced in the middle; no row of the log is lost, and
# with the app ALM does not go. On alm server, or ALM_TEST_CLUSTER.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
# shellcheck source=tests/e2e/controllers.sh
. tests/e2e/controllers.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - self upgrade # SKIP no kubectl"
	echo 1..1
	exit 0
}
acting=
newer=
ended() {
	[ -z "$newer" ] || kill "$newer" 2>/dev/null
	kill -9 "$(cat "$dir/acting" 2>/dev/null)" 2>/dev/null
}
tree=$PWD
cp tests/e2e/releases/alm-0.1.0.tgz "$catalog/"
bare_cluster clusterrolebinding/alm-updater
own_manifest >"$dir/alm.yaml"
cd "$dir" || exit 1
of_release=()
has_policies || of_release=(--set admissionPolicies.enabled=false) # its chart asks no server for its version
# shellcheck disable=SC2086 # nothing, or one flag
alm() { timeout 130 "$alm_bin" $insecure "$@" 2>&1 | grep -v '^Warning: insecure'; return "${PIPESTATUS[0]}"; }
act() { # the Pod of the Deployment: with the folder of the log, and the account of the chart
	"$alm_bin" controller --data-dir "$data" --kubeconfig account.kubeconfig --catalog-root "$catalog" --metrics-listen off --verify-soak 10s \
		--audit-anchor configmap >>controller.out 2>>controller.err &
	acting=$!
	echo $acting >acting
}
dead() { ! grep -qs '^State:[[:space:]]*[^ZX]' "/proc/$1/status"; } # its locks are gone
image() { k get deployment alm-controller -n alm-system -o 'jsonpath={.spec.template.spec.containers[0].image}'; }
field() { k get apptypes.app.coreos.com alm -o "jsonpath={.status.$1}"; }

alm install --to-cluster --image registry.example.com/alm:0.1.0 >/dev/null
(
	umask 077
	kubectl config view --raw --flatten --minify | sed "s|^    token: .*|    token: $(k create token alm-controller -n alm-system)|" >account.kubeconfig
)
act
WAIT_S=90 soon "it brings its definitions" served definitions
alm catalog add own "dir://$catalog" --interval 2s >/dev/null

# Where ALM itself is no app gets in without somebody who may write that namespace, and accounts in it.
k annotate namespace alm-system 'app.coreos.com/apps=*' >/dev/null
alm install evil own/alm -n alm-system >/dev/null
refusal() { alm status | grep -o 'alm-system is no namespace for an app'; }
soon "the default account of an app has no place in alm-system" "alm-system is no namespace for an app" refusal
k create serviceaccount alm-updater -n alm-system >/dev/null
k annotate serviceaccount alm-updater -n alm-system app.coreos.com/apps=alm,evil >/dev/null
k patch apptypes.app.coreos.com evil --type=merge -p '{"spec":{"serviceAccountName":"alm-updater"}}' >/dev/null
unnamed() { alm status | grep -o 'namespace alm-system was not made for app evil'; }
WAIT_S=90 soon "nor has one that \"*\" means" "namespace alm-system was not made for app evil" unnamed
k delete apptypes.app.coreos.com evil --timeout=60s >/dev/null

# What deploy/README.md says.
k annotate namespace alm-system app.coreos.com/apps=alm --overwrite >/dev/null
k annotate serviceaccount alm-updater -n alm-system app.coreos.com/apps=alm --overwrite >/dev/null
k create clusterrolebinding alm-updater --clusterrole=cluster-admin --serviceaccount=alm-system:alm-updater >/dev/null
k annotate -f alm.yaml meta.helm.sh/release-name=alm meta.helm.sh/release-namespace=alm-system --overwrite >/dev/null
k label -f alm.yaml app.kubernetes.io/managed-by=Helm --overwrite >/dev/null
code "ALM is an app" 0 "" alm install own/alm -n alm-system --service-account alm-updater --set image.repository=registry.example.com/alm "${of_release[@]}" --wait
is "of the version that it is" "0.1.0 registry.example.com/alm:0.1.0" "$(field installedVersion) $(image)"
cp -R "$tree/deploy/charts/alm" chart
sed -i 's/^\(version\|appVersion\): .*/\1: 0.1.1/' chart/Chart.yaml
"$alm_bin" package build chart -o "$catalog" >/dev/null
(
	trap 'exit 0' TERM
	until [ "$(image)" = registry.example.com/alm:0.1.1 ]; do sleep 0.1; done
	old=$(cat acting)
	kill -9 "$old"
	until dead "$old"; do sleep 0.1; done
	act
	echo replaced >replaced
	wait
) &
newer=$!
is "a new version of ALM is installed by ALM" apptype.app.coreos.com/alm "$(alm wait apptype alm "status.installedVersion = '0.1.1'" --timeout 100s -o name)"
came() { echo "$(image) $(cat replaced 2>/dev/null)"; }
soon "and has its Pod, which came in the middle" "registry.example.com/alm:0.1.1 replaced" came
is "one Deployment, which belongs to nobody" "1" "$(k get deployments -n alm-system -o json | jq '[.items[] | select(.metadata.ownerReferences == null)] | length')"
last=$(field transitionSeq)
k delete apptypes.app.coreos.com alm --timeout=60s >/dev/null
is "the app goes, ALM stays" "registry.example.com/alm:0.1.1" "$(image)"
quiet_for 2
is "also when the collector has come" "deployment.apps/alm-controller" "$(k get deployments -n alm-system -o name)"
kill "$(cat acting)"
until dead "$(cat acting)"; do sleep 0.1; done
kill "$newer"
wait "$newer" 2>/dev/null
newer=
code "the log is whole" 0 "" "$alm_bin" audit verify --data-dir "$data"
"$alm_bin" audit query --data-dir "$data" --subject AppType/alm --type Transition --limit 10000 -o json >transitions.json
is "each transition is in it once, none is missing" "$(seq "$last")" "$(jq -r '.[].transitionSeq' transitions.json | sort -n | head -"$last")"
none "nothing was forbidden to the account of ALM" seek -i forbidden controller.err
finish
