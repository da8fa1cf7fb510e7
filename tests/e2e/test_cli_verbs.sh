#!/bin/bash
# What kubectl's users expect of `alm`: get -w, logs, explain, history, completion of three shells, kubectl's plugin,
# manual pages; and one form of every help page.
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh

# --- every page of help, and the manual page made of it ---
subs() { alm help "$1" | sed -n '/^COMMANDS/,/^$/s/^        \([a-z-]*\)  .*/\1/p'; }
pages() { alm completion words -- '' | while read -r c; do
	echo "$c"
	subs "$c" | sed "s/^/$c /"
done; }
pages >"$dir/pages"
is "pages are found" yes "$([ "$(wc -l <"$dir/pages")" -gt 45 ] && echo yes)"
form() { # the titles in their order, of all
	while read -r page; do
		# shellcheck disable=SC2086
		alm help $page >"$dir/page" || echo "$page: exit $?"
		# shellcheck disable=SC2086
		alm $page --help 2>&1 | cmp -s - "$dir/page" || echo "$page: --help differs"
		titles=$(grep -E '^[A-Z][A-Z ]+$' "$dir/page" | xargs)
		[ -n "$(subs "$page" 2>/dev/null)" ] && want="NAME SYNOPSIS" || want="NAME SYNOPSIS EXAMPLES"
		case $titles in "$want"*) ;; *) echo "$page: $titles" ;; esac
		case $titles in *GLOBAL* | *EXIT*) echo "$page repeats what alm help says" ;; esac
		tail -1 "$dir/page" | grep -q 'alm help$' || echo "$page does not name alm help"
		awk 'length > 120 {print FILENAME ": " $0}' "$dir/page"
	done <"$dir/pages"
}
none "every page: name, synopsis, examples first; what all share is in alm help alone" form
has "alm help has it" "GLOBAL OPTIONS" "$(alm help)"
has "with the exit statuses" "124 timed out" "$(alm help)"
code "a page that is none" 2 "unknown command alm statsu (did you mean status?)" alm help statsu
if command -v groff >/dev/null; then
	while read -r page; do
		# shellcheck disable=SC2086
		alm help --man $page | groff -ww -man -Tutf8 -z 2>&1 | sed "s/^/$page: /"
	done <"$dir/pages" >"$dir/roff"
	none "groff takes every manual page" cat "$dir/roff"
	has "which says what --help does" "alm status etcd" "$(alm help --man status | groff -man -Tascii | sed 's/\x1b\[[0-9;]*m//g')"
else
	ok "groff takes every manual page # SKIP no groff"
fi

# --- completion ---
words() { alm completion words -- "$@" | xargs; }
is "commands" "status" "$(words sta)"
is "of a command" "verify" "$(words audit ver)"
is "options" "--reason" "$(words rollback --re)"
for shell in bash zsh fish; do
	alm completion $shell >"$dir/complete"
	is "a script for $shell" yes "$([ -s "$dir/complete" ] && echo yes)"
	command -v $shell >/dev/null && none "  that $shell reads" $shell -n "$dir/complete"
done
code "another shell" 2 "completion is for bash, zsh and fish, not csh" alm completion csh
alm completion bash >"$dir/complete"
mkdir -p "$dir/bin" && ln -sf "$alm_bin" "$dir/bin/alm" && ln -sf "$alm_bin" "$dir/bin/kubectl-alm"
is "bash completes by it" "status" "$(PATH=$dir/bin:$PATH bash -c '. "$1"; COMP_WORDS=(alm sta); COMP_CWORD=1; _alm; echo "${COMPREPLY[*]}"' - "$dir/complete")"

command -v kubectl >/dev/null || {
	finish
	exit 0
}
metrics=off
up_start
manifests
cd "$dir" || exit 1
has "kubectl alm" "server v" "$(PATH=$dir/bin:$PATH kubectl alm version 2>&1)"
timeout 100 "$alm_bin" get apps -w >watched 2>&1 &
watch=$!
timeout 100 "$alm_bin" get apps -w -o json --output-watch-events >events 2>&1 &
events=$!
package 0.9.4 >/dev/null
k create -f catalog.yaml -f etcd-apptype.yaml >/dev/null
app_is etcd "status.installedVersion = '0.9.4'" >/dev/null
soon "get -w shows what comes" yes eval "grep -q '0.9.4  *0.9.4  *Automatic  *True' watched && echo yes"
is "under one line of headers" 1 "$(grep -c '^NAME' watched)"
soon "with types, as objects" '"ADDED"' eval "jq -c 'select(.object.metadata.name == \"etcd\") | .type' events | head -1"
# one line of headers, also in the columns of a user
columns=custom-columns=NAME:.metadata.name,VERSION:.status.installedVersion
timeout 100 "$alm_bin" get apps -w -o "$columns" >in_columns 2>&1 &
in_columns=$!
soon "get -w in columns of one's own" "NAME VERSION etcd 0.9.4" eval 'xargs <in_columns'
k annotate apptype etcd example.com/seen=yes >/dev/null
soon "and what comes, without the headers again" "NAME VERSION etcd 0.9.4 etcd 0.9.4" eval 'xargs <in_columns'
is "and none of them on request" "etcd 0.9.4" "$(alm get apps --no-headers -o "$columns" | xargs)"
code "of one type" 2 "-w watches one type" alm get apps,ist -w
for form in name custom-columns=N:.metadata.name 'jsonpath={.items[*].metadata.name}' table; do
	code "of names one is not there: $form" 1 '"nope" not found' alm get apps nope etcd no -o "$form"
	has "  the others are printed" etcd "$(alm get apps nope etcd no -o "$form" 2>/dev/null)"
done
is "  each is told" 'alm: apps.app.coreos.com "nope" not found alm: apps.app.coreos.com "no" not found' "$(alm get apps nope no 2>&1 | xargs -d '\n')"
none "  and none on request" alm get apps nope no --ignore-not-found

# --- names that the server knows ---
is "apps" etcd "$(words upgrade et)"
is "versions" 0.9.4 "$(words approve etcd '')"
is "versions of an option" 0.9.4 "$(words upgrade etcd --to '')"
is "types" "catalogs" "$(words get cata)"
is "their objects" "community" "$(words describe catalog c)"
is "without a server: none, and no error" "0 " "$(KUBECONFIG=/nowhere words upgrade et >none 2>&1; echo "$? $(cat none)")"

# --- explain, logs ---
has "explain a type" "KIND:       AppType" "$(alm explain apps)"
has "  a field" "FIELD: spec.upgrade.mode <string>" "$(alm explain apps.spec.upgrade.mode)"
has "  its words" "Manual waits for an approval" "$(alm explain apps.spec.upgrade.mode)"
has "  all of them" "approvalTTL" "$(alm explain apps.spec --recursive)"
has "explain pipeline names the five concepts (L3)" "TRIGGER RENDERER CONFIGURATION ROLLOUT FEEDBACK" "$(alm explain pipeline | grep -E "^[A-Z]+$" | tr "\n" " ")"
has "alm run --help groups its flags by them (L3)" "TRIGGER --trigger RENDERER --renderer CONFIGURATION --config-file ROLLOUT --renderer.file.rollout FEEDBACK --trigger.resource.write-status" \
	"$(alm run --help | grep -E -A1 "^[A-Z]+: " | grep -oE "^[A-Z]+|--[a-z.-]+[a-z]" | tr "\n" " ")"
has "  and what a Rollout may say" "Actions: CreateOrUpdate, CreateIfNotExist, DeleteIfExist, Job, Canary" "$(alm explain pipeline)"
code "  a field that is none" 1 'field "spec.nosuch" does not exist in AppType' alm explain apps.spec.nosuch
code "logs of what is not there" 1 'pods "nosuch" not found' alm logs nosuch
code "  of a workload that is simulated" 0 "simulated, nothing runs here" alm logs deployment/etcd-operator -n etcd
k create deployment none --image=x --replicas=0 >/dev/null
code "  of one without Pods" 1 "deployment/none has no Pod in namespace default" alm logs deployment/none
k create -f - >/dev/null <<'END'
{apiVersion: v1, kind: Pod, metadata: {name: lone, namespace: default}, spec: {containers: [{name: c, image: x}]}}
END
code "  of a Pod without a kubelet" 0 "pod lone, container c: simulated" alm logs lone

# --- outputs of an instance ---
manifests
k create -f etcd-instance.yaml >/dev/null
k patch etcd etcd-purple-ant --subresource=status --type=merge -p '{"status":{"outputs":{"serviceName":"https://etcd.example.com"}}}' >/dev/null
esc=$(printf '\033')
has "an address in an output is a link (A32)" "serviceName: $esc]8;;https://etcd.example.com$esc\\https://etcd.example.com$esc]8;;$esc\\" \
	"$(alm describe etcd etcd-purple-ant --color always)"
has "  a text where nobody clicks" "serviceName: https://etcd.example.com" "$(alm describe etcd etcd-purple-ant)"

# --- history ---
k patch apptype etcd --type=merge -p '{"spec":{"upgrade":{"mode":"Manual"}}}' >/dev/null
package 0.9.5 >/dev/null
soon "a version waits" AwaitingApproval k get ist install.0.9.5.etcd.com.tectonic.storage -o 'jsonpath={.status.phase}'
alm approve etcd 0.9.5 --reason CHG-1 >/dev/null
app_is etcd "status.installedVersion = '0.9.5'" >/dev/null
alm history etcd -o json >revisions
is "history: the revisions" "1 0.9.4 2 0.9.5" "$(jq -r '.revisions[] | "\(.revision) \(.version)"' revisions | xargs)"
is "  who and why" "admin CHG-1" "$(jq -r '.revisions[1] | "\(.by) \(.reason)"' revisions)"
has "  as a table" "REVISION   VERSION   PHASE" "$(alm history etcd)"
code "  of no app" 1 "there is no app etdc (did you mean etcd?)" alm history etdc
kill $watch $events $in_columns 2>/dev/null
finish
