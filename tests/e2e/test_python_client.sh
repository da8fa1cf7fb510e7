#!/bin/sh
# A program written with the Python client of Kubernetes (python_client.py) against `alm server`. Skipped where ALM_PYTHON, python3
# or that of a folder python of the oracles (`python3 -m venv ~/.cache/alm-oracles/python`, `pip install kubernetes`) has no module kubernetes.
set -u
for python in "${ALM_PYTHON:-python3}" "${ALM_ORACLES:-${XDG_CACHE_HOME:-$HOME/.cache}/alm-oracles}/python/bin/python3" none; do
	"$python" -c 'from kubernetes.leaderelection.resourcelock import leaselock' 2>/dev/null && break
done
[ "$python" != none ] || {
	echo "ok 1 - the Python client # SKIP no Python has the module kubernetes"
	echo "1..1"
	exit 0
}
# shellcheck source=tests/lib/server.sh
. tests/lib/server.sh
server_start "$@" || not_ok "the server starts"
timeout 120 "$python" tests/e2e/python_client.py "$KUBECONFIG" >"$dir/told" 2>"$dir/log" || not_ok "it ends" "$(tail -5 "$dir/log")"
while IFS= read -r line; do
	case $line in
	"# "*) why=${line#"# "} ;;
	"ok "*) ok "${line#* - }" ;;
	"not ok "*) not_ok "${line#* - }" "$why" ;;
	esac
done <"$dir/told"
[ "$tests" = 5 ] || not_ok "five things are tried" "$(tail -5 "$dir/log")"
finish
