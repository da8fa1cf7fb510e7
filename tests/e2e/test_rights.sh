#!/bin/bash
# The rights of deploy/manifests/alm.yaml are exactly what alm controller asks for: it plays the story with the token of that
# account, each request is written down on its way, and no rule is missing and none is more. On alm server; on a real
# Kubernetes with ALM_TEST_CLUSTER=KUBECONFIG (an empty one, of an administrator).
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - rights # SKIP no kubectl"
	echo 1..1
	exit 0
}
manifest=$PWD/deploy/manifests/alm.yaml
recorder=$PWD/tests/e2e/request_recorder.py
rights=$PWD/tests/e2e/rights.py
etcd_crd=$PWD/deploy/demo/charts/overlays/0.9.4/crds/etcds.yaml
recording=
controller=
trap '[ -z "$controller" ] || kill "$controller"; [ -z "$recording" ] || kill "$recording"; up_stop; rm -rf "$dir"' EXIT
manifests
cd "$dir" || exit 1
absent=none
if [ -n "${ALM_TEST_CLUSTER:-}" ]; then
	export KUBECONFIG=$ALM_TEST_CLUSTER
else
	server_start
	absent=admissionregistration.k8s.io
fi
k apply -f "$manifest" >"$dir/applied" 2>&1
is "the manifest is applied" "" "$(grep -vE -e ' (created|configured|unchanged)$' -e ValidatingAdmissionPolicy -e 'ensure CRDs' "$dir/applied")"

# From here on alm controller has the account's token and reaches the server through the recorder.
server=$(k config view --minify -o 'jsonpath={.clusters[0].cluster.server}')
hostport=${server#https://}
openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=recorder -addext subjectAltName=IP:127.0.0.1 -days 2 \
	-keyout key.pem -out cert.pem 2>/dev/null
python3 "$recorder" port cert.pem key.pem "${hostport%:*}" "${hostport#*:}" requests 2>recorder.err &
recording=$!
timeout 60 sh -c 'until [ -s port ]; do sleep 0.1; done'
(
	umask 077
	cat >account.kubeconfig <<END
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:$(cat port)", certificate-authority: $dir/cert.pem}}]
users: [{name: u, user: {token: $(k create token alm-controller -n alm-system)}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
END
)
act() {
	exec "$alm_bin" controller --data-dir "$data" --kubeconfig "$dir/account.kubeconfig" --metrics-listen off \
		--verify-soak 1s --catalog-root "$catalog" >>controller.out 2>>controller.err
}
act &
controller=$!
crds() { k get crd apps.app.coreos.com catalogs.app.coreos.com installstrategies.opinstaller.coreos.com -o name | wc -l; }
WAIT_S=90 soon "it brings its CRDs" 3 crds
sed -i 's/30s/2s/' catalog.yaml
package 0.9.4 >/dev/null
k create -f catalog.yaml >/dev/null
k create -f "$etcd_crd" >/dev/null
k annotate crd etcds.etcd.coreos.com app.coreos.com/owner=etcd.com.tectonic.storage --overwrite >/dev/null
app() { k get apptypes.app.coreos.com -o 'jsonpath={.items[*].spec.type}'; }
soon "a definition that names its owner brings the app" com.tectonic.storage app
name=$(k get apptypes.app.coreos.com -o 'jsonpath={.items[0].metadata.name}')
has "and it is installed" "$name" "$(app_is "$name" "status.installedVersion = '0.9.4'" 2>&1)"
k create -f "$demo/manifests/etcd-instance.yaml" >/dev/null
package 0.9.5 >/dev/null
has "an upgrade by itself" "$name" "$(app_is "$name" "status.installedVersion = '0.9.5'" 2>&1)"
kill "$controller"
wait "$controller" 2>/dev/null
act & # what remembers how long the log is hears of it at once
controller=$!
k patch apptypes.app.coreos.com "$name" --type=merge -p '{"spec":{"upgrade":{"mode":"Manual"}}}' >/dev/null
package 0.9.6 >/dev/null
has "a version waits" "$name" "$(app_is "$name" "status.conditions[?type='Ready'].reason = 'AwaitingApproval'" 2>&1)"
alm approve "$name" 0.9.6 --reason CHG-4711 >/dev/null
has "an approved upgrade" "$name" "$(app_is "$name" "status.installedVersion = '0.9.6'" 2>&1)"
k delete apptypes.app.coreos.com "$name" --timeout=60s >/dev/null
is "the app is gone, its objects stay" "etcdcluster.etcd.coreos.com/etcd-purple-ant" "$(k get etcds -o name)"
k delete catalog community >/dev/null
sed '/^  operator:/,/replicas/d' "$examples/website-apptype.yaml" | k create -f - >/dev/null
has "a package that stands in its AppType" coreos-website "$(app_is coreos-website "status.installedVersion = '1.0.1'" 2>&1)"
k patch apptypes.app.coreos.com coreos-website --type=json -p '[{"op":"remove","path":"/spec/resources/0/outputs"}]' >/dev/null
has "and is changed there" coreos-website "$(app_is coreos-website "status.installedVersion = '1.0.2'" 2>&1)"
made_of() { k get apptypes.app.coreos.com -o name | grep -c www-coreos-com; }
sed 's|quay.io|127.0.0.1:9|' "$examples/website-instance.yaml" | k create -f - >/dev/null
soon "an instance of it is an application" 1 made_of
told() { k get coreos-websites www-coreos-com -o 'jsonpath={.status.conditions[0].message}' | grep -o "oci://127.0.0.1:9/coreos/web:stable"; }
soon "whose state it tells" "oci://127.0.0.1:9/coreos/web:stable" told
k delete coreos-websites www-coreos-com >/dev/null
soon "and which goes with it" 0 made_of
k patch apptypes.app.coreos.com coreos-website --type=json -p '[{"op":"remove","path":"/spec/resources"}]' >/dev/null
soon "without it its Catalog is gone" "" k get catalogs -o name
k delete apptypes.app.coreos.com coreos-website --timeout=60s >/dev/null
k delete crd coreos-websites.web.coreos.com >/dev/null
printf 'apiVersion: app.coreos.com/v1alpha1\nkind: Bundle\nmetadata: {name: site}\nspec: {source: {git: {url: "file://%s/nowhere.git"}}}\n' "$catalog" | k create -f - >/dev/null
site() { k get bundle site -o 'jsonpath={.metadata.finalizers}{.status.conditions[?(@.type=="Ready")].reason}' | grep -c 'bundle.*SourceFailed'; }
soon "a bundle whose repository is not there" 1 site
k delete bundle site --timeout=60s >/dev/null
if command -v git >/dev/null; then
	repository "$catalog/site.git" site
	push() { # VALUE
		printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: page}\ndata: {v: "%s"}\n' "$1" >site/page.yaml
		git -C site add -A && git -C site commit -q -m "$1" && git -C site push -q origin HEAD:main 2>/dev/null
	}
	push 1
	# What README says that a user gives: the account of the bundle, its rights, and that ALM may be it.
	k create namespace site >/dev/null
	k create serviceaccount deployer -n site >/dev/null
	k create role deployer -n site --verb=get,create,patch,delete --resource=configmaps >/dev/null
	k create rolebinding deployer -n site --role=deployer --serviceaccount=site:deployer >/dev/null
	k create role alm-controller -n site --verb=impersonate --resource=serviceaccounts --resource-name=deployer >/dev/null
	k create rolebinding alm-controller -n site --role=alm-controller --serviceaccount=alm-system:alm-controller >/dev/null
	printf 'apiVersion: app.coreos.com/v1alpha1\nkind: Bundle\nmetadata: {name: site}\nspec:\n  source: {git: {url: "file://%s/site.git"}}\n  trigger: {interval: 1s}\n  namespace: site\n  serviceAccountName: site/deployer\n' "$catalog" | k create -f - >/dev/null
	page() { k get configmap page -n site -o 'jsonpath={.data.v}' 2>&1 | sed 's/.*NotFound.*/gone/'; }
	state() { k get bundle site -o 'jsonpath={.status.state}{.status.conditions[?(@.status=="False")].message}'; }
	soon "a bundle whose account may write one ConfigMap" Synced state
	is "which is there" 1 "$(page)"
	push 2
	soon "as is its next commit" 2 page
	soon "to the end" Synced state
	k delete bundle site --timeout=120s >/dev/null
	is "and it goes with the bundle" gone "$(page)"
	is "as does what ALM knew of it" "" "$(k get configmaps,secrets -n alm-system -o name | grep 'inv\.site')"
else
	skip "a bundle that writes" "no git"
fi
kill "$controller"
wait "$controller" 2>/dev/null
controller=
is "nothing was forbidden" "" "$(grep -i -e forbidden -e 'cannot be read' controller.err)"
is "the rules are what was asked for" "" \
	"$(k get clusterroles,roles -A -o json | python3 "$rights" requests alm-controller "$absent")"
# Rules of the account answer most questions; 240 single ones were asked for these three versions.
reviews=$(grep -c -e accessreviews -e rulesreviews requests)
is "what an account may is not asked right by right" 0 "$((reviews / 100))"
has "and more than nothing was asked for" "impersonated" "$(grep -q alm-system:app- requests && echo impersonated)"
k delete namespace site --ignore-not-found --timeout=60s >/dev/null

# --- what a stolen token could not do (policy rights.app.coreos.com) ---
rights_of() { printf 'apiVersion: rbac.authorization.k8s.io/v1\nkind: %s\nmetadata: {name: "%s"%s}\n' "$1" "$2" "${3:+, namespace: $3}"; }
rules() { printf 'rules: [{apiGroups: [%s], resources: [%s], verbs: [%s]}]\n' "$@"; }
binds() { # ROLE SUBJECT [NAMESPACE]
	printf 'roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "%s"}\n' "$1"
	printf 'subjects: [{kind: ServiceAccount, name: %s, namespace: %s}]\n' "$2" "${3:-alm-system}"
}
try() { # NAME MANIFEST
	printf '%s\n' "$2" >try.yaml
	code "$1" 1 "$policy" k --kubeconfig "$dir/account.kubeconfig" create -f try.yaml
}
if [ "$absent" = none ]; then
	policy="denied request"
	try "a ClusterRole that is not alm:..." "$(rights_of ClusterRole other && rules e.io as get)"
	try "one of all groups" "$(rights_of ClusterRole alm:app:x && rules '"*"' '"*"' get)"
	try "one of Kubernetes' own kinds" "$(rights_of ClusterRole alm:app:x && rules '""' secrets get)"
	try "one that hands on what nobody gave" "$(rights_of ClusterRole alm:app:x && rules rbac.authorization.k8s.io 'clusterroles, clusterrolebindings' escalate)"
	try "one of ALM's kinds" "$(rights_of ClusterRole alm:app:x && rules app.coreos.com apps get)"
	try "accounts of others" "$(rights_of ClusterRole alm:app-namespace && rules '""' serviceaccounts impersonate)"
	try "one that takes from others" "$(rights_of ClusterRole alm:app:x && printf 'aggregationRule: {clusterRoleSelectors: [{}]}\nrules: []\n')"
	try "cluster-admin for an app" "$(rights_of ClusterRoleBinding alm:app:x && binds cluster-admin app-x)"
	try "an app's rights for ALM" "$(rights_of ClusterRoleBinding alm:app:x && binds alm:app:x alm-controller)"
	try "or for an account with a token" "$(rights_of ClusterRoleBinding alm:app:x && binds alm:app:x app-x default)"
	try "a namespace's rights in all of them" "$(rights_of ClusterRoleBinding alm:app:x && binds alm:app-namespace app-x)"
	try "in kube-system" "$(rights_of RoleBinding alm:app:x kube-system && binds alm:app-namespace app-x)"
	try "in alm-system" "$(rights_of RoleBinding alm:app:x alm-system && binds alm:app-namespace app-x)"
	try "in a namespace that does not name the app" "$(rights_of RoleBinding alm:app:x default && binds alm:app-namespace app-x)"
	try "a Catalog of elsewhere" "$(cat catalog.yaml)"
	code "the rights of others are not deleted" 1 "$policy" \
		k --kubeconfig "$dir/account.kubeconfig" delete clusterrole view
	{ rights_of ClusterRole alm:app:x && rules e.io as '"*"'; } >try.yaml
	code "what ALM gives is allowed" 0 created k --kubeconfig "$dir/account.kubeconfig" create -f try.yaml
	k delete clusterrole alm:app:x >/dev/null
	is "it is nobody of kube-system" no \
		"$(k --kubeconfig "$dir/account.kubeconfig" auth can-i impersonate serviceaccounts -n kube-system 2>/dev/null)"
	# --- what is Blocked is not approved (policy blocked.opinstaller.coreos.com) ---
	ist=install.1.etcd.com.tectonic.storage
	k create -f "$examples/etcd-installstrategy.yaml" >/dev/null
	me=$(k auth whoami -o 'jsonpath={.status.userInfo.username}')
	approval() { # REASON
		printf '{"spec":{"approved":true,"approvedBy":"%s","approvalReason":"%s"}}' "$me" "$1"
	}
	phase() {
		k patch ist "$ist" --subresource=status --type=merge \
			-p "{\"status\":{\"phase\":\"$1\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\",\"reason\":\"DigestMismatch\",\"message\":\"m\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]}}" >/dev/null
	}
	phase Blocked
	code "a blocked version is not approved" 1 "the version is Blocked (DigestMismatch): there is nothing to approve; alm status has the steps" \
		k patch ist "$ist" --type=merge -p "$(approval CHG-1)"
	code "but labelled" 0 labeled k label ist "$ist" a=b
	phase AwaitingApproval
	code "one that waits is approved" 0 patched k patch ist "$ist" --type=merge -p "$(approval CHG-1)"
	phase Blocked
	code "an approval that was there stays" 0 labeled k label ist "$ist" a=c --overwrite
	code "and is no other one" 1 "the version is Blocked" k patch ist "$ist" --type=merge -p "$(approval CHG-2)"
	k delete ist "$ist" --timeout=30s >/dev/null
else
	skip "what a stolen token could not do" "alm server has no ValidatingAdmissionPolicies: ALM_TEST_CLUSTER"
fi
finish
