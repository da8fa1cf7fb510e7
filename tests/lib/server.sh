# shellcheck shell=sh disable=SC2034
# server.sh: sourced by the scripts of tests/e2e. Starts `alm server` on a free port in a folder of
# its own, and ends it with the script.
#	server_start [OPTION...]    sets $dir $url $token, exports KUBECONFIG
#	ok NAME / not_ok NAME       one line of TAP
#	finish                      the plan, at the end of the script
: "${BUILD:=build}"
dir=$(mktemp -d)
pid=
tests=0
server_stop() {
	[ -n "$pid" ] && kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	pid=
}
trap 'server_stop; rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM

server_start() {
	echo 'user-token,alice,2,"dev"' >"$dir/tokens"
	chmod 600 "$dir/tokens"
	: >"$dir/out"
	"$BUILD/alm" server --data-dir "$dir/data" --listen 127.0.0.1:0 --token-file "$dir/tokens" "$@" \
		>"$dir/out" 2>"$dir/err" &
	pid=$!
	for _ in $(seq 600); do # a loaded machine
		[ -s "$dir/out" ] && break
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.1
	done
	url=$(grep -o 'https://[0-9.:]*' "$dir/out") || {
		cat "$dir/err" >&2
		return 1
	}
	token=$(cat "$dir/data/token")
	export KUBECONFIG="$dir/data/kubeconfig"
}

ok() {
	tests=$((tests + 1))
	echo "ok $tests - $1"
}
not_ok() {
	tests=$((tests + 1))
	echo "not ok $tests - $1"
	[ -n "${2:-}" ] && printf '%s\n' "$2" | head -30 | sed 's/^/    # /'
}
finish() { echo "1..$tests"; }
