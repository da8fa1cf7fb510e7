#!/bin/bash
# The data folder: what others could have put there is not believed, followed, truncated or overwritten; what they could
# only read is closed. The same for files of credentials that are named.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
cd "$dir" || exit 1
metrics=off
up_start
up_stop
modes() { (cd "$data" && stat -c '%n %a' -- * | seek -v ' 600$'); }
is "a folder that alm makes is private" "700" "$(stat -c %a "$data")"
none "  and its files are" modes
up() { timeout 60 "$alm_bin" up --data-dir "$data" --listen 127.0.0.1:0 --metrics-listen off --log-format kv "$@"; }
# refused NAME TEXT: alm does not start; the folder is as it was
refused() {
	local before
	before=$(cd "$data" && find . -type f -exec sha256sum {} + | sort)
	code "$1" 1 "$2" up
	is "  nothing is changed" "$before" "$(cd "$data" && find . -type f -exec sha256sum {} + | sort)"
}

# --- the folder ---
chmod 777 "$data"
refused "a folder that everybody may write" "data folder: $data can be written by others (mode 0777), who may have put there what is not yours: look at it, then chmod go-w $data"
chmod 770 "$data"
refused "a folder that a group may write" "chmod go-w $data"
chmod 700 "$data"
if [ "$(id -u)" -eq 0 ]; then
	chown 65534 "$data"
	refused "a folder of another user" "belongs to user 65534, alm runs as user 0: start it as that user, or take it over with chown 0 $data"
	chown 0 "$data"
	chown 65534 "$data/token"
	refused "a token of another user" "$data/token belongs to user 65534"
	chown 0 "$data/token"
fi
code "  the controller says the same" 1 "belongs to user" sh -c "chown 65534 '$data' 2>/dev/null || echo belongs to user; '$alm_bin' controller --data-dir '$data' --kubeconfig '$data/kubeconfig' --metrics-listen off"
[ "$(id -u)" -ne 0 ] || chown 0 "$data"

# --- files ---
echo "do not touch" >victim
for name in alm.db.lock alm.db alm.db-wal token ca.key kubeconfig audit.key audit.head audit.anchor; do
	[ -e "$data/$name" ] && mv "$data/$name" kept
	ln -s "$dir/victim" "$data/$name"
	refused "$name is a link" "$data/$name is a symbolic link: put the file itself there, or rm $data/$name"
	rm "$data/$name"
	ln victim "$data/$name"
	refused "$name has a second name" "$data/$name has a second name somewhere (hard link): rm $data/$name"
	rm "$data/$name"
	mkfifo -m 600 "$data/$name"
	refused "$name is a pipe" "$data/$name is no regular file"
	rm "$data/$name"
	[ -e kept ] && mv kept "$data/$name"
done
is "what they pointed to is as it was" "do not touch" "$(cat victim)"
for name in alm.db token audit.head audit.anchor; do
	chmod 660 "$data/$name"
	refused "$name that a group may write" "$data/$name can be written by others (mode 0660)"
	chmod 600 "$data/$name"
done
chmod 644 "$data"/*
touch "$data/notes.txt" && ln -s /etc/hostname "$data/own-link"
up_start
is "files that others could read are closed" "notes.txt 644
own-link 777" "$(modes)"
has "  which is told" "could be read by others, is 0600 now" "$(cat err)"
has "  and alm runs" "default" "$(alm get ns -o name)"
up_stop
rm "$data/notes.txt" "$data/own-link"
ln -s "$data" linked
up_start --data-dir linked
has "the folder itself may be a link" "default" "$(KUBECONFIG=linked/kubeconfig alm get ns -o name)"
up_stop

# --- --token-file ---
echo 'tok,bob,7' >tokens
for mode in 644 604 620 606; do
	chmod $mode tokens
	code "--token-file with mode $mode" 1 "tokens holds credentials and can be" up --token-file tokens
done
has "  with the remedy" "chmod 600 tokens" "$(up --token-file tokens 2>&1)"
for mode in 600 640 400; do
	chmod $mode tokens
	up_start --token-file tokens
	has "--token-file with mode $mode is taken" "default" "$(alm get ns -o name)"
	up_stop
done

# --- what is refused makes no folder ---
cat >kc <<'KC'
apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: a, user: {token: abc}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
current-context: a
KC
chmod 600 kc tokens
echo 'no user in it' >no-tokens
chmod 600 no-tokens
none=$dir/none/of
# nothing COMMAND TEXT FLAGS...: it does not start, says why, and no part of the folder is there
nothing() {
	local said rc listen=(--listen 127.0.0.1:0)
	[ "$1" = controller ] && listen=(--kubeconfig kc)
	said=$(timeout 60 "$alm_bin" "$1" --data-dir "$none" "${listen[@]}" --metrics-listen off "${@:3}" 2>&1)
	rc=$?
	[ ! -e "$dir/none" ] || said="$said; a folder: $(ls "$none")"
	[ "$rc" -eq 1 ] || [ "$rc" -eq 2 ] || said="exit $rc: $said"
	case $said in *"; a folder: "* | "exit "*) not_ok "alm $1 ${*:3}" "$said" ;; *) has "alm $1 ${*:3}" "$2" "$said" ;; esac
	rm -rf "$dir/none"
}
for one in up controller; do
	nothing $one "want an absolute path" --catalog-root relative
	nothing $one "is or holds the data folder" --catalog-root "$none"
	nothing $one "is or holds the data folder" --catalog-root "$dir"
	nothing $one "is or holds the data folder" --catalog-root /
	nothing $one "--allow-source: nonsense/99" --allow-source nonsense/99
	nothing $one "want http://HOST:PORT" --alertmanager ftp://x
	nothing $one "want a URL" --alertmanager http://
	nothing $one "--hooks-listen: listen address x" --hooks-listen x
	nothing $one "is no duration" --verify-soak x
	nothing $one "is no duration" --render-cpu x
done
for one in up server controller; do
	nothing $one "--audit-anchor: witness x: want https" --audit-anchor witness:x
	nothing $one "what follows # is no key of a witness" --audit-anchor 'witness:https://w.example.com/#bad'
	nothing $one "--audit-origin: the origin" --audit-origin 'no name'
	nothing $one "is under 365d" --audit-retain 3d
	nothing $one "want a name like" --allowed-host a:1
	nothing $one "listen address x" --metrics-listen x
done
for one in up server; do
	nothing $one "listen address x" --listen x
	nothing $one "want token,user,uid" --token-file no-tokens
	nothing $one "--legacy-yaml is warn or deny" --legacy-yaml x
done
for one in --audit-anchor=log --audit-origin=log --audit-retain=400d; do
	nothing server "${one%=*} is of an audit log, and --no-audit keeps none" --no-audit $one
done
nothing controller "--records-listen: listen address x" --records-listen x
nothing controller "cannot be listened on" --records-listen 192.0.2.1:1
nothing controller "--webhook-listen: listen address x" --webhook-listen x
nothing controller "--webhook-listen and --records-listen are both 127.0.0.1:1" --records-listen 127.0.0.1:1 --webhook-listen 127.0.0.1:1
nothing controller 'no context "b"' --context b
finish
