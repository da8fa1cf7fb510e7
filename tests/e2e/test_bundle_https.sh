#!/bin/bash
# Bundles over HTTPS with a password, by a real git http-backend: who gets it, who does not, and that it is nowhere else.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
if ! command -v kubectl >/dev/null || ! command -v git >/dev/null || ! command -v openssl >/dev/null; then
	echo "ok 1 - bundles over HTTPS # SKIP no kubectl, git or openssl"
	echo 1..1
	exit 0
fi
git_server=$PWD/tests/e2e/git_server.py
web=
trap '[ -z "$web" ] || kill "$web"; up_stop; rm -rf "$dir"' EXIT
# This machine's own name is none of the public internet, and none that --allow-source has.
inner=$(hostname)
cd "$dir" || exit 1
mkdir -p web/repos
echo "$inner" >web/names
good=correct-horse-battery wrong=wrong-horse-battery next=next-horse-battery
echo "reader:$good" >web/password
repository web/repos/ssot.git ssot
git init -q --bare -b main web/repos/moved.git
configmap() { printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\ndata:\n  v: "%s"\n' "$1" "$2" >"ssot/$1.yaml"; }
push() { git -C ssot add -A && git -C ssot commit -q -m "$1" && git -C ssot push -q origin main 2>/dev/null; }
configmap a 1
push 'first'
git -C ssot push -q ../web/repos/moved.git main 2>/dev/null
python3 "$git_server" web requests >web/port 2>web/err &
web=$!
port=$(written web/port)
url=https://localhost:$port
up_start --allow-source "localhost:$port"

secret() { # NAME PASSWORD [ORIGINS]
	k create secret generic "$1" -n alm-system --type=kubernetes.io/basic-auth --from-literal=username=reader --from-literal="password=$2" \
		--from-literal="origins=${3:-$url https://$inner:$port}" ${ca:+--from-file=ca.crt=web/ca.crt} --dry-run=client -o yaml | k apply -f - >/dev/null
}
bundle() { # NAME URL [SECRET]
	local secret=""
	[ -n "${3:-}" ] && secret=", secretRef: {name: $3}"
	printf 'apiVersion: app.coreos.com/v1alpha1\nkind: Bundle\nmetadata:\n  name: %s\nspec:\n  source: {git: {url: "%s"%s}}\n  trigger: {interval: 1s}\n  adopt: Any\n' \
		"$1" "$2" "$secret" | k apply -f - >/dev/null
}
ready() { k get bundle "$1" -o 'jsonpath={.status.state} {.status.conditions[?(@.type=="SourceReady")].reason}'; }
why() { k get bundle "$1" -o 'jsonpath={.status.conditions[?(@.type=="SourceReady")].message}'; }
value() { k get configmap a -o 'jsonpath={.data.v}'; }
asked() { grep -c "$1" requests; }

k create namespace alm-system --dry-run=client -o yaml | k apply -f - >/dev/null 2>&1
ca=yes
secret good "$good"
secret wrong "$wrong"
secret elsewhere "$good" "https://git.example.com"
ca=
secret noca "$good"
# Those that take their time come first.
bundle hang "$url/hang/ssot.git" good
bundle wrong "$url/git/ssot.git" wrong
began=$SECONDS
bundle good "$url/git/ssot.git" good
soon "the right password brings the branch" "Synced Fetched" ready good
configmap a 2
push 'second'
soon "and each push" 2 value
soon "a wrong one is told" "SourceFailed CredentialsRejected" ready wrong
has "in words" "could not read Username" "$(why wrong)"

bundle missing "$url/git/ssot.git" missing
soon "a Secret that is not there" "SourceFailed SourceNotAllowed" ready missing
has "by its name" "alm-system/missing is no Secret for catalogs" "$(why missing)"
bundle elsewhere "$url/git/ssot.git" elsewhere
soon "a Secret for another server" "SourceFailed CredentialsRejected" ready elsewhere
has "says who may change that" "an administrator adds that to the key origins" "$(why elsewhere)"
bundle noca "$url/git/ssot.git" noca
soon "an authority that nobody has named" "SourceFailed SourceUnreachable" ready noca
has "is not believed" "certificate" "$(why noca)"
bundle nopassword "$url/git/ssot.git"
soon "no Secret, and so no authority" "SourceFailed SourceUnreachable" ready nopassword
bundle moved "$url/moved/moved.git" good
soon "a redirect to another host" "SourceFailed SourceUnreachable" ready moved
has "is told" "error: 302" "$(why moved)"
is "and not followed, with or without the password" 0 "$(asked '/git/moved.git')"
bundle echo "$url/echo/ssot.git" good
soon "a server that says the password" "SourceFailed SourceUnreachable" ready echo
has "is not quoted" "what the server said has the credentials in it" "$(why echo)"

# Names: judged by what they stand for.
bundle inner "https://$inner:$port/open/ssot.git" good
soon "a name of an address that is not public" "SourceFailed SourceNotAllowed" ready inner
has "is refused as the address is" "lies in a network that sources are not read from" "$(why inner)"
is "and nobody has connected to it" 0 "$(asked " $inner ")"
bundle literal "https://127.0.0.1:$port/open/ssot.git"
soon "an address that is not public" "SourceFailed SourceNotAllowed" ready literal
is "neither" 0 "$(asked " 127.0.0.1 ")"

# While one is under way: its password is in the environment of that git alone, which other users cannot read.
printf '%s\n' "$good" "$(printf 'reader:%s' "$good" | base64)" "$wrong" "$(printf 'reader:%s' "$wrong" | base64)" >patterns
under_way() { grep -l -a -F -f patterns /proc/[0-9]*/environ 2>/dev/null; }
hangs() { under_way | grep -c . | sed 's/[1-9][0-9]*/some/'; }
soon "a server that hangs" some hangs
mapfile -t environs < <(under_way)
is "the password is in the environment of git alone" "git" "$(for e in "${environs[@]}"; do cat "${e%environ}comm" 2>/dev/null; done | sed 's/^git.*/git/' | sort -u)"
is "which its user alone may read" "-r--------" "$(stat -c %A "${environs[@]}" 2>/dev/null | sort -u)"
arguments() { cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n'; } # one of them ends while it is read
has "lists of arguments are seen" "$alm_bin" "$(arguments)"
is "it is in none of them" 0 "$(arguments | grep -c -F -f patterns)" # empty: they were seen
has "the name goes to the address that was judged" "localhost:$port:" "$(cat "${environs[@]}" 2>/dev/null | tr '\0' '\n')"
# Tries after 0, 30, 90 and 210 seconds; a script that took longer has more than this to tell.
shown() { asked '^401 .* auth'; }
is "a wrong password is shown to the server more and more seldom" ok \
	"$(n=$(shown) took=$((SECONDS - began)); [ "$n" -le $((1 + (took >= 29) + (took >= 89))) ] && echo ok || echo "$n times in $took s")"
echo "reader:$next" >web/password
soon "a password that was changed at the server" "SourceFailed CredentialsRejected" ready good
is "nothing goes for that" 2 "$(value)"
ca=yes
secret good "$next"
WAIT_S=20 soon "the Secret with the new one is taken up at once" "Synced Fetched" ready good
configmap a 3
push 'third'
soon "and the branch goes on" 3 value
secret wrong "$next"
WAIT_S=20 soon "as is one that was wrong from the beginning" "Synced Fetched" ready wrong

soon "a server that hangs costs its own bundle alone" "SourceFailed SourceUnreachable" ready hang
has "and is told" "has not ended within 30000 ms" "$(why hang)"

# The password is nowhere.
printf '%s\n' "$next" "$(printf 'reader:%s' "$next" | base64)" >>patterns
lacks "no status, event or other object has it" k get bundles,events,configmaps,leases -A -o json -- -F -f patterns
lacks "no row of the log" alm audit query --data-dir "$data" --limit 10000 -o json -- -F -f patterns
none "no line that ALM printed" seek -F -f patterns err out
none "no file of a mirror" seek -r -l -a -F -f patterns "$data/git"
mirrors() { find "$data/git" -mindepth 1 -maxdepth 1 | wc -l; }
before=$(mirrors)
k delete bundle good wrong --wait=false >/dev/null
bundle noca "$url/git/other.git" noca # the mirror of what it read before goes as well
soon "a deleted Bundle's mirror goes from this machine" $((before - 2)) mirrors
up_stop
OR_EMPTY=1 lacks "no file at all but the store's" seek -r -l -a -F -f patterns "$data" -- -v -e '/alm\.db'
finish
