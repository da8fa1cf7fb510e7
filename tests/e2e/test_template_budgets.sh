#!/bin/sh
# Every budget of a render, at its real size: what goes over is refused with the budget's name, its figure and the place,
# nothing is printed. And the same inputs, time and seed among them, give the same bytes, keys and certificates included.
# shellcheck disable=SC2016 # template text
set -u
BUILD=${BUILD:-build}
alm=$(pwd)/$BUILD/alm
n=0
ok() { n=$((n + 1)); echo "ok $n - $1"; }
not_ok() { n=$((n + 1)); echo "not ok $n - $1"; shift; printf '%s\n' "$@" | cut -c1-300 | head -20 | sed 's/^/# /'; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
mkdir -p c/templates
printf 'apiVersion: v2\nname: c\nversion: 1.0.0\n' >c/Chart.yaml

# trips NAME TEXT TEMPLATE [ARGUMENT...]: exit 1, TEXT, no output
trips() {
	name=$1 want=$2
	printf '%s' "$3" >c/templates/t.yaml
	shift 3
	"$alm" template c "$@" >out 2>err
	status=$?
	if [ $status -eq 1 ] && grep -qF -- "$want" err && ! [ -s out ]; then ok "$name"; else
		not_ok "$name (exit $status), wanted $want" "$(cat err)"
	fi
}
# answers NAME TEXT TEMPLATE: a function that tells its errors as a value, as helm's do
answers() {
	printf '%s' "$3" >c/templates/t.yaml
	if "$alm" template c 2>&1 | grep -qF -- "$2"; then ok "$1"; else not_ok "$1" "$("$alm" template c 2>&1)"; fi
}
at="at c/templates/t.yaml:1:"

trips "range iterations" "RenderLimit: more than 10000000 iterations of range $at" \
	'{{ range until 1000 }}{{ range until 20000 }}{{ end }}{{ end }}'
trips "steps" "RenderLimit: more than 50000000 steps $at" \
	'{{ $l := until 1000 }}{{ range until 9000 }}{{ range $l }}{{ if 1 }}{{ if 1 }}{{ if 1 }}{{ if 1 }}{{ if 1 }}{{ if 1 }}x{{ end }}{{ end }}{{ end }}{{ end }}{{ end }}{{ end }}{{ end }}{{ end }}'
trips "output of one file" "RenderLimit: more than 8388608 bytes of output of one file $at" \
	'{{ $s := repeat 1000000 "a" }}{{ range until 9 }}{{ $s }}{{ end }}'
for i in 1 2 3 4; do printf '{{ $s := repeat 1000000 "a" }}a: {{ range until 8 }}{{ $s }}{{ end }}' >"c/templates/o$i.yaml"; done
trips "output of all files" "RenderLimit: more than 33554432 bytes of output" '{{ $s := repeat 1000000 "a" }}{{ range until 8 }}{{ $s }}{{ end }}'
rm c/templates/o?.yaml
trips "objects" "RenderLimit: objects over 20000" '{{ range until 20001 }}
---
kind: ConfigMap
metadata: {name: a{{ . }}}
{{ end }}'
trips "one string" "RenderLimit: more than 16777216 bytes in one string $at" '{{ repeat 17000000 "a" }}'
trips "one string that is joined" "RenderLimit: more than 16777216 bytes in one string $at" \
	'{{ $s := repeat 9000000 "a" }}{{ join "" (list $s $s) | len }}'
trips "one string that is indented" "RenderLimit: more than 16777216 bytes in one string $at" '{{ indent 17000000 "a" }}'
trips "one random string" "RenderLimit: more than 16777216 bytes in one string $at" '{{ randAlpha 17000000 }}'
trips "values and strings" "RenderLimit: more than 268435456 bytes of values and strings $at" \
	'{{ $l := list }}{{ range until 100000 }}{{ $l = append $l (repeat 100000 "a") }}{{ end }}'
trips "one list" "RenderLimit: more than 1000000 items in one list $at" '{{ until 1000001 }}'
trips "one list by seq" "RenderLimit: more than 1000000 items in one list $at" '{{ seq 1 1000002 | len }}'
trips "one list by split" "RenderLimit: more than 1000000 items in one list $at" '{{ splitList "a" (repeat 2000000 "a") | len }}'
trips "include of one name" "rendering template has a nested reference name: d: unable to execute template" \
	'{{ define "d" }}{{ include "d" . }}{{ end }}{{ include "d" . }}'
trips "templates in each other" "RenderLimit: more than 4000 templates in each other $at" '{{ define "d" }}{{ template "d" . }}{{ end }}{{ template "d" . }}'
trips "parentheses" "nested deeper than 1000" "{{ $(printf '%01500d' 0 | tr 0 '(')1$(printf '%01500d' 0 | tr 0 ')') }}"
trips "calls of tpl" "RenderLimit: more than 20000 calls of tpl $at" '{{ range until 20001 }}{{ tpl "x" $ }}{{ end }}'
trips "text of tpl" "RenderLimit: more than 16777216 bytes of text given to tpl $at" \
	'{{ $s := repeat 1000000 "a" }}{{ range until 20 }}{{ $x := tpl (printf "%d%s" . $s) $ }}{{ end }}'
trips "length of a regular expression" "RenderLimit: a regular expression is longer than 65536 bytes $at" '{{ regexMatch (repeat 66000 "a") "a" }}'
trips "steps of a regular expression" "RenderLimit: a regular expression needs more than 100000000 steps" \
	'{{ regexMatch "(a?){1000}b" (repeat 1000000 "a") }}'
trips "groups of a regular expression" "too much memory for its groups $at" \
	'{{ regexFind (printf "(%s){1000}" (repeat 40 "(a)")) "a" }}'
answers "a regular expression that backtracks elsewhere" "false true" \
	'a: {{ regexMatch "(a|aa)+$" (cat (repeat 60 "a") "b") }} {{ regexMatch "^(a|b)*c$" (printf "%sc" (repeat 20000 "a")) }}'
trips "key pairs" "RenderLimit: more than 64 key pairs $at" '{{ range until 65 }}{{ $x := genPrivateKey "ed25519" }}{{ end }}'
trips "slow hashes" "RenderLimit: more than 32 calls of bcrypt and scrypt $at" '{{ range until 33 }}{{ $x := bcrypt "a" }}{{ end }}'
answers "depth of YAML" "flow depth over 100" 'a: {{ fromYaml (printf "a: %s%s" (repeat 1100 "[") (repeat 1100 "]")) | toJson }}'
answers "nodes of YAML" "nodes over 2000000" 'a: {{ fromYaml (printf "a: [%s1]" (repeat 2100000 "1,")) | toJson }}'
answers "aliases of YAML" "excessive aliasing" \
	'a: {{ fromYaml "a: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]" | toJson }}'
answers "depth of JSON" "exceeded max depth" 'a: {{ fromJson (printf "{\"a\": %s%s}" (repeat 10100 "[") (repeat 10100 "]")) | toJson }}'
answers "depth of TOML" "nested too deep" 'a: {{ fromToml (printf "a = %s%s" (repeat 1100 "[") (repeat 1100 "]")) | toJson }}'
trips "index of --set" "index of 65537 is greater than maximum supported index of 65536" 'a: b' --set 'a[65537]=1'
trips "nesting of --set" "value name nested level is greater than maximum supported nested level of 30" 'a: b' \
	--set 'a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a=1'
head -c 17000000 /dev/zero | tr '\0' '#' >large.yaml
trips "a values file" "large.yaml is larger than 16777216 bytes" 'a: b' -f large.yaml
i=0
while [ $i -lt 1002 ]; do
	printf '%s"d%d": {"$ref": "#/definitions/d%d"}' "$([ $i -gt 0 ] && echo ,)" $i $((i + 1))
	i=$((i + 1))
done >refs
printf '{"$ref": "#/definitions/d0", "definitions": {%s, "d1002": {}}}' "$(cat refs)" >c/values.schema.json
trips "references of a schema" "schema has a reference cycle or is nested deeper than 1000" 'a: b'
# Nothing outside of it is read, whatever it is called: the child could not, and it is told
for ref in http://127.0.0.1:9/x https://example.org/x file:///etc/hostname /etc/hostname other.json ../values.schema.json '//h/x'; do
	printf '{"$ref": "%s"}' "$ref" >c/values.schema.json
	trips "a schema that refers to $ref" "failing loading \"$ref\": references outside of the schema are refused" 'a: b'
done
printf '{"$ref": "#"}' >c/values.schema.json
trips "a schema that refers to itself" "schema has a reference cycle" 'a: b'
rm c/values.schema.json

# --- the same inputs ---
cat >c/templates/t.yaml <<'END'
{{- $ca := genCA "ca" 10 }}{{ $s := genSignedCert "a" (list "1.2.3.4") (list "a.b") 10 $ca }}
text: {{ randAlphaNum 20 }} {{ randAlpha 20 }} {{ randNumeric 20 }} {{ randAscii 20 | b64enc }} {{ randBytes 20 }} {{ shuffle "abcdefghijklmnop" }}
number: {{ randInt 1 1000000 }}
uuid: {{ uuidv4 }}
hash: {{ bcrypt "x" }} {{ htpasswd "a" "b" }}
aes: {{ encryptAES "0123456789abcdef" "text" }}
rsa: {{ genPrivateKey "rsa" | quote }}
dsa: {{ genPrivateKey "dsa" | quote }}
ecdsa: {{ genPrivateKey "ecdsa" | quote }}
ed25519: {{ genPrivateKey "ed25519" | quote }}
ca: {{ $ca.Cert | quote }}
key: {{ $ca.Key | quote }}
cert: {{ $s.Cert | quote }}
certkey: {{ $s.Key | quote }}
self: {{ (genSelfSignedCert "a" nil nil 10).Cert | quote }}
cawithkey: {{ (genCAWithKey "ca" 10 (genPrivateKey "ecdsa")).Cert | quote }}
selfwithkey: {{ (genSelfSignedCertWithKey "a" nil nil 10 (genPrivateKey "ed25519")).Cert | quote }}
signedwithkey: {{ (genSignedCertWithKey "a" nil nil 10 $ca (genPrivateKey "ecdsa")).Cert | quote }}
time: {{ now }} {{ ago (toDate "2006-01-02" "2020-01-01") }}
END
for i in 1 2; do "$alm" template c --seed one --now 2024-05-01T10:00:00Z >"out$i" 2>&1; done
"$alm" template c --seed two --now 2024-05-01T10:00:00Z >out3 2>&1
"$alm" template c --seed one --now 2024-05-02T10:00:00Z >out4 2>&1
if cmp -s out1 out2 && [ "$(grep -c 'BEGIN' out1)" -ge 12 ]; then ok "the same seed and time: the same bytes, keys and certificates too"; else not_ok "the same seed and time" "$(diff out1 out2)"; fi
kept=$(grep -Fx -f out1 out3 | cut -d: -f1 | xargs)
if [ "$kept" = "--- # Source time" ]; then ok "another seed: everything random is another"; else not_ok "another seed" "$kept"; fi
kept=$(grep -Fx -f out1 out4 | cut -d: -f1 | xargs)
if [ "$kept" = "--- # Source text number uuid hash aes rsa dsa ecdsa ed25519 key certkey" ]; then ok "another time: what tells the time is another"; else not_ok "another time" "$kept"; fi
"$alm" template c >out5 2>&1
kept=$(grep -Fx -f out1 out5 | cut -d: -f1 | xargs)
if [ "$kept" = "--- # Source" ]; then ok "without them: the machine's"; else not_ok "without them" "$kept"; fi
trips "a time" '--now is a time like 2024-05-01T10:00:00Z, not noon' 'a: b' --now noon
echo "1..$n"
