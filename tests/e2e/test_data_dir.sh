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
modes() { (cd "$data" && stat -c '%n %a' -- * | grep -v ' 600$'); }
is "a folder that alm makes is private" "700" "$(stat -c %a "$data")"
is "  and its files are" "" "$(modes)"
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
finish
