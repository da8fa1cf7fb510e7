#!/bin/bash
# What people read of `alm`: warnings of a kubeconfig, "did you mean", one answer in JSON for every table, the way back
# of `get -o yaml`.
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
metrics=off
manifests
up_start

# --- kubeconfigs that kubectl takes ---
cp "$KUBECONFIG" "$dir/open"
chmod 644 "$dir/open"
said=$(alm --kubeconfig "$dir/open" get apps 2>&1)
is "a kubeconfig that others may read: exit status" 0 $?
has "  is taken with a warning" "Warning: $dir/open holds credentials and can be read by others: chmod 600 it" "$said"
is "  on standard error alone" "" "$(alm --kubeconfig "$dir/open" get apps 2>/dev/null)"
(umask 077 && sed 's/certificate-authority-data: .*/insecure-skip-tls-verify: true/' "$KUBECONFIG" >"$dir/insecure")
said=$(alm --kubeconfig "$dir/insecure" get apps 2>&1)
is "a kubeconfig that does not verify: exit status" 0 $?
has "  is taken with a warning" "Warning: insecure-skip-tls-verify: anybody on the way to https://127.0.0.1:" "$said"
is "  and without one if the flag says so" "No resources found" \
	"$(alm --kubeconfig "$dir/insecure" --insecure-skip-tls-verify get apps 2>&1)"

# --- did you mean ---
k create -f "$dir/catalog.yaml" -f "$dir/etcd-apptype.yaml" >/dev/null
code "a command" 2 "unknown command alm statsu (did you mean status?); see alm --help" alm statsu
code "a command of a command" 2 "unknown command alm audit verfy (did you mean verify?)" alm audit verfy
code "the beginning of one" 2 "unknown command alm comp (did you mean completion?)" alm comp
code "nothing like it" 2 "unknown command alm zzzzzz; see alm --help" alm zzzzzz
code "an option" 2 "unknown flag: --ouput (did you mean --output?)" alm get apps --ouput json
code "an option of all commands" 2 "unknown flag: --contxt (did you mean --context?)" alm get apps --contxt c
code "an option of helm" 1 "unknown flag: --name-templat (did you mean --name-template?)" alm template --name-templat x
code "a type" 1 "resource type \"appz\" (did you mean apps?)" alm get appz
for command in status why "why-not etdc 0.9.4" "approve etdc 0.9.4 --reason x" "upgrade etdc --to 0.9.4" "diff" "rbac"; do
	# shellcheck disable=SC2086
	set -- $command
	[ $# -gt 1 ] || set -- "$1" etdc
	code "an app: alm $1" 1 "there is no app etdc (did you mean etcd?); \`alm status\` lists them all" alm "$@"
done

finish
