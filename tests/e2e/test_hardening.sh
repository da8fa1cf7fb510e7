#!/bin/bash
# What the processes of the services have given up (reliability.md 7), read from the kernel; that a crash leaves no secret
# behind; --user; and how the program is built.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
source_dir=$PWD
cd "$dir" || exit 1
metrics=off
if "$alm_bin" version --client | grep -q "a sanitizer's build"; then
	echo "ok 1 - hardening # SKIP a sanitizer's build: its run-time needs what is closed"
	echo "1..1"
	exit 0
fi
is_root() { [ "$(id -u)" -eq 0 ]; }
status() { awk -v k="$2:" '$1 == k { print $2 }' "/proc/$1/status"; }
# given_up NAME PID
given_up() {
	is "$1: no capabilities" "0000000000000000 0000000000000000 0000000000000000 0000000000000000 0000000000000000" \
		"$(for set in CapInh CapPrm CapEff CapBnd CapAmb; do status "$2" $set; done | xargs)"
	is "$1: no new privileges, system calls filtered" "1 2" "$(status "$2" NoNewPrivs) $(status "$2" Seccomp)"
	is "$1: no core dumps" "0 0" "$(awk '/core file/ { print $5, $6 }' "/proc/$2/limits")"
	is "$1: nothing of memory in a dump" "00000000" "$(cat "/proc/$2/coredump_filter")"
	# what is not dumpable belongs to root, whoever runs it
	is "$1: no debuggers but root's" 0 "$(stat -c %u "/proc/$2/mem")"
}
children() { pgrep -P "$1"; }

# --- alm up, and its sandbox ---
up_start --allow-source 127.0.0.1
given_up "alm up" "$pid"
helpers=$(children "$pid") # the sandbox's zygote, and the launcher of programs
is "two helpers" 2 "$(echo "$helpers" | wc -w)"
for helper in $helpers; do
	is "a helper: no capabilities" "0000000000000000 1" "$(status "$helper" CapEff) $(status "$helper" NoNewPrivs)"
done
has "the start line tells it" "no core dumps, no debuggers, no new privileges, no capabilities, system calls filtered; charts render in a sandbox" "$(cat out)"
manifests
alm create -f catalog.yaml -f etcd-apptype.yaml >/dev/null
package 0.9.4 >/dev/null
code "charts render" 0 "etcd" app_is etcd "status.installedVersion = '0.9.4'"
# shellcheck disable=SC2086 # two numbers
kill -9 $helpers
sed -i 's/name: community/name: second/' catalog.yaml
package 0.9.5 >/dev/null
code "  also after the helpers were killed" 0 "etcd" app_is etcd "status.installedVersion = '0.9.5'"
api=$(grep -o 'alm: https://[0-9.:]*' out | cut -d' ' -f2)
alm create -f - >/dev/null <<-END
	{apiVersion: app.coreos.com/v1alpha1, kind: Catalog, metadata: {name: web}, spec: {source: {url: "$api/"}}}
END
code "https is still spoken, to a server with a certificate of its own" 0 "" timeout 60 sh -c \
	"until '$alm_bin' status | grep -i '^catalog web:.*certificate'; do sleep 0.2; done"
if command -v gcore >/dev/null && is_root; then
	gcore -o image "$pid" >/dev/null 2>&1
	token=$(cat "$data/token")
	none "an image that root takes has no token" seek -alF -e "$token" "image.$pid"
fi
up_stop

# --- a crash ---
ulimit -c unlimited 2>/dev/null
crash() {
	rm -f core*
	up_start
	kill -ABRT "$pid"
	wait "$pid" 2>/dev/null
	pid=
	find . -maxdepth 1 -name 'core*' | wc -l
}
is "a crash leaves no core" "0" "$(crash 2>/dev/null)"
if [ "$(cat /proc/sys/kernel/core_pattern)" = core ] && [ "$(ulimit -c)" = unlimited ]; then
	is "  ALM_DEBUGGABLE=1 leaves one, for developers" "1" "$(export ALM_DEBUGGABLE=1 && crash 2>/dev/null)"
	rm -f core*
fi

# --- alm server, alm controller ---
"$alm_bin" server --data-dir "$dir/server" --listen 127.0.0.1:0 >server.out 2>server.err &
pid=$!
timeout 60 sh -c 'until [ -s server.out ]; do sleep 0.1; done'
given_up "alm server" $pid
server=$pid
"$alm_bin" controller --data-dir "$dir/controller" --kubeconfig "$dir/server/kubeconfig" --metrics-listen off >controller.out 2>&1 &
pid=$!
timeout 60 sh -c 'until [ -s controller.out ]; do sleep 0.1; done'
given_up "alm controller" $pid
kill $pid
wait $pid
pid=$server
up_stop

# --- another user ---
if is_root && getent passwd nobody >/dev/null; then
	chmod 755 "$dir"
	data=$dir/nobody
	install -d -o nobody -m 700 "$data"
	up_start --user nobody --listen 127.0.0.1:899
	is "--user: who runs" "$(id -u nobody) $(id -u nobody) $(id -u nobody) $(id -u nobody)" \
		"$(awk '/^Uid:/ { print $2, $3, $4, $5 }' "/proc/$pid/status")"
	is "  in no other group" "$(id -g nobody)" "$(awk '/^Groups:/ { print $2 }' "/proc/$pid/status")"
	given_up "  --user" "$pid"
	has "  a low port is listened on" "127.0.0.1:899" "$(cat out)"
	has "  it answers" default "$(alm get ns -o name)"
	none "  the folder is all its own" find "$data" ! -user nobody
	up_stop
	code "--user nobody for the folder of root" 1 "belongs to user 0" alm up --data-dir "$dir/server" --user nobody --listen 127.0.0.1:0 --metrics-listen off
	code "--user is for root" 1 "only root can become another user" \
		setpriv --reuid=65534 --clear-groups "$alm_bin" up --user root --data-dir "$data" --listen 127.0.0.1:0
else
	ok "--user # SKIP not root"
fi
code "--user of nobody" 1 "no user is named no-such-user" alm up --user no-such-user --data-dir "$data"

# --- commands ---
has "alm version tells what protects it" "no core dumps, no debuggers, no new privileges" "$(alm version --client)"
has "  and its sandbox" "sandbox of charts: " "$(alm version --client)"

# --- how it is built ---
elf() { readelf -W "$@" "$alm_bin" 2>/dev/null; }
has "the program is at a random place" "PIE" "$(elf -d)"
has "  its tables are closed before it runs" "BIND_NOW" "$(elf -d)"
has "  also for writing" "GNU_RELRO" "$(elf -l)"
is "  the stack holds no code" "RW" "$(elf -l | awk '/GNU_STACK/ { print $(NF - 1) }')"
loaded() { elf -l | grep LOAD; }
lacks "  nothing is to be written and run" loaded -- RWE
lacks "  libraries come from the system" elf -d -- -E 'RPATH|RUNPATH'
has "  stacks are watched" "__stack_chk_fail" "$(elf --dyn-syms)"
has "  lengths of buffers are checked" "__memcpy_chk" "$(elf --dyn-syms)"
# gcc writes into the debugging information what it was called with
called=$(strings -a "$alm_bin" | grep '^GNU C17 .*fstack-protector-strong' | sort -u)
if [ -n "$called" ]; then
	for flag in -ftrivial-auto-var-init=zero -fzero-call-used-regs=used-gpr -fstack-clash-protection -fcf-protection; do
		lacks "  every file has $flag" echo "$called" -- -vF -e "$flag"
	done
else
	ok "flags of the compiler # SKIP not gcc's, or stripped"
fi
cd "$source_dir" || exit 1
finish
