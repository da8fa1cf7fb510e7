#!/bin/bash
# Bundles over ssh, by a real sshd: which host is believed, which key is taken, and that the key is nowhere but where it must be.
# shellcheck disable=SC2119,SC2154
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
sshd=$(PATH=$PATH:/usr/sbin command -v sshd)
for program in kubectl git ssh ssh-keygen ${sshd:-sshd}; do
	command -v "$program" >/dev/null && continue
	echo "ok 1 - bundles over ssh # SKIP no $program (Debian: openssh-client, openssh-server)"
	echo 1..1
	exit 0
done
server=
hang=
trap 'for p in $server $hang; do kill "$p" 2>/dev/null; done; up_stop; [ -z "$made" ] || rmdir "$made"; rm -rf "$dir"' EXIT
cd "$dir" || exit 1
made= # where sshd closes itself in, of root
[ "$(id -u)" -ne 0 ] || [ -d /run/sshd ] || { mkdir /run/sshd && made=/run/sshd; }
repository "$dir/ssot.git" ssot
configmap() { printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\ndata:\n  v: "%s"\n' "$1" "$2" >"ssot/$1.yaml"; }
push() { git -C ssot add -A && git -C ssot commit -q -m "$1" && git -C ssot push -q origin main 2>/dev/null; }
configmap a 1
push first

mkdir keys
for name in host other good wrong shy; do ssh-keygen -q -t ed25519 -N '' -C $name -f keys/$name; done
ssh-keygen -q -t ed25519 -N horse -C locked -f keys/locked
cat keys/good.pub keys/shy.pub >keys/authorized
port=$(free_port) me=$(id -un)
# shellcheck disable=SC2016 # sshd's variable
cat >sshd_config <<CONFIG
ListenAddress 127.0.0.1:$port
HostKey $dir/keys/host
PidFile none
AuthorizedKeysFile $dir/keys/authorized
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
AcceptEnv GIT_PROTOCOL
LogLevel VERBOSE
# the command of git and no other, with its repository where the client says
ForceCommand case \$SSH_ORIGINAL_COMMAND in "git-upload-pack '"*"'") exec git -c safe.directory='*' shell -c "\$SSH_ORIGINAL_COMMAND" ;; *) echo no >&2; exit 1 ;; esac
CONFIG
sshd_start() {
	"$sshd" -D -e -f sshd_config 2>>sshd.log &
	server=$!
	timeout 60 sh -c "until ssh-keyscan -p $port 127.0.0.1 2>/dev/null | grep -q ed25519; do sleep 0.1; done"
}
sshd_start
# One takes the connection and says nothing, of the other nobody listens.
python3 -c 'import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(8)
c = socket.socket(); c.bind(("127.0.0.1", 0)); print(s.getsockname()[1], c.getsockname()[1], flush=True); time.sleep(600)' >hang.port &
hang=$!
read -r hang_port closed <<<"$(written hang.port)"

# What a person has at home is not read.
mkdir -m 700 .ssh
printf 'Host *\n  StrictHostKeyChecking no\n  IdentityFile %s/keys/good\n  ProxyCommand touch %s/config-was-read\n' "$dir" "$dir" >.ssh/config
up_start --allow-source localhost
printf 'apiVersion: v1\nkind: Namespace\nmetadata: {name: alm-system}\n' | alm apply -f - >/dev/null 2>&1

known() { printf '[localhost]:%s %s' "${2:-$port}" "$(cut -d' ' -f1,2 "keys/$1.pub")"; }
secret() { # NAME KEY KNOWN-HOSTS
	printf -- '---\napiVersion: v1\nkind: Secret\nmetadata: {name: %s, namespace: alm-system}\ntype: kubernetes.io/ssh-auth\nstringData:\n' "$1"
	printf '  origins: "ssh://localhost:%s ssh://localhost:%s ssh://localhost:%s"\n' "$port" "$hang_port" "$closed"
	printf '  known_hosts: "%s"\n  ssh-privatekey: |\n' "$3"
	sed 's/^/    /' "keys/$2"
}
bundle() { # NAME URL SECRET [INTERVAL]
	printf -- '---\napiVersion: app.coreos.com/v1alpha1\nkind: Bundle\nmetadata: {name: %s}\nspec:\n  source: {git: {url: "%s", secretRef: {name: %s}}}\n  trigger: {interval: %s}\n  adopt: Any\n' \
		"$1" "$2" "$3" "${4:-1h}"
}
ready() { alm get bundle "$1" -o 'jsonpath={.status.state} {.status.conditions[?(@.type=="SourceReady")].reason}'; }
all_ready() { alm get bundles -o 'jsonpath={range .items[*]}{.metadata.name} {.status.state} {.status.conditions[?(@.type=="SourceReady")].reason}{"\n"}{end}'; }
why() { alm get bundle "$1" -o 'jsonpath={.status.conditions[?(@.type=="SourceReady")].message}'; }
value() { alm get configmap a -o 'jsonpath={.data.v}'; }
url=ssh://$me@localhost:$port$dir/ssot.git
{
	secret good good "$(known host)"
	secret wrong wrong "$(known host)"
	secret locked locked "$(known host)"
	secret stranger shy "$(known host 1)"
	secret changed shy "$(known other)"
	secret revoked shy "@revoked $(known host)"
	secret hang good "$(known host "$hang_port")"
	printf -- '---\napiVersion: v1\nkind: Secret\nmetadata: {name: basic, namespace: alm-system}\ntype: kubernetes.io/basic-auth\nstringData: {username: u, password: p, origins: "ssh://localhost:%s"}\n' "$port"
} | alm apply -f - >/dev/null
{
	bundle hang "ssh://$me@localhost:$hang_port/x.git" hang
	bundle good "$url" good 1s
	bundle scp "$me@127.0.0.1:ssot.git" good
	bundle wrong "$url" wrong
	bundle locked "$url" locked
	bundle stranger "$url" stranger
	bundle changed "$url" changed
	bundle revoked "$url" revoked
	bundle missing "ssh://$me@localhost:$port/nowhere.git" good
	bundle closed "ssh://$me@localhost:$closed/x.git" good
	bundle literal "ssh://$me@127.0.0.1:$port$dir/ssot.git" good
	bundle elsewhere "ssh://$me@localhost:1/x.git" good
	bundle basic "$url" basic
} | alm apply -f - >/dev/null
bundle nobody "ssh://localhost/x" good >nobody.yaml
code "a url without a user is refused" 1 "names no user" alm bundle vet -f ssot --bundle nobody.yaml
# While one is under way, its key is in a file alone.
for name in good wrong locked; do sed -n 3p "keys/$name"; done >patterns
processes() { cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n'; } # one of them ends while it is read
under_way() { processes >seen; grep -c -x -e "localhost\|127.0.0.1\|$me@localhost" seen | sed 's/[1-9][0-9]*/some/'; }
soon "a server that says nothing is asked" some under_way
none "no key is in any variable or argument" seek -a -F -f patterns seen
soon "one condition each" "basic SourceFailed CredentialsRejected
changed SourceFailed HostKeyChanged
closed SourceFailed SourceUnreachable
elsewhere SourceFailed CredentialsRejected
good Synced Fetched
hang SourceFailed SourceUnreachable
literal SourceFailed SourceNotAllowed
locked SourceFailed CredentialsRejected
missing SourceFailed SourceUnreachable
revoked SourceFailed HostKeyChanged
scp SourceFailed SourceNotAllowed
stranger SourceFailed HostKeyUnknown
wrong SourceFailed CredentialsRejected" all_ready
is "the right key brings the branch" 1 "$(value)"
has "a key that the server does not take" "[localhost]:$port does not take the private key for the user $me" "$(why wrong)"
has "a key with a passphrase" "ssh takes the key ssh-privatekey without a passphrase" "$(why locked)"
has "a host that known_hosts has not" "known_hosts of the Secret has no host key of [localhost]:$port" "$(why stranger)"
has "a host with another key" "[localhost]:$port shows another host key than known_hosts has" "$(why changed)"
has "a host key that was revoked" "that known_hosts has as revoked" "$(why revoked)"
has "a repository that is not there is told by what its server says" "/nowhere.git' does not appear to be a git repository" "$(why missing)"
has "a server that is not there" "port $closed: Connection refused" "$(why closed)"
has "a server that says nothing" "Connection timed out" "$(why hang)"
has "a Secret for another server" "an administrator adds that to the key origins" "$(why elsewhere)"
has "a password is nothing for ssh" "ssh takes the key ssh-privatekey" "$(why basic)"
accepted() { grep -c "^Accepted publickey .*$(ssh-keygen -lf "keys/$1" | cut -d' ' -f2)" sshd.log | sed 's/[1-9][0-9]*/some/'; }
is "who shows no host key of the Secret is shown no key" "some 0" "$(accepted good) $(accepted shy)"
configmap a 2
push second
soon "each push is read" 2 value

# Another key at the server: taken up with the Secret.
cp keys/wrong.pub keys/authorized
secret good wrong "$(known host)" | alm apply -f - >/dev/null
configmap a 3
push third
soon "a Secret with another key is taken up" 3 value
# Another host key: nothing is read until the Secret has it.
kill "$server" && wait "$server" 2>/dev/null
sed -i "s|keys/host|keys/other|" sshd_config
sshd_start
configmap a 4
push fourth
soon "a server that was set up again" "SourceFailed HostKeyChanged" ready good
is "is not read" 3 "$(value)"
secret good wrong "$(known other)" | alm apply -f - >/dev/null
soon "until the Secret has its host key" 4 value

# The key is nowhere.
lacks "no status, event or other object has it" alm get bundles,events,configmaps,leases -A -o json -- -F -f patterns
lacks "no row of the log" alm audit query --data-dir "$data" --limit 10000 -o json -- -F -f patterns
none "no line that ALM printed" seek -F -f patterns err out
is "nothing at home was read" config "$(ls config-was-read 2>/dev/null; cd .ssh && echo *)"
kill -9 "$pid"
wait "$pid" 2>/dev/null
mirror=$(dirname "$(find "$data/git" -mindepth 2 -maxdepth 2 -name repo | head -1)")
mkdir -p "$mirror/ssh"
cp keys/good "$mirror/ssh/key.tmp1" # as of a process that was killed
up_start --allow-source localhost
left() { grep -r -l -a -F -f patterns "$data/git" | wc -l; }
soon "what a killed process left goes" 0 left
configmap a 5
push fifth
soon "and the branch goes on" 5 value
up_stop
OR_EMPTY=1 lacks "no file has it but the store" seek -r -l -a -F -f patterns "$data" -- -v -e '/alm\.db'
finish
