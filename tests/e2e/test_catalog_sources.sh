#!/bin/bash
# Catalog sources over HTTPS and from one file: credentials, conditional requests, redirects, hostile servers,
# a source that goes down. The server is tests/e2e/catalog_server.py.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
for need in kubectl python3 openssl; do
	command -v $need >/dev/null || {
		echo "ok 1 - catalog sources # SKIP no $need"
		exit 0
	}
done
web=$dir/web
mkdir -p "$web/repo"
for v in 0.9.4 0.9.5; do package $v "$web/repo" >/dev/null; done
alm catalog index "$web/repo" >/dev/null
start_web() {
	: >"$web/port"
	tests/e2e/catalog_server.py "$web" "$web/log" >"$web/port" 2>/dev/null &
	web_pid=$!
	url=https://127.0.0.1:$(written "$web/port")
}
start_web
trap 'kill $web_pid 2>/dev/null; up_stop; rm -rf "$dir"' EXIT
ca=(--ca-file "$web/ca.crt")

# One that says nothing is given up after a while; asked at the end.
(
	alm catalog list "$url/bad/silent" --ca-file "$web/ca.crt" >"$dir/silent" 2>&1
	echo "exit $?" >>"$dir/silent"
) &
silent_pid=$!

# --- commands ---
is "a Helm repository is read" "etcd-operator 0.9.5 sha256:D etcds.etcd.coreos.com/v1,etcds.etcd.coreos.com/v2
etcd-operator 0.9.4 sha256:D etcds.etcd.coreos.com/v1" \
	"$(alm catalog list "$url/repo" "${ca[@]}" | sed -E 's/sha256:[0-9a-f]{12}/sha256:D/; s/ +/ /g')"
code "an unknown authority is refused" 1 "SSL certificate problem" alm catalog list "$url/repo"
code "without credentials: 401, and what helps" 1 "answers 401; the Secret" alm catalog list "$url/basic" "${ca[@]}"
echo secret >"$dir/password"
echo t0ken >"$dir/token"
code "basic credentials" 0 "0.9.4" alm catalog list "$url/basic" "${ca[@]}" --username user --password-file "$dir/password"
code "bearer token" 0 "0.9.4" alm catalog list "$url/bearer" "${ca[@]}" --token-file "$dir/token"
: >"$web/log"
code "a redirect to another server is followed" 0 "0.9.4" alm catalog list "$url/moved" "${ca[@]}" --token-file "$dir/token"
is "and the credentials stay at home" "302 /moved/index.yaml 127.0.0.1 auth
200 /repo/index.yaml localhost plain" "$(cat "$web/log")"

# --- hostile servers: one line each ---
while read -r name text; do
	code "hostile: $name" "${text%% *}" "${text#* }" alm catalog list "$url/bad/$name" "${ca[@]}"
done <<'TABLE'
truncated 1 bytes remaining to read
endless 1 /bad/endless/index.yaml: answer is larger than 67108864 bytes
toohttp 3 /bad/toohttp/index.yaml: leads to http://, only https:// is followed
tofile 3 /bad/tofile/index.yaml: leads to file://, only https:// is followed
round 1 /bad/round/index.yaml: more than 5 redirects
500 1 /bad/500/index.yaml: answers 500
html 1 is this the index of a Helm repository?
binary 1 index.yaml: yaml: line 1: control characters are not allowed
bomb 1 index.yaml: yaml: line 2: an alias; such a file has none
deep 1 index.yaml: yaml: line 2: exceeded max depth
many 1 index.yaml: line 500004: more than 500000 versions
TABLE
while read -r name text; do
	has "hostile entry: $name" "$text" "$(alm catalog lint "$url/bad/$name" "${ca[@]}" 2>&1)"
done <<'TABLE'
nodigest line 4: etcd-operator 0.9.4: MissingDigest: the index has no digest for it
twice 1 (bbbbbbbbbbbb) and 1.0.0 (aaaaaaaaaaaa) are one version
backwards line 4: etcd-operator 0.9.4: etcd-operator 0.9.4: replaces: 1.0.0 is not below 0.9.4
cycle line 4: etcd-operator 0.9.4: etcd-operator 0.9.4: replaces: 0.9.5 is not below 0.9.4
schemes urls: file:///etc/passwd: leads to file://, only https:// is followed
bigline line 2: a 9999
TABLE

# --- controllers ---
up_start --allow-source 127.0.0.1
manifests
cd "$dir" || exit 1
# secret NAMESPACE NAME TYPE ORIGINS
secret() {
	k create secret generic "$2" -n "$1" --type="$3" --from-file=ca.crt="$web/ca.crt" --from-literal=username=user \
		--from-literal=password=secret --from-literal=origins="$4" >/dev/null
}
ours=app.coreos.com/catalog-credentials
k create namespace alm-system >/dev/null 2>&1
k create namespace team-b >/dev/null
secret alm-system web $ours "$url"
add() { alm catalog add "$1" "$2" --interval 3s --secret web --priority "$3"; }
is "alm catalog add" "catalog.app.coreos.com/community created" "$(add community "$url/basic" 5)"
for bad in truncated html toohttp many lying; do add "bad-$bad" "$url/bad/$bad" 0 >/dev/null; done
synced() { k get catalog "$1" -o 'jsonpath={.status.conditions[?(@.type=="Synced")].reason}'; }
soon "the good catalog is synced" Synced synced community
soon "a broken one says why" SourceUnreachable synced bad-truncated
soon "one that is no index: ParseError" ParseError synced bad-html
soon "one that leads to http: RedirectRefused" RedirectRefused synced bad-toohttp
has "the quarantined content is named" '"reason":"ParseError"' "$(k get catalog bad-html -o 'jsonpath={.status.quarantined}')"
k create -f etcd-apptype.yaml >/dev/null
is "the app installs from it" "etcd" "$(app_is etcd "status.installedVersion = '0.9.5'" | sed 's/.*\///')"
is "its archives came with credentials" "yes" "$(grep -q '^200 /basic/etcd-operator-0.9.5.tgz 127.0.0.1 auth' "$web/log" && echo yes)"
WAIT_S=240 soon "500,001 versions are refused by name" LimitExceeded synced bad-many

# --- a Secret is used for what it says itself, and for nothing else ---
secret team-b s $ours "$url"
secret alm-system opaque Opaque "$url"
secret alm-system other $ours "https://charts.example $url/"
k create secret generic sa-token -n alm-system --type=kubernetes.io/service-account-token --from-literal=token=t \
	--dry-run=client -o json | sed 's/"name"/"annotations":{"kubernetes.io\/service-account.name":"default"},"name"/' | k create -f - >/dev/null
secret alm-system elsewhere $ours https://charts.example
message() { k get catalog "$1" -o 'jsonpath={.status.conditions[?(@.type=="Synced")].message}'; }
# steal NAME NAMESPACE SECRET: a Catalog that wants to have the Secret sent to our server
steal() {
	printf '{"apiVersion":"app.coreos.com/v1alpha1","kind":"Catalog","metadata":{"name":"%s"},"spec":{"source":{"url":"%s/steal-%s","secretRef":{"namespace":"%s","name":"%s"}}}}' \
		"$1" "$url" "$1" "$2" "$3" | k create -f - >/dev/null
	soon "Secret $2/$3 is not sent" SourceNotAllowed synced "$1"
}
steal foreign team-b s
steal nowhere team-b nosuch
is "whether a Secret of another namespace exists is not told" "$(message foreign)" "$(message nowhere)"
has "the remedy is named" "catalogs use Secrets of alm-system only" "$(message foreign)"
steal opaque alm-system opaque
steal missing alm-system missing
is "one of another type is told as one that is not there" "$(message opaque)" "$(message missing | sed s/missing/opaque/)"
steal token alm-system sa-token
steal elsewhere alm-system elsewhere
has "an origin that is missing is named" "is not for $url; if it shall be sent there" "$(message elsewhere)"
none "the server was not even asked" seek steal "$web/log"
alm catalog add other "$url/basic" --secret other >/dev/null
soon "several origins" Synced synced other
code "alm catalog add takes no other namespace" 2 "namespace alm-system" alm catalog add x "$url" --secret team-b/s
k delete catalog other >/dev/null

rv() { k get catalog community -o 'jsonpath={.metadata.resourceVersion}'; }
before=$(rv)
polls() { grep -c '^304 /basic/index.yaml' "$web/log"; }
had=$(polls)
for _ in $(seq 300); do
	[ "$(polls)" -ge $((had + 2)) ] && break
	sleep 0.3
done
is "polls are conditional requests" "yes" "$([ "$(polls)" -ge $((had + 2)) ] && echo yes)"
is "and write nothing while nothing changes" "$before" "$(rv)"

wait $silent_pid
has "hostile: silent" "/bad/silent/index.yaml" "$(cat "$dir/silent")"
has "is given up" "exit 1" "$(cat "$dir/silent")"

# --- a source that goes down, and a restart ---
kill $web_pid
wait $web_pid 2>/dev/null
soon "the source is down" SourceUnreachable synced community
cd - >/dev/null || exit 1
up_stop
up_start --allow-source 127.0.0.1
cd "$dir" || exit 1
available() { k get apptype etcd -o 'jsonpath={.status.conditions[?(@.type=="Resolved")].status} {.status.availableVersion}'; }
soon "after a restart the last good revision is in use" "True 0.9.5" available
is "and the catalog still says so" "SourceUnreachable 2" "$(synced community) $(k get catalog community -o 'jsonpath={.status.versions}')"
has "the kept revision was read" "2" "$(k get catalog community -o 'jsonpath={.status.versions}')"

# --- one file ---
cd - >/dev/null || exit 1
package 0.9.6 "$web/repo" >/dev/null
alm catalog pull "$web/repo" "$catalog/air.tgz" >/dev/null
code "a whole catalog in one file" 0 "0.9.6" alm catalog list "$catalog/air.tgz"
printf 'apiVersion: app.coreos.com/v1alpha1\nkind: Catalog\nmetadata: {name: air}\nspec: {priority: 9, source: {url: "file://%s/air.tgz"}}\n' "$catalog" |
	k create -f - >/dev/null
soon "it is synced" Synced synced air
k delete catalog community bad-lying >/dev/null # both have what is installed
is "and upgrades the app without network" "etcd" "$(app_is etcd "status.installedVersion = '0.9.6'" | sed 's/.*\///')"

# --- what is kept for a restart, changed in the database ---
up_stop
code "what is kept is what the log says" 0 "" alm audit verify --data-dir "$data"
python3 - "$data/alm.db" <<-'END'
	import sqlite3, sys
	db = sqlite3.connect(sys.argv[1])
	db.execute("UPDATE catalog_revision SET lines = CAST(replace(CAST(lines AS TEXT), '0.9.6', '0.9.7') AS BLOB) WHERE name = 'air'")
	db.commit()
END
code "a version that somebody put there is found" 4 "what is kept of Catalog air was altered" alm audit verify --data-dir "$data"
: >"$dir/err"
up_start --allow-source 127.0.0.1
kept_used() { grep -o 'msg="the kept revision is not used" catalog=air' "$dir/err"; }
soon "and not used" 'msg="the kept revision is not used" catalog=air' kept_used
kept_verified() { alm audit verify --data-dir "$data" >/dev/null && echo yes; }
soon "the source is read instead, and kept" yes kept_verified
is "as it is" Synced "$(synced air)"
finish
