#!/bin/bash
# rbac.readAll=false: ALM reads Kubernetes' own kinds and the groups that are listed. What it may not read it does not guess: an
# upgrade whose definition cannot be judged waits, with the right that is missing, and goes on when it is given.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
# shellcheck source=tests/e2e/controllers.sh
. tests/e2e/controllers.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - narrow rights # SKIP no kubectl"
	echo 1..1
	exit 0
}
chart=$PWD/deploy/charts/alm
controller=
trap '[ -z "$controller" ] || kill "$controller"; up_stop; rm -rf "$dir"' EXIT
manifests
cd "$dir" || exit 1
server_start
give() { "$alm_bin" template alm "$chart" -n alm-system --set createNamespace=true,rbac.readAll=false "$@" | k apply -f - >/dev/null 2>&1; }
give
(
	umask 077
	sed "s|token: .*|token: $(k create token alm-controller -n alm-system)|" "$KUBECONFIG" >account.kubeconfig
)
"$alm_bin" controller --data-dir "$data" --kubeconfig "$dir/account.kubeconfig" --metrics-listen off --verify-soak 1s \
	--catalog-root "$catalog" >controller.out 2>controller.err &
controller=$!
WAIT_S=90 soon "it brings its definitions" served definitions
sed -i 's/30s/2s/' catalog.yaml
package 0.9.4 >/dev/null
k create -f catalog.yaml -f etcd-apptype.yaml >/dev/null
has "an operator whose kinds ALM may not read is installed" etcd "$(app_is etcd "status.installedVersion = '0.9.4'" 2>&1)"
package 0.9.5 >/dev/null
why() { k get apptypes.app.coreos.com etcd -o 'jsonpath={.status.conditions[?(@.type=="UpgradeBlocked")].message}' | grep -o 'cannot list resource "etcds" in API group "etcd.coreos.com"'; }
soon "its upgrade waits, with the right that is missing" 'cannot list resource "etcds" in API group "etcd.coreos.com"' why
is "and has not begun" 0.9.4 "$(k get apptypes.app.coreos.com etcd -o 'jsonpath={.status.installedVersion}')"
give --set 'rbac.readGroups={etcd.coreos.com}'
has "given, it goes on by itself" etcd "$(WAIT_S=120 app_is etcd "status.installedVersion = '0.9.5'" 2>&1)"
finish
