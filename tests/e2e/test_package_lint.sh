#!/bin/sh
# alm package build: the same files give the same bytes whatever their times, order and modes; helm reads them.
# alm lint: exit codes, several charts, --quiet, --strict, --with-subcharts; broken charts get helm's verdict (HELM, PATH or
# the oracles; else only the recorded one); what is in a chart is looked at in a sandbox.
# shellcheck disable=SC2016 # template text
set -u
BUILD=${BUILD:-build}
alm=$(pwd)/$BUILD/alm
helm=${HELM:-$(command -v helm || echo "$HOME/.cache/alm-oracles/bin/helm")}
"$helm" version --short 2>/dev/null | grep -q '^v4\.1' || helm=
n=0
ok() { n=$((n + 1)); echo "ok $n - $1"; }
not_ok() { n=$((n + 1)); echo "not ok $n - $1"; shift; printf '%s\n' "$@" | head -20 | sed 's/^/# /'; }
is() { if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "want $2" "got $3"; fi; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1

# chart NAME
chart() {
	mkdir -p "$1/templates"
	printf 'apiVersion: v2\nname: %s\nversion: 1.0.0\n' "$1" >"$1/Chart.yaml"
	printf 'a: 1\n' >"$1/values.yaml"
	printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: {{ .Values.a | quote }}}\n' >"$1/templates/a.yaml"
}

# --- package ---
chart c
mkdir -p c/files c/charts
for i in 1 2 3 4 5; do echo $i >c/files/f$i; done
chart sub && mv sub c/charts/
printf '*.bak\n' >c/.helmignore
echo x >c/x.bak
mkdir other
for f in $(cd c && find . -type f | sort -r); do
	mkdir -p "other/$(dirname "$f")"
	cat "c/$f" >"other/$f"
	chmod 600 "other/$f"
	touch -d 2001-02-03 "other/$f"
done
chmod 755 other/Chart.yaml
mkdir o1 o2
first=$("$alm" package build c -o o1)
second=$( (umask 077 && TZ=Asia/Tokyo LC_ALL=C "$alm" package build other -o o2))
is "the same files, other times, order, modes: the same bytes" "$(sha256sum <o1/c-1.0.0.tgz)" "$(sha256sum <o2/c-1.0.0.tgz)"
is "with its sha256" "o1/c-1.0.0.tgz  sha256:$(sha256sum o1/c-1.0.0.tgz | cut -d' ' -f1)" "$first"
is "the same one" "${first#*sha256:}" "${second#*sha256:}"
lacks "without what is ignored" tar tzf o1/c-1.0.0.tgz -- bak
is "it renders as its folder does" "$("$alm" template r c)" "$("$alm" template r o1/c-1.0.0.tgz)"
echo 6 >c/files/f6
"$alm" package build c -o o2 >/dev/null
if cmp -s o1/c-1.0.0.tgz o2/c-1.0.0.tgz; then not_ok "another file, other bytes"; else ok "another file, other bytes"; fi
if [ -n "$helm" ]; then
	is "helm renders it" "$("$alm" template r o1/c-1.0.0.tgz)" "$("$helm" template r o1/c-1.0.0.tgz 2>&1)"
	is "helm shows it" "$(cat c/Chart.yaml)" "$("$helm" show chart o1/c-1.0.0.tgz | sort | sed '/^$/d')"
	is "helm lints it" "$("$helm" lint o1/c-1.0.0.tgz >out 2>&1; echo $? "$(grep -c 'missing these dependencies: sub' out)")" \
		"$("$alm" lint o1/c-1.0.0.tgz >out 2>&1; echo $? "$(grep -c 'missing these dependencies: sub' out)")"
	(cd o1 && "$helm" package ../c >/dev/null 2>&1)
	is "what helm packs is read" "$("$alm" template r c)" "$("$alm" template r o1/c-1.0.0.tgz)"
else ok "helm reads it # SKIP no helm 4.1 (set HELM)"; fi

# --- lint ---
# broken NAME EXIT TEXT FILE CONTENT: a chart with this one file changed
broken() {
	chart "$1"
	mkdir -p "$(dirname "$1/$4")"
	printf '%b' "$5" >"$1/$4"
	"$alm" lint "$1" >out 2>&1
	status=$?
	[ -z "$helm" ] || is "helm's verdict on $1" "$2" "$("$helm" lint "$1" >/dev/null 2>&1; echo $?)"
	if [ $status -eq "$2" ] && grep -qF -- "$3" out; then ok "lint $1"; else not_ok "lint $1 (exit $status, want $2): $3" "$(cat out)"; fi
}
v2='apiVersion: v2\nname:'
broken no-name 1 'name is required' Chart.yaml 'apiVersion: v2\nversion: 1.0.0\n'
broken no-version 1 'version is required' Chart.yaml "$v2 no-version\n"
broken no-api 1 'apiVersion is required' Chart.yaml 'name: no-api\nversion: 1.0.0\n'
broken bad-api 1 "apiVersion 'v9' is not valid" Chart.yaml 'apiVersion: v9\nname: bad-api\nversion: 1.0.0\n'
broken bad-version 1 "version 'abc' is not a valid SemVer" Chart.yaml "$v2 bad-version\nversion: abc\n"
broken loose-version 0 "is not a valid SemVerV2" Chart.yaml "$v2 loose-version\nversion: \"1.2\"\n"
broken twice 0 'key "name" already set in map' Chart.yaml "$v2 twice\nversion: 1.0.0\nname: twice\n"
broken unknown 0 'unknown field "foo"' Chart.yaml "$v2 unknown\nversion: 1.0.0\nfoo: 1\n"
broken bad-yaml 1 'did not find expected node content' Chart.yaml 'name: [\n'
broken bad-type 1 'chart.metadata.type must be application or library' Chart.yaml "$v2 bad-type\nversion: 1.0.0\ntype: foo\n"
broken missing 0 'chart directory is missing these dependencies: sub' Chart.yaml "$v2 missing\nversion: 1.0.0\ndependencies: [{name: sub, version: 1.0.0, repository: https://x}]\n"
broken bad-alias 1 'has disallowed characters in the alias' Chart.yaml "$v2 bad-alias\nversion: 1.0.0\ndependencies: [{name: sub, version: 1.0.0, alias: a b}]\n"
broken bad-values 1 'cannot load values.yaml' values.yaml 'a: [\n'
broken list-values 1 'cannot unmarshal array' values.yaml '- a\n'
broken bad-schema 1 'unexpected EOF' values.schema.json '{"type":'
broken schema 1 "missing property 'z'" values.schema.json '{"required": ["z"]}'
broken unclosed 1 'unclosed action' templates/a.yaml '{{ .Values.a'
broken no-function 1 'function "foo" not defined' templates/a.yaml '{{ foo }}'
broken bad-output 1 'unable to parse YAML' templates/a.yaml 'a: ['
broken text-extension 1 "file extension '.foo' not valid" templates/b.foo 'a: ['
is "what is in it is no error" 1 "$("$alm" lint text-extension | grep -c ERROR)"
broken text-no-yaml 0 'YAML parse error on text-no-yaml/templates/b.txt' templates/b.txt 'a: ['
broken text-no-function 1 'function "foo" not defined' templates/b.txt '{{ foo }}'
broken no-values 1 'nil pointer evaluating' templates/a.yaml 'a: {{ .Values.x.y }}\n'
broken old-api 0 'deprecated' templates/a.yaml 'apiVersion: extensions/v1beta1\nkind: Ingress\nmetadata: {name: x}\n'
broken bad-object 0 'metadata.name' templates/a.yaml 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: X_y}\n'
broken bad-ignore 1 'double-star (**) syntax is not supported' .helmignore '**\n'
chart no-folder
rm -r no-folder/templates
echo x >no-folder/templates
is "templates is no folder" "1 [ERROR] templates/: not a directory" "$("$alm" lint no-folder >out 2>&1; echo $? "$(grep ERROR out)")"

chart good
printf 'icon: https://example.com/i.png\n' >>good/Chart.yaml
"$alm" lint good unknown no-name >out 2>err
is "several charts" "1 Error: 3 chart(s) linted, 1 chart(s) failed" "$? $(cat err)"
is "each is told" "good no-name unknown" "$(sed -n 's/==> Linting //p' out | sort | xargs)"
is "--strict fails on warnings" 1 "$("$alm" lint --strict unknown >/dev/null 2>&1; echo $?)"
chart own-rules
mv own-rules other-folder
printf 'icon: https://example.com/i.png\n' >>other-folder/Chart.yaml
printf 'a: {{ .Values.nosuch }}\n' >other-folder/templates/missing.txt
"$alm" lint --strict ./other-folder >out 2>&1
is "--strict: neither our own warnings nor missing values" "0 1" "$? $(grep -c 'folder is named other-folder' out)"
none "--quiet says nothing of what is fine" both "$alm" lint --quiet good
is "--quiet leaves out what is only recommended" "==> Linting unknown [WARNING]" "$("$alm" lint --quiet unknown | grep -o -e '^==>.*' -e '^\[[A-Z]*\]' | xargs)"
is "--with-subcharts" "c c/charts/sub" "$("$alm" lint --with-subcharts c 2>/dev/null | sed -n 's/==> Linting //p' | xargs)"
is "no chart" 2 "$("$alm" lint >/dev/null 2>&1; echo $?)"

chart slow
printf '{{ range until 1000000 }}{{ range until 30 }}{{ $x := sha256sum "x" }}{{ end }}{{ end }}' >slow/templates/a.yaml
"$alm" lint slow >out 2>&1 &
pid=$!
child=
for _ in $(seq 1200); do
	child=$(ps -o pid= --ppid $pid 2>/dev/null | tr -d ' ')
	[ -n "$child" ] && break
	sleep 0.05
done
if [ -z "$child" ]; then ok "a crash is told # SKIP no child was seen (ps is missing?)"; else
	kill -SEGV "$child"
	wait $pid
	is "a crash is told" "1 Error: rendering slow: crashed with signal 11 (Segmentation fault): nested too deep, or a fault of alm or its libraries" "$? $(head -1 out)"
fi
echo "1..$n"
