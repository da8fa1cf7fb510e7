#!/bin/sh
# kubectl.sh, in the place of kubectl: `get -o json|name|jsonpath=...`, of which the scripts make thousands to see what came of something,
# is done by $ALM_READS, the plain build, in 5 ms of the processor where kubectl takes 80. All else, and every option that is not
# listed here, is kubectl's. tests/lib/run.sh puts it there under sanitizers, where the servers are what is tested; the plain tests
# have the real one throughout.
real=$(dirname "$0")/kubectl.real
reads() {
	[ "${1:-}" = get ] || return 1
	shift
	form=
	while [ $# -gt 0 ]; do
		case $1 in
		-o | --output) form=${2:-} && shift ;;
		-o=*) form=${1#-o=} ;;
		-o*) form=${1#-o} ;;
		-n | -l | --field-selector | --namespace | --selector) shift ;;
		-A | --all-namespaces | --ignore-not-found) ;;
		-*) return 1 ;;
		esac
		shift
	done
	case $form in json | name | jsonpath=*) return 0 ;; *) return 1 ;; esac
}
if reads "$@"; then exec "$ALM_READS" "$@"; fi
exec "$real" "$@"
