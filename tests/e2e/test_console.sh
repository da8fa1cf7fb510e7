#!/bin/bash
# The console (section 11 of the story): who may fetch the page, what it shows, and that its approval is the one of
# `alm approve`. What a browser shows is tested where there is chromium; the requests are tested everywhere.
# shellcheck disable=SC2119,SC2016
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - console # SKIP no kubectl"
	exit 0
}
browser=$PWD/tests/e2e/console_browser.py
page_source=$PWD/alm/console/index.html
up_start
manifests
cd "$dir" || exit 1
url=$(grep -o 'console https://[0-9.:]*/ui$' out | cut -d' ' -f2)
api=${url%/ui}
token=$(cat "$data/token")
# curl with the CA of the server: TLS is what a browser would see
ask() { curl -s --max-time 20 --cacert "$data/ca.crt" "$@"; }
status() { ask -o /dev/null -w '%{http_code} %{content_type}' "$@"; }

# The page is open and empty; nothing else is
is "A29 alm up names the console" "$api/ui" "$url"
is "A29 /ui needs no token" "200 text/html; charset=utf-8" "$(status "$url")"
is "A29 nor does /ui/" "200 text/html; charset=utf-8" "$(status "$url/")"
is "A29 HEAD" "200 text/html; charset=utf-8" "$(status -I "$url")"
for path in /ui/x /ui/../uix /ui//; do
	is "A29 $path is no page" 404 "$(status --path-as-is "$api$path" -H "Authorization: Bearer $token" | cut -d' ' -f1)"
done
for method in POST PUT DELETE PATCH; do
	is "A29 $method is refused" 405 "$(status -X $method "$url" | cut -d' ' -f1)"
done
is "A29 the API stays closed" "401 401 401" "$(for p in /apis/app.coreos.com/v1beta1/apps /uix /apis; do
	status "$api$p" | cut -d' ' -f1
done | xargs)"
ask -D head -o page "$url"
none "A29 the page is the one of the source" cmp page "$page_source"
header() { grep -i "^$1: " head | tr -d '\r' | cut -d' ' -f2-; }
hash_of() { python3 -c 'import base64, hashlib, sys
page, tag = open("page").read(), sys.argv[1]
print(base64.b64encode(hashlib.sha256(page.split(f"<{tag}>")[1].split(f"</{tag}>")[0].encode()).digest()).decode())' "$1"; }
is "A29 only the page's own script and style run" "default-src 'none'; script-src 'sha256-$(hash_of script)'; style-src 'sha256-$(hash_of style)'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'" \
	"$(header content-security-policy)"
is "A29 the other headers" "nosniff no-referrer no-store DENY" \
	"$(header x-content-type-options) $(header referrer-policy) $(header cache-control) $(header x-frame-options)"
none "A29 the page writes text, never markup" \
	seek -noE 'innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|https?://' page

# alm dashboard
is "A29 alm dashboard: no token unless it is asked for" "$url" "$(alm dashboard 2>/dev/null)"
has "A29 it says how to have one" "--service-account NAME the address has one of 10m, with --own-token" "$(alm dashboard 2>&1 >/dev/null)"
is "A29 the own token" "$url#token=$token" "$(alm dashboard --own-token 2>/dev/null)"
has "A29 it says what that token is" "with all its rights" "$(alm dashboard --own-token 2>&1 >/dev/null)"
code "A29 one of the two" 2 "either --service-account or --own-token" alm dashboard --own-token --service-account boss
k create serviceaccount boss >/dev/null
has "A29 a short token: it says that it may not approve" "boss for 10m; it may not approve" \
	"$(alm dashboard --service-account boss 2>&1 >/dev/null)"
k create clusterrole boss --verb=get,list,watch,patch --resource=apps.app.coreos.com,installstrategies.opinstaller.coreos.com >/dev/null
k create clusterrolebinding boss --clusterrole=boss --serviceaccount=default:boss >/dev/null
has "A29 with the role it may" "boss for 10m; it may approve" "$(alm dashboard --service-account boss 2>&1 >/dev/null)"
short=$(alm dashboard --service-account boss 2>/dev/null | sed 's/.*#token=//')
is "A29 the short token ends after ten minutes" 600 "$(python3 -c 'import base64, json, sys
claims = json.loads(base64.urlsafe_b64decode(sys.argv[1].split(".")[1] + "=="))
print(claims["exp"] - claims["iat"])' "$short")"
code "A29 an unknown account" 1 '"nobody" not found' alm dashboard --service-account nobody

# A stranger's address: its token is used after a click, and not in place of the tab's own
login="$(cat <<'END'
const page = require("fs").readFileSync("page", "utf8");
const script = page.split("<script>")[1].split("</script>")[0];
// visit(HASH, KEPT): which tokens the page has sent, then those after the click; and the token that the tab keeps
async function visit(hash, kept) {
	const parts = {}, sent = [], store = kept ? { token: kept } : {};
	const part = (id) => parts[id] ??= { on: {}, value: "", style: {}, append() {}, replaceChildren() {}, setAttribute() {},
		addEventListener(e, f) { this.on[e] = f; } };
	const fetch = (path, o) => { sent.push(o.headers.Authorization.slice(7)); return new Promise(() => {}); };
	const storage = { getItem: (k) => store[k] ?? null, setItem: (k, v) => { store[k] = v; }, removeItem: (k) => { delete store[k]; } };
	new Function("document", "fetch", "sessionStorage", "location", "history", "setInterval", "setTimeout", "clearInterval", script)(
		{ getElementById: part, createElement: () => part(Math.random()), createDocumentFragment: () => part(Math.random()) }, fetch, storage, { hash, pathname: "/ui" },
		{ replaceState() {} }, () => 0, () => 0, () => 0);
	await null;
	const before = [...new Set(sent)].join() || "none", keeps = store.token || "nothing";
	if (!parts.login.hidden) parts.enter.on.click();
	await null;
	console.log(before, keeps, [...new Set(sent)].join() || "none", store.token || "nothing");
}
(async () => {
	await visit("", "");
	await visit("#token=theirs", "");
	await visit("#token=theirs", "ours");
	await visit("#token=ours", "ours");
	await visit("", "ours");
	process.exit();
})();
END
)"
if command -v node >/dev/null; then
	is "A29 a token of the address waits for a click" "none nothing none nothing
none nothing theirs theirs
none ours theirs theirs
ours ours ours ours
ours ours ours ours" "$(node -e "$login" 2>&1)"
else
	echo "ok $((tests += 1)) - A29 a token of the address waits for a click # SKIP no node"
fi

# Another server, by its /version
mkdir web && echo '{"gitVersion":"v1.33.1"}' >web/version
port=$(free_port)
python3 -m http.server --bind 127.0.0.1 -d web "$port" >/dev/null 2>&1 &
web=$!
for _ in $(seq 600); do
	curl -s "http://127.0.0.1:$port/version" >/dev/null && break
	sleep 0.1
done
k config --kubeconfig other set-cluster o --server "http://127.0.0.1:$port" >/dev/null
k config --kubeconfig other set-context o --cluster o >/dev/null
code "A29 a server without console" 1 "http://127.0.0.1:$port is a Kubernetes v1.33.1, which has no console" \
	alm dashboard --kubeconfig other --context o
kill $web

# One version waits, a higher one is blocked
k create -f catalog.yaml -f etcd-apptype.yaml >/dev/null
package 0.9.4 >/dev/null
k wait --for=condition=Ready apptype/etcd --timeout=60s >/dev/null
k create -f etcd-instance.yaml >/dev/null
k patch apptype etcd --type=merge -p '{"spec":{"upgrade":{"mode":"Manual"}}}' >/dev/null
package 0.9.5 >/dev/null
package 1.0.0 >/dev/null
phase() { k get ist "install.$1.etcd.com.tectonic.storage" -o 'jsonpath={.status.phase}'; }
digest() { k get ist "install.$1.etcd.com.tectonic.storage" -o 'jsonpath={.status.plan.digest}'; }
reason() { k get apps etcd -o json | jq -r '.status.candidates[] | select(.version == "1.0.0") | .reason'; }
soon "A20 one version waits" AwaitingApproval phase 0.9.5
soon "A29 another is blocked" ResourceDropped reason
first=$(digest 0.9.5)
is "A29 approved by alm approve" "approved install.0.9.5.etcd.com.tectonic.storage, plan sha256:D…" "$(alm approve etcd 0.9.5 --reason CHG-1 2>&1)"
app_is etcd "status.installedVersion = '0.9.5'" >/dev/null
package 0.9.6 >/dev/null
soon "A20 the next one waits" AwaitingApproval phase 0.9.6

chromium=$(command -v chromium)
no_browser() { echo "ok $((tests += 1)) - $1 # SKIP no chromium"; }
# An address with a token waits for a click
see() {
	local enter=()
	case $1 in *'#token='*) enter=("(document.getElementById('enter').click(), 'entered')") ;; esac
	timeout 100 python3 "$browser" "$1" "${enter[@]}" "${@:2}" 2>&1 | sed '1{/^entered$/d}'
}
cells() { echo "[...document.querySelector('$1')?.children || []].map((c) => c.innerText).join('|')"; }
button() { echo "document.querySelector('button[data-version=\"$1\"]')"; }
waits=$(digest 0.9.6)
if [ -n "$chromium" ]; then
	see "$(alm dashboard --own-token 2>/dev/null)" "$(button 0.9.6)?.innerText" "$(cells 'tr[data-app=etcd]')" \
		"$(cells 'tr[data-version="0.9.6"]')" "$(cells 'tr[data-version="1.0.0"]')" \
		"'buttons ' + document.querySelectorAll('#rows button').length" \
		"'steps ' + document.querySelectorAll('tr[data-version=\"1.0.0\"] ol > li').length" "'at ' + location.href" >seen
	is "A29 the app's row is the one of kubectl get apps" "$(k get apps etcd --no-headers | awk '{NF--; print}' | tr ' ' '|')" \
		"$(sed -n 2p seen | sed 's/|[^|]*$//')"
	has "A20 the waiting version, and what it waits for" "0.9.6|yes|" "$(sed -n 3p seen)"
	has "A20 with its button" "|approve" "$(sed -n 3p seen)"
	steps=$(k get apps etcd -o json | jq -r '.status.candidates[] | select(.version == "1.0.0") | .steps | length')
	has "A29 the blocked version, with its reason" "1.0.0|no|ResourceDropped|" "$(sed -n 4p seen)"
	is "A29 every step in its own line, one button for all" "buttons 1 steps $steps" "$(sed -n 5,6p seen | xargs)"
	is "A29 the token is gone from the address bar" "at $url" "$(sed -n 7p seen)"
	state="document.getElementById('state').textContent"
	has "A29 a wrong token: said in words" "The server does not accept this token: Unauthorized" \
		"$(see "$url#token=wrong" "$state.includes('not accept') && $state")"
	k create serviceaccount nobody >/dev/null
	has "A29 a token without rights: said in words" "The apps cannot be read: apps.app.coreos.com is forbidden" \
		"$(see "$(alm dashboard --service-account nobody 2>/dev/null)" "$state.includes('cannot') && $state")"
	k create clusterrole half --verb=get,list --resource=installstrategies.opinstaller.coreos.com >/dev/null
	k create clusterrolebinding half --clusterrole=half --serviceaccount=default:nobody >/dev/null
	has "A29 and stays so while the strategies can be read" "The apps cannot be read" \
		"$(see "$(alm dashboard --service-account nobody 2>/dev/null)" "$state.includes('cannot') && 'first'" \
			"(readStrategies(session).then(() => { window.again = true; }), 'again')" "window.again && $state" | sed -n 3p)"
	k create clusterrole reader --verb=get,list,watch --resource=apps.app.coreos.com,installstrategies.opinstaller.coreos.com >/dev/null
	k create clusterrolebinding reader --clusterrole=reader --serviceaccount=default:nobody >/dev/null
	refused="document.getElementById('refused').textContent"
	has "A29 who may only read cannot approve, and is told" 'Not approved: installstrategies.opinstaller.coreos.com "install.0.9.6' \
		"$(see "$(alm dashboard --service-account nobody 2>/dev/null)" "$(button 0.9.6) && ($(button 0.9.6).click(), 'asked')" \
			"(document.getElementById('reason').value = 'x', document.getElementById('yes').click(), 'sent')" "$refused")"
	is "A20 it still waits" AwaitingApproval "$(phase 0.9.6)"
	evil='<img src=x onerror=alert(1)><script>alert(1)</script>'
	see "$(alm dashboard --own-token 2>/dev/null)" "$(button 0.9.6)?.innerText" "const e = '${evil//\//\\/}';
		apps.set(e, {metadata: {name: e}, spec: {upgrade: {mode: e}}, status: {primaryKind: e, installedVersion: e,
			availableVersion: e, conditions: [{type: 'Ready', status: e, reason: e, message: e}], candidates: [
			{version: e, installable: false, reason: e, message: e, steps: [e, e]}, {version: e, stuck: e}]}});
		draw(); document.querySelectorAll('#rows img, #rows script').length + ' elements, ' +
			document.getElementById('rows').textContent.split(e).length + ' parts'" >seen
	is "A29 markup in names and messages stays text" "0 elements, 16 parts" "$(sed -n 2p seen)"
	see "$(alm dashboard --own-token 2>/dev/null)" "$(button 0.9.6) && ($(button 0.9.6).click(), 'asked')" \
		"document.getElementById('what').textContent" \
		"(document.getElementById('yes').click(), document.getElementById('refused').textContent)" \
		"(document.getElementById('reason').value = 'CHG-2', document.getElementById('yes').click(), 'sent')" \
		"[...document.querySelectorAll('tr[data-app=etcd] td')][2]?.innerText === '0.9.6' && 'the row followed'" \
		"!document.querySelector('#rows button') && 'no button is left'" >seen
	is "A20 what is approved is said, a reason is asked, the page follows" "asked
Approve etcd 0.9.6: install.0.9.6.etcd.com.tectonic.storage, plan $waits
A reason is required; it is kept in the audit log.
sent
the row followed
no button is left" "$(cat seen)"
else
	for name in "A29 what the page shows" "A20 the approve button"; do no_browser "$name"; done
	# what the page sends
	is "A20 the request of the page" 200 "$(ask -X PATCH -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $token" \
		-H 'Content-Type: application/merge-patch+json' \
		-d "{\"spec\":{\"approved\":true,\"approvedPlan\":\"$waits\",\"approvalReason\":\"CHG-2\"}}" \
		"$api/apis/opinstaller.coreos.com/v1beta1/installstrategies/install.0.9.6.etcd.com.tectonic.storage?fieldManager=alm-console")"
fi
is "A20 it is installed" "apptype.app.coreos.com/etcd" "$(app_is etcd "status.installedVersion = '0.9.6'" 2>&1)"
is "A20 the approval is bound to the plan that was shown" "true $waits CHG-2 alm-console" \
	"$(k get ist install.0.9.6.etcd.com.tectonic.storage --show-managed-fields -o json | jq -r '[.spec.approved, .spec.approvedPlan,
		.spec.approvalReason, (.metadata.managedFields[].manager | select(. == "alm-console"))] | map(tostring) | join(" ")')"
row() { k get auditrecords --field-selector "subject.name=install.$1.etcd.com.tectonic.storage,type=Approval" -o json; }
# All but what differs between any two approvals, and the program: User-Agent is the browser's
same() { row "$1" | jq -S --arg version "$1" --arg digest "$2" '.items | length as $n | .[0]
	| .body.root = (.body.root > 0 and .body.root < (.seq | tonumber))
	| del(.metadata, .seq, .cause, .time, .subject.uid, .body.who.via, .body.who.address, .body.version.from)
	| .rows = $n | .digest = (.body.approves == $digest) | del(.body.approves)
	| (.body.justification | startswith("CHG-")) as $j | .body.justification = $j
	| (.body.version.to == $version) as $v | .body.version.to = $v
	| (.subject.name | contains($version)) as $s | .subject.name = $s'; }
same 0.9.5 "$first" >of_alm
is "A29 the button gives the audit row of alm approve" "$(cat of_alm)" "$(same 0.9.6 "$waits")"
is "A29 such a row" "Approval Approved admin true true true" \
	"$(jq -r '[.type, .reason, .actor, .digest, .body.justification, .body.version.to] | map(tostring) | join(" ")' of_alm)"
is "A29 the reason that was given" CHG-2 "$(row 0.9.6 | jq -r '.items[0].body.justification')"
finish
