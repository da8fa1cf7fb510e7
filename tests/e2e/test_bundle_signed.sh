#!/bin/bash
# A Bundle whose commits are signed (spec.source.git.verify): real signatures of SSH and OpenPGP, by git, ssh-keygen and gpg.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
for program in kubectl git gpg ssh-keygen; do
	command -v $program >/dev/null && continue
	echo "ok 1 - signed commits # SKIP no $program"
	exit 0
done
up_start
cd "$dir" || exit 1
repository "$catalog/ssot.git" ssot
configmap() { printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\ndata:\n  v: "%s"\n' "$1" "$2"; }
push() { # VALUE [OPTION of git...]: a commit, pushed
	configmap a "$1" >ssot/a.yaml
	shift
	git -C ssot add -A
	git -C ssot "$@" commit -q -m "${MESSAGE:-push}" || not_ok "git signs"
	git -C ssot push -q -f origin main 2>/dev/null
	head=$(git -C ssot rev-parse HEAD)
}
by_ssh() { printf '%s\n' -c gpg.format=ssh -c "user.signingkey=$dir/$1" -c commit.gpgsign=true; }
by_pgp() { printf '%s\n' -c gpg.format=openpgp -c "user.signingkey=$1" -c commit.gpgsign=true; }
state() { k get bundle web -o 'jsonpath={.status.state} {.status.commit}'; }
source_ready() { k get bundle web -o "jsonpath={.status.conditions[?(@.type==\"SourceReady\")].$1}"; }
refused() { source_ready reason && echo " $(source_ready message | grep -c -F -e "$1")"; }
value() { k get configmap a -o 'jsonpath={.data.v}' 2>&1 | sed 's/.*NotFound.*/gone/'; }
trust() { k create configmap keys -n alm-system "$@" --dry-run=client -o yaml | k apply -f - >/dev/null 2>&1; }

for name in alice mallory; do ssh-keygen -q -t ed25519 -N '' -C $name -f $name; done
export GNUPGHOME=$dir/gnupg
mkdir -m 700 "$GNUPGHOME"
gpg_key() { gpg --batch --quiet --pinentry-mode loopback --passphrase '' --quick-gen-key "$@" 2>/dev/null; }
gpg_key 'Bob <bob@example.com>' ed25519 sign
gpg_key 'Eve <eve@example.com>' ed25519 sign
# A key that has expired signs with the clock of then.
gpg_key 'Old <old@example.com>' ed25519 sign seconds=1
gpg --armor --export bob@example.com >bob.asc
gpg --armor --export old@example.com >old.asc

push 1
cat >web.yaml <<BUNDLE
apiVersion: app.coreos.com/v1alpha1
kind: Bundle
metadata: {name: web}
spec:
  source: {git: {url: "file://$catalog/ssot.git", verify: {keysRef: {name: keys}}}}
  trigger: {interval: 1s}
BUNDLE
k apply -f web.yaml >/dev/null
soon "without its keys nothing is believed" "SignatureInvalid 1" refused 'spec.source.git.verify.keysRef keys: configmaps "keys" not found'
trust --from-literal=a="$(cat alice.pub)"
soon "what is no line of allowed signers is told" "SignatureInvalid 1" refused 'data "a", line 1: an SSH key stands behind who signs'
trust --from-literal=a="alice@example.com $(cat alice.pub)"
soon "an unsigned commit is refused" "SignatureInvalid 1" refused "${head:0:12}: it is not signed"
is "nothing of it is there" gone "$(value)"

readarray -t alice < <(by_ssh alice)
readarray -t mallory < <(by_ssh mallory)
readarray -t bob < <(by_pgp bob@example.com)
readarray -t eve < <(by_pgp eve@example.com)
push 2 "${alice[@]}"
soon "a commit that a key of SSH has signed is applied" "Synced $head" state
is "  all of it" 2 "$(value)"
has "the status names who signed" "alice@example.com (SHA256:" "$(k get bundle web -o 'jsonpath={.status.signer}')"
has "L27 and who is believed by what" "(git, signed by alice@example.com (SHA256:" "$(alm audit query --data-dir "$data" --reason RevisionRead)"
has "so does the log" "alice@example.com (SHA256:" "$(alm audit query --data-dir "$data" --reason RevisionRead -o json)"
push 3 "${mallory[@]}"
soon "another key of SSH is refused" "SignatureInvalid 1" refused "${head:0:12}: the key of its signature is none of these, or not valid: ED25519 key SHA256:"
push 4 "${bob[@]}"
soon "a key of OpenPGP that nobody named, too" "SignatureInvalid 1" refused "${head:0:12}: the key of its signature is none of these: "
is "what was there stays" 2 "$(value)"
k delete configmap a >/dev/null
soon "and is kept" 2 value

trust --from-literal=a="alice@example.com $(cat alice.pub)" --from-file=bob.asc
soon "the key is added, and the same commit is applied" "Synced $head" state
has "  by its signer" "Bob <bob@example.com> (" "$(k get bundle web -o 'jsonpath={.status.signer}')"
push 5 "${eve[@]}"
soon "another key of OpenPGP is refused" "SignatureInvalid 1" refused "${head:0:12}: the key of its signature is none of these: "

# Somebody writes another message, or another tree, below a signature that is right.
forge() { # COMMIT SED: the commit, changed
	git -C ssot cat-file commit "$1" | sed "$2" | git -C ssot hash-object -t commit -w --stdin
}
MESSAGE=right push 6 "${alice[@]}"
soon "a signed one" "Synced $head" state
other=$(forge "$head" 's/^right$/wrong/')
git -C ssot push -q -f origin "$other:main" 2>/dev/null
soon "a forged message is refused" "SignatureInvalid 1" refused "${other:0:12}: its signature is of other content"
MESSAGE=right push 7 "${bob[@]}"
soon "a signed one of OpenPGP" "Synced $head" state
other=$(forge "$head" "s/^tree .*/tree $(git -C ssot rev-parse HEAD~1:)/")
git -C ssot push -q -f origin "$other:main" 2>/dev/null
soon "a forged tree is refused" "SignatureInvalid 1" refused "${other:0:12}: its signature is of other content"
push 8
soon "and none at all" "SignatureInvalid 1" refused "${head:0:12}: it is not signed"
is "nothing of these is there" 7 "$(value)"

# A key that is taken out, or has expired, counts no more: also for the commit that is there.
git -C ssot push -q -f origin "$(git -C ssot rev-parse HEAD~1):main" 2>/dev/null
head=$(git -C ssot rev-parse HEAD~1)
soon "back to the signed one" "True Fetched" sh -c "kubectl get bundle web -o 'jsonpath={.status.conditions[?(@.type==\"SourceReady\")].status} {.status.conditions[?(@.type==\"SourceReady\")].reason}'"
trust --from-literal=a="alice@example.com $(cat alice.pub)"
soon "the key of OpenPGP is taken out" "SignatureInvalid 1" refused "the key of its signature is none of these: "
is "  what it signed stays" 7 "$(value)"
git -C ssot reset -q --hard "$head"
push 9 "${alice[@]}"
soon "the other one goes on" "Synced $head" state
trust --from-literal=a="alice@example.com valid-before=\"20200101\" $(cat alice.pub)" --from-file=bob.asc
GIT_COMMITTER_DATE=2019-06-01T00:00:00Z push 10 "${alice[@]}"
soon "an expired key of SSH is refused, whatever date the commit claims" "SignatureInvalid 1" refused "${head:0:12}: the key of its signature is none of these, or not valid"
trust --from-file=old.asc --from-file=bob.asc
old=$(gpg --list-keys --with-colons old@example.com | sed -n 's/^pub:[^:]*:[^:]*:[^:]*:[^:]*:\([0-9]*\):.*/\1/p')
printf '#!/bin/sh\nexec gpg --faked-system-time %s! --ignore-time-conflict "$@"\n' "$old" >oldgpg
chmod +x oldgpg
push 11 -c gpg.program="$dir/oldgpg" -c user.signingkey=old@example.com -c commit.gpgsign=true
soon "an expired key of OpenPGP is refused" "SignatureInvalid 1" refused "${head:0:12}: the key of its signature has expired: "
is "  nothing of it is there" 9 "$(value)"
has "keys and signatures lie below the mirror alone" "signers" "$(cd "$data/git" && find . -name signers)"

k patch bundle web --type=merge -p '{"spec":{"source":{"git":{"verify":null}}}}' >/dev/null
soon "who asks no more takes all" "Synced $head" state
none "and no signer is named" k get bundle web -o 'jsonpath={.status.signer}'
gpgconf --kill all 2>/dev/null
k delete bundle web --timeout=120s >/dev/null 2>&1
finish
