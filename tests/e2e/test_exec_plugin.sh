#!/bin/bash
# A kubeconfig whose user is a program that prints credentials (exec): alm asks before it runs one, and then is who kubectl is.
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v script >/dev/null || {
	echo "ok 1 - exec plugins # SKIP no script (Debian: bsdutils)"
	exit 0
}
server_start
own=$KUBECONFIG
token=$(cat "$dir/server/token")
mkdir "$dir/bin" "$dir/none"
plugin=$dir/bin/log-me-in
cat >"$plugin" <<'EOF'
#!/bin/sh
echo "$KUBERNETES_EXEC_INFO" >"$TOLD"
echo "$0 $* $OWN" >>"$TOLD"
[ -z "${FAILS:-}" ] || { echo "the browser was closed" >&2; exit 7; }
until=
if [ -n "${SHORT:-}" ]; then # good for two seconds; the next one is none
	echo asked >>"$TOLD.times"
	until=$(date -u -d '2 seconds' +',"expirationTimestamp":"%FT%TZ"')
	[ "$(wc -l <"$TOLD.times")" = 1 ] || TOKEN=none
	[ "$TOKEN" != none ] || [ -z "${CERT:-}" ] || TOKEN='","clientCertificateData":"C","clientKeyData":"K'
fi
printf '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"%s"%s}}' "$TOKEN" "$until"
EOF
chmod 755 "$plugin"
kubeconfig() { # COMMAND [MODE]: our own, with this user
	sed '/^users:/,$d' "$own"
	cat <<EOF
users:
- name: admin
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      interactiveMode: ${2:-IfAvailable}
      command: $1
      args: [get, "a token"]
      env: [{name: OWN, value: "1"}]
      installHint: it comes with the package login
      provideClusterInfo: true
contexts:
- name: alm
  context: {cluster: alm, user: admin}
current-context: alm
EOF
}
export TOKEN=$token TOLD=$dir/told
kubeconfig "$plugin" >"$dir/exec"
export KUBECONFIG=$dir/exec HOME=$dir/none
names() { alm get namespaces "$@" 2>&1; }
has "not without leave" "allow it with --allow-exec-plugin $plugin" "$(names)"
is "  it was not run" none "$([ -e "$dir/told" ] || echo none)"
k get namespaces -o name >/dev/null
jq -Sc . <(head -1 "$dir/told") >"$dir/by-kubectl"
rm "$dir/told"
has "it is allowed for a command" kube-system "$(names --allow-exec-plugin "$plugin")"
is "it is told what kubectl tells" "$(cat "$dir/by-kubectl")" "$(jq -Sc . <(head -1 "$dir/told"))"
is "with its arguments and variables" "$plugin get a token 1" "$(tail -1 "$dir/told")"
has "the next command asks again" "allow it with" "$(names)"
has "another program is not meant" "allow it with" "$(names --allow-exec-plugin /usr/bin/true)"
ask() { printf '%s\n' "$1" | script -qec "$alm_bin get namespaces" /dev/null 2>&1 | tr -d '\r'; }
has "on a terminal it is asked for" "Run it, now and from now on? [y/N]" "$(ask n)"
has "no is no" "allow it with" "$(ask n)"
has "yes is yes" kube-system "$(ask y)"
has "and stays so" kube-system "$(names)"
is "in a file of the owner's" "600 $plugin" "$(stat -c %a "$dir/none/.alm/exec-plugins") $(cat "$dir/none/.alm/exec-plugins")"
has "what it says is wrong is told" "failed with exit code 7: the browser was closed" "$(FAILS=1 names)"
has "a token that is none" "Unauthorized" "$(TOKEN=x names)"
kubeconfig log-me-in >"$dir/exec"
has "by name, from PATH" kube-system "$(PATH=$dir/bin:$PATH names)"
has "one that is not there" "exec: executable log-me-in not found; it comes with the package login" "$(names)"
kubeconfig bin/log-me-in >"$dir/exec"
has "below the folder of the kubeconfig" kube-system "$(names)"
kubeconfig "$plugin" Always >"$dir/exec"
has "one that wants the terminal" "exec.interactiveMode is Always" "$(names)"
kubeconfig "$plugin" >"$dir/exec"
# A service: nobody is asked, the program has little to read, and its tokens are renewed.
service=$dir/bin/log-a-service-in
cat >"$service" <<EOF
#!/bin/sh
env >"$dir/env"
echo asked >>"$dir/asked"
[ ! -e "$dir/fails" ] || { echo "no network" >&2; exit 7; }
until=\$(date -u -d '3 seconds' +%FT%TZ)
printf '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"%s","expirationTimestamp":"%s"}}' \\
	"\$(cat "$dir/server/token")" "\$until"
EOF
chmod 755 "$service"
kubeconfig "$service" >"$dir/exec"
controller() { alm controller --kubeconfig "$dir/exec" --data-dir "$dir/controller" --metrics-listen off "$@" 2>&1; }
has "a service runs none by itself" "allow it with --allow-exec-plugin $service" "$(controller)"
has "  nor another one" "allow it with --allow-exec-plugin $service" "$(controller --allow-exec-plugin "$plugin")"
is "  it was not run" none "$([ -e "$dir/asked" ] || echo none)"
touch "$dir/fails"
has "one that fails ends the start" "failed with exit code 7: no network" "$(controller --allow-exec-plugin "$service")"
rm "$dir/fails"
OF_THE_SERVICE=secret "$alm_bin" controller --kubeconfig "$dir/exec" --data-dir "$dir/controller" --metrics-listen off \
	--allow-exec-plugin "$service" >"$dir/controller.log" 2>&1 &
runs=$!
acts() { k --kubeconfig "$own" get lease -n alm-system alm-controller -o 'jsonpath={.spec.holderIdentity}' 2>/dev/null | grep -q . && echo yes; }
soon "allowed, it is who the program says" yes acts
is "  which sees what it needs" "HOME KUBERNETES_EXEC_INFO OWN PATH" \
	"$(sed -n 's/^\([A-Z_]*\)=.*/\1/p' "$dir/env" | grep -vx 'PWD\|SHLVL\|OLDPWD\|_' | sort | tr '\n' ' ' | sed 's/ $//')"
# shellcheck disable=SC2016
soon "its tokens are renewed" yes sh -c 'n=$(wc -l <"$1"); [ "$n" -gt 3 ] && echo yes' - "$dir/asked"
touch "$dir/fails"
# shellcheck disable=SC2016
soon "a failure is told" yes sh -c 'grep -q "exit code 7: no network" "$1" && echo yes' - "$dir/controller.log"
is "  and ends nothing" yes "$(kill -0 $runs && echo yes)"
kill $runs
wait $runs
kubeconfig "$plugin" >"$dir/exec"
mkdir "$dir/m"
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: by-run, namespace: default}\n' >"$dir/m/one.yaml"
has "alm run is a command" "ConfigMap/ConfigMap: Finished" "$(cd "$dir" && alm run --trigger=oneoff --renderer.file.dir=m 2>&1)"
SHORT=1 timeout --foreground 100 "$alm_bin" run --trigger=interval --trigger.interval.duration=300ms --renderer.file.dir="$dir/m" >"$dir/ran" 2>&1 &
runs=$!
# shellcheck disable=SC2016 # the inner shells'
soon "a token that ends is asked for again" yes sh -c 'n=$(wc -l <"$1"); [ "$n" -gt 1 ] && echo yes' - "$TOLD.times"
# shellcheck disable=SC2016
soon "and the new one is used from there on" yes sh -c 'grep -q Unauthorized "$1" && echo yes' - "$dir/ran"
kill $runs
wait $runs
# The next answer is a certificate alone: it is not taken, and the token stays.
rm "$TOLD.times"
CERT=1 SHORT=1 timeout --foreground 100 "$alm_bin" run --trigger=interval --trigger.interval.duration=300ms --renderer.file.dir="$dir/m" >"$dir/ran" 2>&1 &
runs=$!
# shellcheck disable=SC2016
soon "a certificate behind a token" yes sh -c 'n=$(wc -l <"$1"); [ "$n" -gt 2 ] && echo yes' - "$TOLD.times"
lacks "  changes nothing" cat "$dir/ran" -- -i "Unauthorized\|Warning"
kill $runs
wait $runs
finish
