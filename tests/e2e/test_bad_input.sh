#!/bin/bash
# Bad input: one clear error that names file, field and remedy, an exit code that is not 0, and nothing half-applied.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
files=$PWD/tests/e2e/kubectl
cd "$dir" || exit 1
# one NAME CODE TEXT COMMAND...: as code(), and the error is a single line
one() {
	code "$@"
	shift 3
	is "  in one line" 1 "$("$@" 2>&1 >/dev/null </dev/null | grep -c .)"
}

# --- charts ---
package 0.9.4 "$dir/good" >package.out
chart=$dir/good/etcd-operator-0.9.4.tgz
copy() { rm -rf "$1" && cp -R "$demo/charts/etcd-operator" "$1"; }
head -c 700 "$chart" >cut.tgz
echo garbage >garbage.tgz
mkdir -p bare && echo 'a: b' >bare/values.yaml && tar czf bare.tgz bare
for verb in template lint; do
	code "$verb: a truncated archive" 1 "gzip stream is truncated; it is no chart archive, or damaged: fetch it again" alm $verb cut.tgz
	code "$verb: no archive" 1 "garbage.tgz: not gzip" alm $verb garbage.tgz
	code "$verb: an absent chart" 1 "none.tgz" alm $verb none.tgz
	code "$verb: no Chart.yaml in the folder" 1 "bare: Chart.yaml file is missing; a chart is" alm $verb bare
	code "$verb: no Chart.yaml in the archive" 1 "bare.tgz: Chart.yaml file is missing" alm $verb bare.tgz
done
code "package build: no Chart.yaml" 1 "bare: Chart.yaml file is missing" alm package build bare -o out
is "  nothing is written" "no" "$([ -e out ] && echo yes || echo no)"
copy broken && sed -i '3i {{ .Values.a.b }}' broken/templates/configmap.yaml
code "template: an error says file:line:column" 1 "etcd-operator/templates/configmap.yaml:3:" alm template broken
EXIT=1 none "  and nothing on standard output" alm template broken
copy broken && echo '{{ if }}' >>broken/templates/configmap.yaml
code "template: a parse error says file:line" 1 "configmap.yaml:$(wc -l <broken/templates/configmap.yaml))" alm template broken
copy broken && printf 'a: 1\n  b: [\n' >broken/templates/configmap.yaml
code "template: invalid YAML says file and line" 1 "templates/configmap.yaml: error converting YAML to JSON: yaml: line 2" alm template broken
copy broken && printf 'a: 1\n  b: [\n' >broken/values.yaml
code "template: invalid values say file and line" 1 "values.yaml: cannot unmarshal yaml document: error converting YAML to JSON: yaml: line 2" alm template broken
copy broken && printf 'a: 1\n  b: [\n' >broken/Chart.yaml
code "package build: invalid Chart.yaml says folder, file and line" 1 "broken: Chart.yaml: yaml: line 2" alm package build broken --version 1.0.0 -o out
copy broken && printf 'appTyp: x\n' >broken/alm.yaml
code "package build: an unknown field of alm.yaml" 1 "appTyp" alm package build broken -o out
is "  nothing is written" "no" "$([ -e out ] && echo yes || echo no)"

# --- alm up ---
up() { alm up --data-dir "$dir/new" --listen 127.0.0.1:0 --metrics-listen off "$@"; }
python3 -c '
import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
print(s.getsockname()[1], flush=True); time.sleep(300)' >port &
blocker=$!
taken=127.0.0.1:$(written port)
used="$taken is already in use; stop what listens there or choose another address"
one "port in use" 1 "--listen: $used" up --listen "$taken"
one "metrics port in use" 1 "--metrics-listen: $used" up --metrics-listen "$taken"
is "  and tells of no other flag" "$used" "$(up --metrics-listen "$taken" 2>&1 | sed 's/.*--metrics-listen: //')"
one "a wrong address" 2 "listen address x: want ADDRESS:PORT" up --listen x
one "a wrong duration" 2 '--verify-soak: "x" is no duration' up --verify-soak x
one "an unknown flag" 2 "unknown flag: --nosuch" up --nosuch
is "  none of these makes a data folder" "no" "$([ -e new ] && echo yes || echo no)"
kill $blocker
one "no data folder can be made" 1 "data folder (choose another with --data-dir): /proc/alm: " up --data-dir /proc/alm
touch plain
one "the data folder is a file" 1 "plain: is no folder" up --data-dir "$dir/plain"
mkdir -m 0555 readonly
if setpriv --reuid=65534 --clear-groups "$alm_bin" version --client >/dev/null 2>&1; then
	chmod 755 "$dir"
	one "the data folder of another user" 1 "readonly belongs to user 0, alm runs as user 65534" \
		setpriv --reuid=65534 --clear-groups "$alm_bin" up --data-dir "$dir/readonly" --listen 127.0.0.1:0 --metrics-listen off
elif [ "$(id -u)" -ne 0 ]; then
	one "the data folder is not writable" 1 "readonly/alm.db.lock: Permission denied" up --data-dir "$dir/readonly"
fi

metrics=off
up_start
one "the data folder is in use" 1 "data/alm.db is in use by another alm, process $pid; stop it first" up --data-dir "$data"
up_stop
sum() { sha256sum "$data/alm.db"; }
if command -v sqlite3 >/dev/null; then
	layout=$(sqlite3 "$data/alm.db" 'pragma user_version')
	sqlite3 "$data/alm.db" 'pragma user_version = 99'
	before=$(sum)
	one "data of a newer version" 1 "data/alm.db: written by a newer alm (layout 99, this one knows $layout); use that alm, or another folder with --data-dir" up --data-dir "$data"
	one "  also for those who only read" 1 "written by a newer alm" alm audit verify --data-dir "$data"
	one "  and for the controller" 1 "written by a newer alm" alm controller --data-dir "$data" --kubeconfig "$data/kubeconfig" --metrics-listen off
	is "  it is left as it was" "$before" "$(sum)"
	sqlite3 "$data/alm.db" "pragma user_version = $layout"
fi
cp "$data/ca.key" ca.key && openssl ecparam -name prime256v1 -genkey -noout >"$data/ca.key" 2>/dev/null
one "a CA key of another CA" 1 "ca.crt, ca.key (remove both to get a new CA)" up --data-dir "$data"
cp ca.key "$data/ca.key"
cp -R "$data" damaged
head -c 5000 /dev/urandom | dd of=damaged/alm.db bs=1 seek=4000 conv=notrunc 2>/dev/null
before=$(sha256sum damaged/alm.db)
one "a damaged database" 1 "damaged/alm.db: not a database, or damaged (" up --data-dir "$dir/damaged"
one "  and its remedy" 1 'put a backup in its place (alm restore FILE --reason TEXT) or salvage it with "sqlite3 FILE .recover"' up --data-dir "$dir/damaged"
is "  it is left as it was" "$before" "$(sha256sum damaged/alm.db)"
head -c 8192 "$data/alm.db" >damaged/alm.db
one "a truncated database" 1 "damaged/alm.db: not a database, or damaged (" up --data-dir "$dir/damaged"

# --- manifests ---
up_start
head=$(printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: first\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: second')
printf '%s\n bad: [\n' "$head" >bad.yaml
one "invalid YAML says file and line" 1 "bad.yaml: yaml: line 9" alm create -f bad.yaml
one "  the same with apply" 1 "bad.yaml: yaml: line 9" alm apply -f bad.yaml
lacks "  and no document of the file is applied" alm get configmaps -o name -- -e first -e second
manifests
sed 's/^spec:/spec:\n  bogus: 1/' etcd-apptype.yaml >unknown.yaml
one "an unknown field is named" 1 'unknown.yaml: AppType in version "v1beta1" cannot be handled as a AppType: strict decoding error: unknown field "spec.bogus"' alm create -f unknown.yaml
one "  also with apply" 1 'unknown.yaml:2: failed to create typed patch object (/etcd; app.coreos.com/v1beta1, Kind=AppType): .spec.bogus: field not declared in schema' alm apply -f unknown.yaml
none "  and nothing is stored" alm get apptypes -o name
alm create -f "$files/crd.yaml" >/dev/null
alm wait crd/gears.kt.example.com --for=condition=Established --timeout 60s >/dev/null
one "an unknown field of a custom resource" 1 'unknown field "spec.bogus"' alm create -f "$files/bad.yaml"

# --- a catalog with bad archives: they are left out and named, the others go on ---
cp cut.tgz bare.tgz garbage.tgz "$catalog/"
package 0.9.4 >/dev/null
alm create -f catalog.yaml -f etcd-apptype.yaml >/dev/null
is "a good app of a catalog with bad archives is installed" "apptype.app.coreos.com/etcd" "$(app_is etcd "status.installedVersion = '0.9.4'" 2>&1)"
rejected() { alm get catalog community -o json | jq -r '.status.rejected[]?'; }
for text in "cut.tgz: " "gzip stream is truncated" "garbage.tgz: not gzip" "bare.tgz: the archive has no Chart.yaml"; do
	has "the catalog names $text" "$text" "$(rejected)"
done
code "catalog lint names them with the remedy" 1 "remedy: correct it and build the package again" alm catalog lint "$catalog"
package 0.9.5 >/dev/null
is "and newer versions still come" "apptype.app.coreos.com/etcd" "$(app_is etcd "status.installedVersion = '0.9.5'" 2>&1)"
finish
