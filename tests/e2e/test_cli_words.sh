#!/bin/bash
# What people read of `alm`: warnings of a kubeconfig, "did you mean", one answer in JSON for every table, the way back
# of `get -o yaml`.
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
metrics=off
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

finish
