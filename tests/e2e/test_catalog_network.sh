#!/bin/bash
# Where a Catalog may lie in a network: loopback, link-local and private addresses are not connected to unless the
# administrator lists them, by whatever name, redirect or token service they are reached; the status is no port scanner.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
for need in kubectl python3 openssl; do
	command -v $need >/dev/null || {
		echo "ok 1 - sources in a network # SKIP no $need"
		exit 0
	}
done
web=$dir/web
mkdir -p "$web/repo"
package 0.9.4 "$web/repo" >/dev/null
alm catalog index "$web/repo" >/dev/null
tests/e2e/catalog_server.py "$web" "$web/log" >"$web/port" 2>/dev/null &
pids=$!
# Counts connections, says nothing.
python3 -c '
import socket, sys
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
while True:
    c, _ = s.accept()
    print("connected", file=sys.stderr, flush=True)
    c.close()' >"$web/silent" 2>"$web/connected" &
pids="$pids $!"
trap 'kill $pids 2>/dev/null; up_stop; rm -rf "$dir"' EXIT
port=$(written "$web/port") silent=$(written "$web/silent")
synced() { k get catalog "$1" -o 'jsonpath={.status.conditions[?(@.type=="Synced")].reason}'; }
message() { k get catalog "$1" -o 'jsonpath={.status.conditions[?(@.type=="Synced")].message}'; }
add() { alm catalog add "$1" "$2" --secret web >/dev/null; }
credentials() {
	k create namespace alm-system >/dev/null 2>&1
	k delete secret web -n alm-system --ignore-not-found >/dev/null
	k create secret generic web -n alm-system --type=app.coreos.com/catalog-credentials --from-file=ca.crt="$web/ca.crt" \
		--from-literal=username=user --from-literal=password=secret --from-literal=origins="$*" >/dev/null
}

# --- nothing is listed ---
up_start
hosts="127.0.0.1:$silent 127.0.0.1:1 localhost:$silent 2130706433:$silent 0x7f.1:$silent [::1]:$silent [::ffff:127.0.0.1]:$silent
0.0.0.0:$silent 169.254.169.254 10.0.0.1 192.168.0.1:8443 100.64.0.1 172.16.0.1 [fe80::1] [fd00:ec2::254] [64:ff9b::7f00:1]:$silent"
origins=
for h in $hosts; do origins="$origins https://$h"; done
credentials "$origins"
n=0
for h in $hosts; do
	printf -- '---\napiVersion: app.coreos.com/v1alpha1\nkind: Catalog\nmetadata: {name: h%02d}\n' $((n += 1))
	printf 'spec: {source: {url: "https://%s/x", secretRef: {name: web}}}\n' "$h"
done | k create -f - >/dev/null
each() { k get catalogs -o "jsonpath={range .items[*]}$1{'\n'}{end}"; }
soon "no address that is not public is connected to" "$(for h in $hosts; do echo "https://$h/x SourceNotAllowed"; done)" \
	each '{.spec.source.url} {.status.conditions[?(@.type=="Synced")].reason}'
has "the remedy is named" "--allow-source" "$(message h01)"
is "open, closed and absent are told in the same words" "1" \
	"$(each '{.status.conditions[?(@.type=="Synced")].message}' | sed 's,https://[^ ]*: ,,' | sort -u | wc -l)"
k delete catalogs --all >/dev/null
none "nobody was connected to" cat "$web/connected"
code "a command of the user needs no permission" 0 "0.9.4" alm catalog list "https://127.0.0.1:$port/repo" --ca-file "$web/ca.crt"
code "--allow-source is read strictly" 2 "--allow-source: 10.0.0.0/33: want HOST[:PORT]" \
	"$alm_bin" up --data-dir "$dir/data2" --listen 127.0.0.1:0 --metrics-listen off --allow-source 10.0.0.0/33
up_stop

# --- one server is listed, by its port; redirects and token services lead elsewhere ---
up_start --allow-source "127.0.0.1:$port"
credentials "https://127.0.0.1:$port https://127.0.0.1:$silent https://localhost:$port"
add good "https://127.0.0.1:$port/repo"
add name "https://localhost:$port/repo"
add moved "https://127.0.0.1:$port/to/https://127.0.0.1:$silent/index.yaml"
add realm "oci://127.0.0.1:$port/realm/$silent"
add closed "https://127.0.0.1:$silent/repo"
soon "what is listed is read" Synced synced good
soon "by another name too: the address counts" Synced synced name
soon "a redirect to another port is not followed" SourceNotAllowed synced moved
has "it is named" "https://127.0.0.1:$silent/: lies in a network" "$(message moved)"
soon "nor a token service" SourceNotAllowed synced realm
soon "nor the port itself" SourceNotAllowed synced closed
none "nobody was connected to there" cat "$web/connected"
up_stop

# --- a whole network is listed: what happens at its ports is told coarsely ---
up_start --allow-source 127.0.0.0/8
soon "a port that closes at once" SourceUnreachable synced closed
credentials "https://127.0.0.1:$silent https://127.0.0.1:1 https://$metrics"
add shut "https://127.0.0.1:1/repo"
add plain "https://$metrics/repo"
soon "a port that is shut" SourceUnreachable synced shut
soon "a port that speaks something else" SourceUnreachable synced plain
is "all three in the same words" "cannot be reached" \
	"$(for c in closed shut plain; do message $c; echo; done | sed 's,.*: ,,' | sort -u)"
finish
