#!/bin/bash
# States that lie or hang (lifecycle.md 4): each is told as it is, and has a way out that works.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - states # SKIP no kubectl"
	exit 0
}
up_start
manifests
cd "$dir" || exit 1
package 0.9.4 >/dev/null
k create -f catalog.yaml -f etcd-apptype.yaml >/dev/null
app_is etcd "status.installedVersion = '0.9.4'" >/dev/null
state() { k get apptype etcd -o 'jsonpath={.status.installedVersion} {.status.conditions[?(@.type=="Ready")].reason}'; }
values() { k patch apptype etcd --type=merge -p "{\"spec\":{\"values\":$1}}" >/dev/null; }
ist() { k get ist install.0.9.4.etcd.com.tectonic.storage -o "jsonpath=$1"; }

# B14: one made by hand that cannot be planned.
cat >hand.yaml <<EOF
apiVersion: opinstaller.coreos.com/v1beta1
kind: InstallStrategy
metadata: {name: install.7.etcd.com.tectonic.storage}
spec:
  appTypeRef: {name: etcd}
  version: 7.0.0
  strategy: {type: helm, helmChart: etcd-operator}
  resources: [etcds.etcd.coreos.com/v1]
EOF
k create -f hand.yaml >/dev/null
hand() { k get ist install.7.etcd.com.tectonic.storage -o 'jsonpath={.status.phase} {.status.conditions[?(@.status=="False")].reason}'; }
soon "B14 a strategy without its archive is Blocked" "Blocked FetchFailed" hand
code "B14 why-not tells its reason" 3 "spec.strategy.sha256" alm why-not etcd 7.0.0
has "B14 why says so too" "FetchFailed" "$(alm why etcd)"
package 0.9.5 >/dev/null
is "B14 and no upgrade waits for it" "apptype.app.coreos.com/etcd" \
	"$(app_is etcd "status.installedVersion = '0.9.5'" 2>&1)"
finish
