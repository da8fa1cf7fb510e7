#!/bin/sh
# kubectl.sh, before kubectl in the PATH of the scripts (tests/lib/run.sh): where $KUBECTL_READS is set, what `get -o json|name|jsonpath=...`
# reads is read by the alm of that path, which takes a twentieth of kubectl's processor time. soon() of tests/e2e/lib.sh sets it for
# all looks but its first, and run.sh under sanitizers, for which the servers are there. All else, every option that is not listed
# here, and what cannot be read, is kubectl's: it has words of its own for errors.
reads() {
	[ "${1:-}" = get ] || return 1
	form=
	while shift && [ $# -gt 0 ]; do
		case $1 in
		-o) form=${2:-} && shift ;;
		-o*) form=${1#-o} && form=${form#=} ;;
		-n | -l | --field-selector) shift ;;
		-A | --ignore-not-found) ;;
		-*) return 1 ;;
		esac
	done
	case $form in json | name | jsonpath=*) return 0 ;; *) return 1 ;; esac
}
if [ -n "${KUBECTL_READS:-}" ] && reads "$@" && out=$("$KUBECTL_READS" "$@" 2>/dev/null && echo .); then
	printf %s "${out%.}"
	exit
fi
exec "${0%/*}/real/kubectl" "$@"
