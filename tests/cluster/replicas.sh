#!/bin/bash
# The chart as a cluster has it, on the cluster of ALM_TEST_CLUSTER: what its Deployment would run runs here, with the flags that it
# says and the token of its account. Two replicas, of which the one that acts is killed in the middle of ROUNDS upgrades (at most 5);
# then ALM with the webhook of approvals and the audit records, whose CAs are replaced (on a clock that runs 20 times as fast) while
# InstallStrategies are written all the time: no write is held up, none is judged by nobody, and the former CA is worth nothing.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
# shellcheck source=tests/e2e/controllers.sh
. tests/e2e/controllers.sh
: "${ALM_TEST_CLUSTER:?names the cluster}" "${ROUNDS:=3}" "${SEED:=$$}"
RANDOM=$SEED
[ "$ROUNDS" -le 5 ] || ROUNDS=5
KILL_S=0
chart=$PWD/deploy/charts/alm
pids=()
writing=
hook_name=approvals.opinstaller.coreos.com
service_name=v1alpha1.audit.app.coreos.com
ended() {
	watch_ends
	[ -z "$writing" ] || kill "$writing" 2>/dev/null
	kill -9 "${pids[@]}" 2>/dev/null
	[ "$(readlink "/proc/$(acts)/exe")" = "$alm_bin" ] && kill -9 "$(acts)"
	k delete validatingwebhookconfiguration/$hook_name apiservice/$service_name --ignore-not-found >/dev/null 2>&1
	rm -rf "$dir"
}
trap ended EXIT
manifests
cd "$dir" || exit 1
(umask 077 && cp "$ALM_TEST_CLUSTER" kubeconfig)
export KUBECONFIG=$dir/kubeconfig
records=$(free_port)
hook=$(free_port)
chart() { # VALUES: rendered, on the cluster
	"$alm_bin" template alm "$chart" -n alm-system --kube-version "$(k version -o json | jq -r .serverVersion.gitVersion)" --set "createNamespace=true,$1" >manifest.yaml
	found_here manifest.yaml "alm-records=$records" "alm-webhook=$hook"
	k apply --server-side --force-conflicts -f manifest.yaml 2>&1 | seek -v -e 'serverside-applied$' -e '^Warning'
}
flags() { # those of the Deployment, with places of this machine
	k get deployment alm-controller -n alm-system -o json | jq -r '.spec.template.spec.containers[0].args[1:][]' |
		sed -e "s|^--data-dir=.*|--data-dir=$data|" -e 's|^--metrics-listen=.*|--metrics-listen=off|' \
			-e "s|^--records-listen=.*|--records-listen=127.0.0.1:$records|" -e "s|^--webhook-listen=.*|--webhook-listen=127.0.0.1:$hook|"
}
start() { # [COMMAND...]: which starts it
	local args
	mapfile -t args < <(flags)
	"$@" "$alm_bin" controller "${args[@]}" --kubeconfig "$dir/account.kubeconfig" --catalog-root "$catalog" >>controller.out 2>>controller.err &
	pids+=($!)
}
stop_all() { # who acts may be a child of faketime, which does not hand a signal on
	local acting
	acting=$(acts)
	[ "$(readlink "/proc/$acting/exe")" = "$alm_bin" ] && kill "$acting"
	kill "${pids[@]}" 2>/dev/null
	wait "${pids[@]}" 2>/dev/null
	while [ "$(readlink "/proc/$acting/exe")" = "$alm_bin" ]; do sleep 0.1; done
	pids=()
}

# --- two replicas ---
none "the chart with two replicas is applied" chart replicas=2
(
	umask 077
	k config view --raw --flatten --minify | sed "s|^    token: .*|    token: $(k create token alm-controller -n alm-system)|" >account.kubeconfig
)
start
start
WAIT_S=90 soon "one acts, with the rights and flags of the chart" served definitions
first_version
kill_in_upgrades 9
stop_all
transitions_are_once "$data"
none "nothing was forbidden to the account" seek -i forbidden controller.err

# --- the CAs of the webhook and the audit records are replaced ---
command -v faketime >/dev/null || {
	skip "CAs are replaced" "no faketime"
	finish
	exit
}
none "the chart with the webhook and the records is applied" chart admissionWebhook.enabled=true,auditRecords.enabled=true,admissionPolicies.enabled=false
k delete validatingadmissionpolicybinding approver.opinstaller.coreos.com blocked.opinstaller.coreos.com --ignore-not-found >/dev/null # as before 1.30
due() { # NAME: a CA of which a fifth of its life is left
	faketime -f -8d openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" -days 10 \
		-keyout "$data/$1.key" -out "$data/$1.crt" 2>/dev/null
	chmod 600 "$data/$1.key" "$data/$1.crt"
}
due webhook-ca
due records-ca
cp "$data/webhook-ca.crt" former.crt
cp "$data/webhook-ca.key" former.key
start faketime -f '+0 x20'
bundle_of() { # webhook|records
	case $1 in
	webhook) k get validatingwebhookconfiguration $hook_name -o 'jsonpath={.webhooks[0].clientConfig.caBundle}' ;;
	records) k get apiservice $service_name -o 'jsonpath={.spec.caBundle}' ;;
	esac | base64 -d
}
number_of() { bundle_of "$1" | grep -c BEGIN; }
has_former() { bundle_of webhook | grep -cF "$(sed -n 2p former.crt)"; }
soon "the former CA and the next one stand beside each other in the webhook" 2 number_of webhook
is "the former one is one of them" 1 "$(has_former)"
soon "and in the APIService" 2 number_of records
waiting=$(k get ist -o name | head -1)
me=$(k auth whoami -o 'jsonpath={.status.userInfo.username}')
touch writing
while [ -e writing ]; do
	k annotate "$waiting" "n=$((n = ${n:-0} + 1))" --overwrite 2>&1 # annotated
	k patch "$waiting" --type=merge --dry-run=server -p '{"spec":{"approved":true,"approvedBy":"mallory"}}' 2>&1
	bundle_of records >trusted # before the connection: on that clock a handshake has a second
	curl -s --noproxy '*' --cacert trusted --resolve "alm-records.alm-system.svc:$records:127.0.0.1" -o /dev/null -w 'records %{http_code} %{errormsg}\n' \
		"https://alm-records.alm-system.svc:$records/readyz"
done >written &
writing=$!
replaced() { [ "$(has_former)" = 0 ] && number_of webhook; }
WAIT_S=240 soon "ten minutes of its clock later the webhook has the next one alone" 1 replaced
WAIT_S=60 soon "and the APIService, too" 1 number_of records
quiet_for 3 # what is written with the next one alone
rm writing
wait "$writing"
writing=
none "no write was held up, none was judged by nobody" seek -vE -e ' annotated?$' -e 'an approval is of the user who gives it.*' -e '^records 200 $' written
is "there were writes" yes "$([ "$(grep -cE ' annotated?$' written)" -ge 10 ] && echo yes)"
is "and refusals" yes "$([ "$(grep -c 'an approval is of the user' written)" -ge 10 ] && echo yes)"
echo "# $(grep -c . written) requests while the CAs were replaced; by $me"
stop_all

# Who has the former key, and the webhook's address, says yes to everything.
faketime -f -1d openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=alm -keyout false.key -out false.csr 2>/dev/null
openssl x509 -req -in false.csr -CA former.crt -CAkey former.key -CAcreateserial -days 1 -out false.crt \
	-extfile <(echo subjectAltName=DNS:alm-webhook.alm-system.svc) 2>/dev/null
python3 - "$hook" <<'PY' &
import http.server, json, ssl, sys
class Yes(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        uid = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["request"]["uid"]
        body = json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": {"uid": uid, "allowed": True}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Yes)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("false.crt", "false.key")
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
PY
pids+=($!)
believed() { k patch "$waiting" --type=merge --dry-run=server -p '{"spec":{"approved":true,"approvedBy":"mallory"}}' 2>&1 | grep -o 'certificate signed by unknown authority\|patched'; }
soon "a certificate of the former CA is not believed" "certificate signed by unknown authority" believed
stop_all

# The files are gone, or another one took the bundle away: a new CA, and its trust, in a moment.
rm "$data"/webhook-ca.*
start
judged() { k patch "$waiting" --type=merge --dry-run=server -p '{"spec":{"approved":true,"approvedBy":"mallory"}}' 2>&1 | grep -o 'an approval is of the user who gives it'; }
soon "a CA whose files were lost is made anew" "an approval is of the user who gives it" judged
k patch validatingwebhookconfiguration $hook_name --type=json -p "[{\"op\":\"replace\",\"path\":\"/webhooks/0/clientConfig/caBundle\",\"value\":\"$(base64 -w0 former.crt)\"}]" >/dev/null
WAIT_S=90 soon "a bundle of somebody else's is written over" "an approval is of the user who gives it" judged
stop_all
code "the log is whole still" 0 "" alm audit verify --data-dir "$data"
none "nothing was forbidden to the account" seek -i forbidden controller.err
k delete validatingwebhookconfiguration/$hook_name apiservice/$service_name >/dev/null
start
k delete apptype etcd --timeout=60s >/dev/null
k delete catalog community >/dev/null
stop_all
finish
