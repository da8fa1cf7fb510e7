#!/bin/bash
# What a terminal gets and a pipe does not: colours, progress, alm top; and alm edit.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - terminal # SKIP no kubectl"
	exit 0
}
unset NO_COLOR
up_start
manifests
cd "$dir" || exit 1
package 0.9.4 >/dev/null
k create -f catalog.yaml -f etcd-apptype.yaml >/dev/null
app_is etcd "status.installedVersion = '0.9.4'" >/dev/null
soon "it is installed" Installed k get apptype etcd -o 'jsonpath={.status.conditions[?(@.type=="Ready")].reason}'
on_tty() { # COMMAND...: with a terminal for its output
	TERM=xterm timeout 60 python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)' "$@" | tr -d '\r'
}
esc=$(printf '\033')

# --- colours ---
has "a terminal has colours" "${esc}[32mInstalled${esc}[0m" "$(on_tty "$alm_bin" status)"
has "a header is bold" "${esc}[1mNAME" "$(on_tty "$alm_bin" get apps)"
lacks "a pipe has none" alm status -- "$esc"
NO_COLOR=1 lacks "NO_COLOR is honoured" on_tty "$alm_bin" status -- "$esc"
lacks "and --color never" on_tty "$alm_bin" --color never status -- "$esc"
has "--color always, in a pipe, too" "${esc}[32mInstalled" "$(alm --color always status)"
lacks "data has none" alm --color always get apps -o yaml -- "$esc"
code "another word is refused" 2 "--color is auto, always or never, not red" alm --color red status

# --- progress ---
has "progress on a terminal" "1/1 etcd-operator 0.9.4" "$(on_tty "$alm_bin" catalog lint "$catalog")"
lacks "and nowhere else" both alm catalog lint "$catalog" -- 1/1

# --- top ---
cat >looks.py <<'END'
import os, pty, signal, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
out, clear, end = b"", b"\x1b[H\x1b[J", time.time() + 15
while out.count(clear) < 2 and time.time() < end:
    out += os.read(fd, 65536)
os.kill(pid, signal.SIGKILL)
sys.stdout.buffer.write(out if out.count(clear) > 1 else b"looked once")
END
has "alm top has every app" "etcd   0.9.4" "$(alm top)"
has "and its candidates" "installed 0.9.4" "$(alm top)"
is "as one document: status, and candidates" "etcd Installed 0.9.4 Installed" \
	"$(on_tty "$alm_bin" top -o json | jq -r '.apps[0] | "\(.name) \(.state) \(.candidates[0].version) \(.candidates[0].reason)"')"
has "on a terminal it clears and looks again" "${esc}[H${esc}[J" "$(TERM=xterm timeout -k 1 20 python3 looks.py "$alm_bin" top --interval 200ms </dev/null)"

# --- edit ---
# shellcheck disable=SC2016 # of the scripts
printf '#!/bin/sh\nsed -i "s/displayName: etcd/displayName: the store/" "$1"\n' >edits
# shellcheck disable=SC2016
printf '#!/bin/sh\nsed -i "s/type: com.tectonic.storage/type: else/" "$1"\n' >bad
printf '#!/bin/sh\nexit 3\n' >fails
chmod +x edits bad fails
is "alm edit" "apptype.app.coreos.com/etcd edited" "$(KUBE_EDITOR=$dir/edits alm edit apptype etcd 2>&1)"
is "stores what was saved" "the store" "$(k get apptype etcd -o 'jsonpath={.spec.displayName}')"
is "no change is none" "Edit cancelled, no changes made." "$(EDITOR=true alm edit apptype/etcd 2>&1)"
said=$(TMPDIR=$dir EDITOR=$dir/bad alm edit apptype etcd 2>&1)
has "what is refused is told" "(name, type) is unique and immutable" "$said"
has "and kept" "type: else" "$(cat "$(printf '%s' "$said" | grep -o "$dir/alm-edit-[0-9a-f]*.yaml")")"
code "an editor that fails changes nothing" 1 "it failed, nothing is changed" env EDITOR="$dir/fails" TMPDIR="$dir" "$alm_bin" edit apptype etcd
finish
