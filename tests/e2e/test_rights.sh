#!/bin/bash
# The rights of deploy/charts/alm, with the audit records and the webhook on the cluster, are exactly what alm controller asks for: it plays the story with the token of that
# account, each request is written down on its way, and no rule is missing and none is more. On alm server; on a real
# Kubernetes with ALM_TEST_CLUSTER=KUBECONFIG (an empty one, of an administrator).
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
# shellcheck source=tests/e2e/controllers.sh
. tests/e2e/controllers.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - rights # SKIP no kubectl"
	echo 1..1
	exit 0
}
manifest=$dir/alm.yaml
records=$(free_port)
hook=$(free_port)
front() { # NAME CA: a certificate for a client
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" -keyout "$1.key" 2>/dev/null |
		openssl x509 -req -CA "$2.crt" -CAkey "$2.key" -days 2 -extfile <(echo extendedKeyUsage=clientAuth) -out "$1.crt" 2>/dev/null
}
"$alm_bin" template alm deploy/charts/alm -n alm-system --set createNamespace=true,auditRecords.enabled=true,admissionWebhook.enabled=true >"$manifest"
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
	# What the API server of a cluster has: the CA that its requests for users come with.
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=ca -keyout ca.key -out ca.crt -days 2 2>/dev/null
	front front ca
	front other ca
	k create configmap extension-apiserver-authentication -n kube-system --from-file=requestheader-client-ca-file=ca.crt \
		--from-literal='requestheader-allowed-names=["front"]' --from-literal='requestheader-username-headers=["X-Remote-User"]' \
		--from-literal='requestheader-group-headers=["X-Remote-Group"]' >/dev/null
fi
# ALM runs on this machine: the API server has to find it here. No embedded one serves APIServices of others.
services=("alm-webhook=$hook")
[ "$absent" = none ] && services+=("alm-records=$records")
found_here "$manifest" "${services[@]}"
k apply -f "$manifest" >"$dir/applied" 2>&1
none "the manifest is applied" seek -vE -e ' (created|configured|unchanged)$' -e ValidatingAdmissionPolicy -e 'ensure CRDs' -e 'clusterroles/alm-audit-reader is missing' "$dir/applied"

# From here on alm controller has the account's token and reaches the server through the recorder.
server=$(k config view --minify -o 'jsonpath={.clusters[0].cluster.server}')
hostport=${server#https://}
openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=recorder -addext subjectAltName=IP:127.0.0.1 -days 2 \
	-keyout key.pem -out cert.pem 2>/dev/null
python3 "$recorder" port cert.pem key.pem "${hostport%:*}" "${hostport#*:}" requests 2>recorder.err &
recording=$!
(
	umask 077
	cat >account.kubeconfig <<END
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:$(written port)", certificate-authority: $dir/cert.pem}}]
users: [{name: u, user: {token: $(k create token alm-controller -n alm-system)}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
END
)
act() {
	exec "$alm_bin" controller --data-dir "$data" --kubeconfig "$dir/account.kubeconfig" --metrics-listen off \
		--records-listen "127.0.0.1:$records" --webhook-listen "127.0.0.1:$hook" --verify-soak 1s --catalog-root "$catalog" >>controller.out 2>>controller.err
}
act &
controller=$!
WAIT_S=90 soon "it brings its definitions" served definitions

# --- the audit records, for the users of the cluster ---
bundle() { k get apiservice v1alpha1.audit.app.coreos.com -o 'jsonpath={.spec.caBundle}' | base64 -d | grep -c BEGIN; }
soon "the APIService has ALM's CA" 1 bundle
k get apiservice v1alpha1.audit.app.coreos.com -o 'jsonpath={.spec.caBundle}' | base64 -d >records.crt
list=/apis/audit.app.coreos.com/v1alpha1/auditrecords
ask() { # PATH [OPTION...]: status and text
	curl -s --noproxy '*' --cacert records.crt --resolve "alm-records.alm-system.svc:$records:127.0.0.1" -w ' %{http_code}' "${@:2}" \
		"https://alm-records.alm-system.svc:$records$1"
}
k create clusterrolebinding readers --clusterrole=alm-audit-reader --group=readers >/dev/null
token=$(k create token default -n default 2>/dev/null) || { k create serviceaccount default -n default >/dev/null && token=$(k create token default -n default); }
has "a token that may not read" "cannot list resource" "$(ask $list -H "Authorization: Bearer $token")"
k create clusterrolebinding reader --clusterrole=alm-audit-reader --serviceaccount=default:default >/dev/null
may() { ask "$list" -H "Authorization: Bearer $token" | tr -d '\n' | grep -c '"LogOpened".* 200$'; }
soon "one that may" 1 may
has "one that is none" " 401" "$(ask $list -H "Authorization: Bearer x$token")"
has "nobody" " 401" "$(ask $list)"
has "who only says who he is" " 401" "$(ask $list -H 'X-Remote-User: root' -H 'X-Remote-Group: system:masters')"
if [ "$absent" = none ] && ! speaks_for_users; then
	skip "kubectl get auditrecords" "this cluster's API server has no --requestheader-client-ca-file: it serves no APIService of others"
elif [ "$absent" = none ]; then
	real() { k get --raw "$list?limit=1" 2>&1 | grep -o LogOpened; }
	soon "kubectl get auditrecords" LogOpened real
	has "denied to others" "cannot list resource" "$(k get auditrecords --as bob 2>&1)"
	has "as the group of readers" "auditrecord.audit.app.coreos.com/1" "$(k get auditrecords 1 -o name --as bob --as-group readers 2>&1)"
	has "and not changed" "MethodNotAllowed" "$(k delete auditrecords 1 2>&1)"
else
	proxy() { ask "$1" --cert "$2.crt" --key "$2.key" -H "X-Remote-User: $3" -H "X-Remote-Group: $4" "${@:5}"; }
	believed() { proxy $list front jane readers | tr -d '\n' | grep -c '"LogOpened".* 200$'; }
	soon "whom the API server speaks for" 1 believed
	has "denied to others" 'User \"jane\" cannot list resource \"auditrecords\"' "$(proxy $list front jane others)"
	has "another client of that CA speaks for nobody" " 401" "$(proxy $list other jane readers)"
	has "not changed" "MethodNotAllowed" "$(proxy $list/1 front root system:masters -X DELETE)"
	is "and nothing else is there: discovery" "audit.app.coreos.com" "$(proxy /apis front root system:masters | sed 's/ 200$//' | jq -r '.groups[].name')"
	for path in /metrics /api/v1/secrets /apis/apps/v1/deployments /audit/checkpoint; do
		has "nor $path" " 404" "$(proxy $path front root system:masters)"
	done
fi

# --- the webhook of approvals, for clusters without policies ---
webhook=approvals.opinstaller.coreos.com
hook_ca() { k get validatingwebhookconfiguration $webhook -o 'jsonpath={.webhooks[0].clientConfig.caBundle}' | base64 -d; }
hooked() { hook_ca | grep -c BEGIN; }
soon "the webhook has ALM's CA" 1 hooked
hook_ca >hook.crt
judge() { # PATH NAME: what is said of bob's approval in that name
	curl -s --noproxy '*' --cacert hook.crt --resolve "alm-webhook.alm-system.svc:$hook:127.0.0.1" "https://alm-webhook.alm-system.svc:$hook$1" \
		-d '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"UPDATE","userInfo":{"username":"bob"},
		"resource":{"group":"opinstaller.coreos.com","version":"v1beta1","resource":"installstrategies"},"oldObject":{},
		"object":{"spec":{"approved":true,"approvedBy":"'"$2"'"}}}}'
}
is "which says whose an approval is" true "$(judge /approvals bob | jq .response.allowed)"
has "and whose not" 'spec.approvedBy must be \"bob\"' "$(judge /approvals alice)"
has "and nothing else" "404" "$(judge /apis bob)"
large() { # as large as a cluster has them: 1.5 MiB before, 2.5 MiB after
	{
		printf '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"UPDATE","userInfo":{"username":"bob"},'
		printf '"resource":{"group":"opinstaller.coreos.com","version":"v1beta1","resource":"installstrategies"},"oldObject":{"x":"'
		head -c 1572864 /dev/zero | tr '\0' x
		printf '"},"object":{"x":"'
		head -c 2621440 /dev/zero | tr '\0' x
		printf '"}}}'
	} | curl -s --noproxy '*' --cacert hook.crt --resolve "alm-webhook.alm-system.svc:$hook:127.0.0.1" \
		"https://alm-webhook.alm-system.svc:$hook/approvals" --data-binary @-
}
is "of large objects, too" true "$(large | jq .response.allowed)"
# Anybody of the network may send slowly: 33 at once are one too many for a moment, and keep the next review out for no longer.
cat >slow.py <<'PY'
import socket, ssl, sys, time
context = ssl._create_unverified_context()
slow = [context.wrap_socket(socket.create_connection(("127.0.0.1", int(sys.argv[1])))) for _ in range(33)]
for s in slow:
    s.sendall(b"POST /approvals HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{")
slow[-1].settimeout(1)
try:
    print(slow[-1].recv(100).split(b" ")[1].decode(), flush=True)
except TimeoutError:
    print("a slow machine", flush=True)
if sys.argv[2:]:
    time.sleep(60)
PY
crowd() { python3 slow.py "$hook"; }
soon "more reviews at once than it reads come again" 429 crowd
python3 slow.py "$hook" stay >slow.out &
slow=$!
written slow.out >/dev/null
begun=$SECONDS
soon "slow ones keep none out" true eval 'judge /approvals bob | jq .response.allowed'
is "for a body's time" yes "$([ $((SECONDS - begun)) -lt 4 ] && echo yes)"
kill "$slow"
wait "$slow" 2>/dev/null

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
waiting=$(k get ist -o name | grep 0.9.6)
refused="an approval is of the user who gives it"
if [ "$absent" = none ]; then # as before 1.30
	! has_policies || k delete validatingadmissionpolicybinding approver.opinstaller.coreos.com >/dev/null
	refused="admission webhook \"$webhook\" denied the request: $refused"
fi
as_another() { k patch "$waiting" --type=merge --dry-run=server -p '{"spec":{"approved":true,"approvedBy":"ciso@corp"}}' 2>&1 | grep -o "$refused"; }
soon "nobody approves in another one's name" "$refused" as_another
alm approve "$name" 0.9.6 --reason CHG-4711 >/dev/null
has "an approved upgrade" "$name" "$(app_is "$name" "status.installedVersion = '0.9.6'" 2>&1)"
k delete apptypes.app.coreos.com "$name" --timeout=60s >/dev/null
is "the approver was known by admission" admission \
	"$(alm audit query --data-dir "$data" --subject "InstallStrategy/${waiting#*/}" --type Approval -o json | jq -r '.[].body.who.trust')"
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
	printf 'apiVersion: app.coreos.com/v1alpha1\nkind: Bundle\nmetadata: {name: site}\nspec:\n  source: {git: {url: "file://%s/site.git"}}\n  trigger: {interval: 1s}\n  namespace: site\n  serviceAccountName: site/deployer\n  historyLimit: 0\n' "$catalog" | k create -f - >/dev/null
	page() { k get configmap page -n site -o 'jsonpath={.data.v}' 2>&1 | sed 's/.*NotFound.*/gone/'; }
	state() { k get bundle site -o 'jsonpath={.status.state}{.status.conditions[?(@.status=="False")].message}'; }
	soon "a bundle whose account may write one ConfigMap" Synced state
	is "which is there" 1 "$(page)"
	push 2
	soon "as is its next commit" 2 page
	soon "to the end" Synced state
	installs() { k get installs -n alm-cluster-default -o 'jsonpath={range .items[*]}{.spec.bundle} {.spec.attempt} {.status.state}{end}'; }
	soon "its Install says so, and the one before is forgotten" "site 1 Succeeded" installs
	k patch -n alm-cluster-default "$(k get installs -n alm-cluster-default -o name)" --type=merge -p '{"spec":{"attempt":7}}' >/dev/null
	soon "and is put back when somebody writes it" "site 1 Succeeded" installs
	k delete bundle site --timeout=120s >/dev/null
	is "and it goes with the bundle" gone "$(page)"
	OR_EMPTY=1 lacks "as does what ALM knew of it" k get configmaps,secrets -n alm-system -o name -- 'inv\.site'
else
	skip "a bundle that writes" "no git"
fi
kill "$controller"
wait "$controller" 2>/dev/null
controller=
none "nothing was forbidden" seek -i -e forbidden -e 'cannot be read' controller.err
lacking=$absent
[ "$absent" != none ] || has_policies || lacking=admissionregistration.k8s.io
unasked() { k get clusterroles,roles -A -o json | python3 "$rights" requests alm-controller "$lacking"; }
none "the rules are what was asked for" unasked
# Rules of the account answer most questions; 240 single ones were asked for these three versions.
reviews=$(grep -c -e accessreviews -e rulesreviews requests)
is "what an account may is not asked right by right" 0 "$((reviews / 100))"
has "and more than nothing was asked for" "impersonated" "$(grep -q alm-system:app- requests && echo impersonated)"
[ "$absent" != none ] || k delete apiservice v1alpha1.audit.app.coreos.com >/dev/null # which nobody answers: no namespace would go
k delete namespace site --ignore-not-found --timeout=60s >/dev/null

if [ "$absent" = none ] && ! has_policies; then
	k delete validatingwebhookconfiguration $webhook >/dev/null
	skip "what a stolen token could not do, and what is Blocked" "Kubernetes before 1.30 has no admission policies"
	finish
	exit
fi

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
k delete validatingwebhookconfiguration $webhook >/dev/null # ALM does not run any more
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
blocked="the version is Blocked (DigestMismatch): there is nothing to approve; alm status has the steps"
[ "$absent" = none ] || blocked="the version is Blocked, there is nothing to approve: alm status has the steps" # a rule of its own
code "a blocked version is not approved" 1 "$blocked" \
	k patch ist "$ist" --type=merge -p "$(approval CHG-1)"
code "but labelled" 0 labeled k label ist "$ist" a=b
phase AwaitingApproval
code "one that waits is approved" 0 patched k patch ist "$ist" --type=merge -p "$(approval CHG-1)"
phase Blocked
code "an approval that was there stays" 0 labeled k label ist "$ist" a=c --overwrite
code "and is no other one" 1 "the version is Blocked" k patch ist "$ist" --type=merge -p "$(approval CHG-2)"
k delete ist "$ist" --timeout=30s >/dev/null
finish
