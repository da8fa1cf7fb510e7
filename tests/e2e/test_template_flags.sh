#!/bin/sh
# Every flag of `helm template` (4.1): the same effect, none where it has none offline, or a refusal that names the remedy.
# With the real helm (HELM, PATH or the oracles) its own list of flags and its exit codes are compared too.
set -u
BUILD=${BUILD:-build}
alm=$(pwd)/$BUILD/alm
helm=${HELM:-$(command -v helm || echo "$HOME/.cache/alm-oracles/bin/helm")}
n=0
ok() { n=$((n + 1)); echo "ok $n - $1"; }
not_ok() { n=$((n + 1)); echo "not ok $n - $1"; shift; printf '%s\n' "$@" | head -20 | sed 's/^/# /'; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
unset KUBECONFIG
cd "$tmp" || exit 1
mkdir -p c/templates c/crds
printf 'apiVersion: v2\nname: c\nversion: 1.0.0\n' >c/Chart.yaml
printf 'a: 1\n' >c/values.yaml
# shellcheck disable=SC2016 # template text
printf 'a: {{ .Values.a | quote }}\nname: {{ .Release.Name }}\nns: {{ .Release.Namespace }}\nup: {{ .Release.IsUpgrade }}\nkind: X\n' >c/templates/a.yaml
printf 'kind: CustomResourceDefinition\n' >c/crds/x.yaml
printf 'a: 7\n' >v.yaml
"$alm" package build c -o "$tmp" >/dev/null
"$alm" template r c >plain 2>&1

# plain FLAG...: nothing changes
plain() {
	if "$alm" template "$@" r c >out 2>&1 && cmp -s out plain; then ok "$*: nothing to do offline"; else not_ok "$*" "$(cat out)"; fi
}
# gives TEXT ARGUMENT...: exit 0 and TEXT
gives() {
	want=$1
	shift
	if "$alm" template "$@" >out 2>err <v.yaml && grep -qF -- "$want" out && ! [ -s err ]; then ok "$* gives $want"; else not_ok "$* gives $want" "$(cat out err)"; fi
}
# refused TEXT ARGUMENT...: exit 1, nothing on stdout, and TEXT on stderr
refused() {
	want=$1
	shift
	"$alm" template "$@" >out 2>err
	status=$?
	if [ $status -eq 1 ] && ! [ -s out ] && grep -qF -- "$want" err; then ok "$*: $want"; else not_ok "$* (exit $status): wanted $want" "$(cat out err)"; fi
}

for f in create-namespace dependency-update devel disable-openapi-validation dry-run dry-run=client enable-dns \
	force-conflicts force-replace hide-notes insecure-skip-tls-verify kube-insecure-skip-tls-verify pass-credentials plain-http \
	replace rollback-on-failure server-side server-side=false skip-crds take-ownership wait wait=legacy wait-for-jobs validate=false \
	is-upgrade=F include-crds=0 debug no-hooks skip-tests skip-schema-validation; do plain "--$f"; done
for f in burst-limit cert-file color colour content-cache description key-file keyring kube-apiserver kube-as-group \
	kube-as-user kube-ca-file kube-context kube-tls-server-name kube-token kubeconfig labels password post-renderer-args qps \
	registry-config repository-cache repository-config username version; do plain "--$f" 1; done
plain --timeout 1m30s
# Flags that have another name by now are taken, and helm's line tells which.
for f in atomic:rollback-on-failure force:force-replace; do
	echo "Flag --${f%:*} has been deprecated, use --${f#*:} instead" >want
	"$alm" template r c "--${f%:*}" >out 2>err
	if cmp -s out plain && cmp -s err want; then ok "--${f%:*} names --${f#*:}"; else not_ok "--${f%:*} names --${f#*:}" "$(cat err)"; fi
	[ -x "$helm" ] || continue
	"$helm" template r c "--${f%:*}" 2>want >out
	if cmp -s err want; then ok "as helm does"; else not_ok "as helm does" "$(cat want)"; fi
done
# Nothing is fetched, but a wrong name of an authority is told at once, as helm does.
printf -- '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n' >ca.pem
plain --ca-file ca.pem
plain --ca-file ''
refused '--ca-file: /nonexist: No such file or directory' --ca-file /nonexist r c
refused '--ca-file: v.yaml has no certificate in PEM' --ca-file v.yaml r c
if [ -x "$helm" ]; then
	if "$helm" template --ca-file /nonexist r c >/dev/null 2>&1; then not_ok "as helm does: --ca-file"; else ok "as helm does: --ca-file"; fi
fi
plain -l a=b

plain --kube-version ''
refused 'release name check failed: release name "": no name provided' '' c

# A template that is no YAML: shown with --debug, as the message without it promises.
mkdir -p bad/templates
printf 'apiVersion: v2\nname: bad\nversion: 1.0.0\n' >bad/Chart.yaml
printf 'kind: x: y\n' >bad/templates/b.yaml
printf 'kind: X\n' >bad/templates/a.yaml
refused 'Use --debug flag to render out invalid YAML' bad
"$alm" template bad --debug >out 2>err
if [ $? -eq 1 ] && grep -qx 'kind: x: y' out && grep -qx 'kind: X' out && ! grep -q 'Use --debug' err; then ok "--debug shows what is no YAML"; else
	not_ok "--debug shows what is no YAML" "$(cat out err)"; fi
"$alm" template bad --debug -s templates/a.yaml >out 2>err
if [ $? -eq 1 ] && grep -qx 'kind: X' out && ! grep -q 'kind: x' out; then ok "--debug and --show-only"; else not_ok "--debug and --show-only" "$(cat out err)"; fi
"$alm" template rel c --output-dir od --release-name --include-crds >out 2>&1
if [ "$(find od -type f | sort | xargs)" = "od/c/crds/x.yaml od/rel/c/templates/a.yaml" ]; then ok "--output-dir --release-name"; else
	not_ok "--output-dir --release-name" "$(cat out)"; fi

ln -s ../v.yaml c/linked.yaml
"$alm" template c >out 2>err
if [ "$(cat err)" = "level=INFO msg=\"found symbolic link in path. Contents of linked file included and used\" path=$tmp/c/linked.yaml resolved=$tmp/v.yaml" ]; then
	ok "a link in a chart is logged"; else not_ok "a link in a chart is logged" "$(cat err)"; fi
if [ -x "$helm" ]; then
	"$helm" template c >out 2>want
	if cmp -s want err; then ok "as helm does"; else not_ok "as helm does" "$(cat want)"; fi
fi
rm c/linked.yaml

gives 'a: "1"' c
gives 'a: "1"' c-1.0.0.tgz
gives 'name: release-name' -g c
gives 'ns: x' -gn x c
gives 'ns: x' -nx c
gives 'ns: x' -n=x c
gives 'a: "7"' -f v.yaml c
gives 'a: "7"' -f - c
gives 'a: "7"' --values=- r c
gives 'a: "x,y"' --set-literal a=x,y c
gives 'a: "2"' c --set a=2
gives 'up: true' --is-upgrade=T c
gives 'kind: CustomResourceDefinition' --include-crds c
gives 'name: ab' --name-template 'a{{ "B" | lower }}' c
gives 'name: r' r -- c

refused 'kubectl apply --dry-run=server' --dry-run=server c
refused 'kubectl apply --dry-run=server' --validate c
refused 'helm pull --repo' --repo https://charts.example.com c
refused 'pipe the output' --post-renderer cat c
refused 'compare the sha256' --verify c
refused 'helm pull it' oci://registry.example.com/c
refused 'helm pull it' r https://charts.example.com/c.tgz
refused 'fetch it, then give the file' -f https://charts.example.com/v.yaml c
refused 'invalid dry-run value ("foo")' --dry-run=foo c
refused 'strconv.ParseBool: parsing "x": invalid syntax' --is-upgrade=x c
refused 'strconv.ParseBool: parsing "x": invalid syntax' --hide-notes=x c
refused 'time: invalid duration "x"' --timeout x c
refused 'cannot set --generate-name and also specify a name' -g r c
refused 'cannot set --name-template and also specify a name' --name-template x r c
refused 'unexpected arguments: extra' r c extra
refused "unknown shorthand flag: 'z' in -z" -z c
refused 'unknown flag: --nosuch' --nosuch c
refused 'flag needs an argument: --set' c --set
refused "flag needs an argument: 'f' in -f" c -f
refused 'path "none" not found' none
refused 'open none.yaml: no such file or directory' -f none.yaml c
refused 'release name check failed' UPPER c
refused 'could not find template templates/none.yaml in chart' -s templates/none.yaml c

if [ -x "$helm" ] && "$helm" version --short 2>/dev/null | grep -q '^v4\.1'; then
	unknown=
	for f in $("$helm" template --help | grep -o -- '^ *\(-[a-z], \)\?--[a-z-]*' | grep -o -- '--[a-z-]*'); do
		if "$alm" template "$f" 1 c 2>&1 | grep -q 'unknown flag'; then unknown="$unknown $f"; fi
	done
	if [ -z "$unknown" ]; then ok "every flag of helm is known"; else not_ok "every flag of helm is known" "$unknown"; fi
	differ=
	while read -r args; do
		# shellcheck disable=SC2086 # words
		"$helm" template $args >h 2>/dev/null <v.yaml
		hs=$?
		# shellcheck disable=SC2086
		"$alm" template $args >a 2>/dev/null <v.yaml
		[ $? -eq $hs ] && cmp -s h a || differ="$differ [$args]"
	done <<-'END'
		c
		r c-1.0.0.tgz
		-gn x c
		-f - c
		--is-upgrade=T c
		--is-upgrade=x c
		--dry-run=foo c
		--dry-run=client c
		--timeout x c
		--hide-notes c
		--version ^9 c
		-s templates/none.yaml c
		UPPER c
		-g r c
		r c extra
		--nosuch c
		-l a=b c
	END
	if [ -z "$differ" ]; then ok "with helm's exit codes and output"; else not_ok "with helm's exit codes and output" "$differ"; fi
else
	ok "beside helm # SKIP no helm 4.1 (set HELM)"
fi
echo "1..$n"
