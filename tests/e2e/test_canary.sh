#!/bin/bash
# Secret values (audit.md 8, PROGRAMME.md row 51): marker strings in values, Secrets, lookups and credentials, in charts and
# objects that fail with them in the text; searched in the log, the audit log and its blobs, exports, Events, statuses,
# metrics, the process table, what commands print, and what a crash leaves. Secret objects themselves, and the specs that carry values, have them.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v sqlite3 >/dev/null || {
	echo "ok 1 - canaries # SKIP no sqlite3"
	exit 0
}
source_dir=$PWD
cd "$dir" || exit 1
ulimit -c unlimited 2>/dev/null
up_start --log-level debug --allow-source 127.0.0.1
manifests

# chart VERSION: packs what stdin says as its only template
chart() {
	mkdir -p can/templates
	cat >can/templates/all.yaml
	printf 'apiVersion: v2\nname: can\nversion: %s\n' "$1" >can/Chart.yaml
	alm package build can -o "$catalog" >/dev/null || not_ok "chart $1"
}
chart 1.0.0 <<-'END'
	{{ fail (printf "the password is %s, or %s" .Values.db.password (b64enc .Values.db.password)) }}
END
chart 1.1.0 <<-'END'
	apiVersion: v1
	kind: Secret
	metadata: {name: {{ .Values.name }}}
	stringData: {generated: CNRYplansecret}
	---
	apiVersion: v1
	kind: ConfigMap
	metadata: {name: {{ .Values.adminPassword }}}
END
chart 1.2.0 <<-'END'
	apiVersion: v1
	kind: Secret
	metadata: {name: plain}
	stringData: {generated: CNRYplansecret}
	data: {other: {{ b64enc "CNRYplandata" }}}
	---
	apiVersion: v1
	kind: ConfigMap
	metadata: {name: "CNRYplansecret.CNRYplandata"}
END
chart 1.3.0 <<-'END'
	{{ fail (printf "found %s" (lookup "v1" "Secret" "vault" "s" | toJson)) }}
END
chart 1.4.0 <<-'END'
	apiVersion: v1
	kind: ConfigMap
	metadata: {name: "x.{{ (lookup "v1" "Secret" "vault" "s").data.p | b64dec }}"}
END
chart 1.5.0 <<-'END'
	{{ fail (printf "%s and %s" (lookup "v1" "ConfigMap" "vault" "c").data.note (b64enc (printf "user:%s" .Values.token))) }}
END
mkdir -p schema/templates
cat >schema/values.schema.json <<-'END'
	{"type": "object", "properties": {"password": {"type": "string", "pattern": "^[0-9]+$", "enum": ["1"]}}}
END
printf 'apiVersion: v2\nname: schema\nversion: 1.0.0\n' >schema/Chart.yaml
alm package build schema -o "$catalog" >/dev/null

alm create -f - >/dev/null <<-'END'
	apiVersion: v1
	kind: Namespace
	metadata: {name: vault}
	---
	apiVersion: v1
	kind: Secret
	metadata: {name: s, namespace: vault}
	stringData: {p: CNRYlookedup}
	---
	apiVersion: v1
	kind: ConfigMap
	metadata: {name: c, namespace: vault}
	data: {note: CNRYnote, short: abc}
	---
	apiVersion: rbac.authorization.k8s.io/v1
	kind: Role
	metadata: {name: looks, namespace: vault}
	rules: [{apiGroups: [""], resources: [secrets, configmaps], verbs: [get, list]}]
	---
	apiVersion: rbac.authorization.k8s.io/v1
	kind: RoleBinding
	metadata: {name: looks, namespace: vault}
	roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: looks}
	subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: "system:serviceaccounts"}]
END
alm create -f catalog.yaml >/dev/null
# app NAME PACKAGE VERSION VALUES
app() {
	alm create -f - >/dev/null <<-END
		apiVersion: app.coreos.com/v1beta1
		kind: AppType
		metadata: {name: $1}
		spec: {type: com.can.$1, package: $2, version: $3, installNamespace: ns-$1, values: $4}
	END
}
app failed can 1.0.0 '{db: {password: CNRYfailed}}'
app named can 1.1.0 '{name: fine, adminPassword: CNRYnamed}'
app planned can 1.2.0 '{}'
app looked can 1.3.0 '{}'
app applied can 1.4.0 '{}'
app noted can 1.5.0 '{token: CNRYtoken}'
app typed schema 1.0.0 '{password: CNRYtyped}'
alm apply -f - >/dev/null <<-'END'
	apiVersion: v1
	kind: Namespace
	metadata: {name: alm-system}
	---
	apiVersion: v1
	kind: Secret
	metadata: {name: reg, namespace: alm-system}
	type: app.coreos.com/catalog-credentials
	stringData: {username: u, password: CNRYregistry, origins: "https://127.0.0.1:1"}
	---
	apiVersion: app.coreos.com/v1alpha1
	kind: Catalog
	metadata: {name: reg}
	spec: {source: {url: "https://127.0.0.1:1/", secretRef: {name: reg, namespace: alm-system}}}
END
# Objects that people write, refused ones too
refused() { alm create -f - >/dev/null 2>&1; }
printf 'apiVersion: v1\nkind: Secret\nmetadata: {name: zz, namespace: default}\ndata: CNRYrefused\n' | refused
printf 'apiVersion: v1\nkind: Secret\nmetadata: {name: own, namespace: default}\nstringData: {p: CNRYowned}\n' | refused
alm apply -f - >/dev/null 2>&1 <<-'END'
	apiVersion: v1
	kind: Secret
	metadata: {name: own, namespace: default}
	stringData: {p: CNRYowned2}
	type: CNRYimmutable
END

# Each fails as it should: an error that was not made hides nothing
fails() { soon "app $1 fails" yes sh -c "'$alm_bin' status | grep -q '^$1 [0-9.]*: $2' && echo yes"; }
for name in failed looked noted typed; do fails $name RenderFailed; done
for name in named planned applied; do fails $name 'Installing: ConfigMap .* is invalid'; done
soon "the catalog with a password cannot be read" yes sh -c "'$alm_bin' status | grep -q '^catalog reg: SourceUnreachable' && echo yes"
has "what the chart says is told" "the password is (hidden), or (hidden)" "$(alm status)"

# --- everywhere else ---
token=$(cat "$data/token")
alm audit export --data-dir "$data" >export.jsonl
alm get events -A -o yaml >events.yaml
for kind in apps catalogs ist; do alm get $kind -o json; done |
	jq '[.items[] | {status, metadata: (.metadata | del(.annotations))}]' >statuses.json
curl -s "http://$metrics/metrics" >metrics.txt
sqlite3 "file:$data/alm.db?mode=ro" 'select * from audit; select cast(bytes as text) from audit_blob;
	select note from audit_checkpoint' >audit.txt
tr '\0' ' ' <"/proc/$pid/cmdline" >cmdline.txt
tr '\0' '\n' <"/proc/$pid/environ" >environ.txt
{
	alm status
	alm why failed
	alm describe ist
	alm audit query -o json --data-dir "$data"
	alm audit query --data-dir "$data"
	for name in failed named planned looked applied noted typed; do
		alm why "$name" -o wide
		alm why-not "$name" 1.0.0
		alm audit why "apptype/$name" --data-dir "$data"
	done
} 2>&1 | grep -v '^ *Values: ' >printed.txt
alm describe ist | sed -n '/^Spec:/,/^Status:/!p' >described.txt
sed -i '/^Spec:/,/^Status:/d' printed.txt
# The markers of this script by their first eight letters (four are found in the base64 of what is random), and their base64
# at the three places it can have in a text
markers=$(grep -oE 'CNRY[a-z]{4}' "$source_dir/tests/e2e/test_canary.sh" | sort -u)
marks=$(for word in $markers; do
	echo "$word"
	printf %s "$word" | base64 | cut -c1-10
	printf 'x%s' "$word" | base64 | cut -c3-12
	printf 'xx%s' "$word" | base64 | cut -c4-13
done | paste -sd'|')
for file in err out export.jsonl events.yaml statuses.json metrics.txt audit.txt cmdline.txt environ.txt printed.txt described.txt; do
	[ -s "$file" ] || [ "$file" = out ] || not_ok "$file is empty"
	none "no secret value in $file" seek -aoE ".{0,60}($marks).{0,30}" "$file"
	none "  nor the token of the administrator" seek -alF -e "$token" "$file"
done

# --- memory: it has them all, and nobody gets an image of it ---
if "$alm_bin" version --client | grep -q "a sanitizer's build"; then
	ok "no image of the memory # SKIP a sanitizer's build"
	finish
	exit 0
fi
if command -v gcore >/dev/null && [ "$(id -u)" -eq 0 ]; then
	gcore -o image "$pid" >/dev/null 2>&1 # root may; the kernel's filter of dumps holds for it, too
	# The note of an image has the registers: what moved a text last leaves its tail in a vector register. It is no memory.
	read -r offset size < <(readelf -lW image.* | awk '$1 == "NOTE" {print $2, $5}')
	is "the image has one note" 0 "$((offset == 0 || size == 0))"
	dd if=/dev/zero of="$(echo image.*)" bs=1 seek=$((offset)) count=$((size)) conv=notrunc 2>/dev/null
	none "no secret value in an image that root takes" seek -aohE "$marks" image.*
	none "  nor the token of the administrator" seek -alF -e "$token" image.*
fi
kill -ABRT "$pid"
wait "$pid" 2>/dev/null
pid=
none "a crash leaves no core" find . -maxdepth 1 -name 'core*'
cd "$source_dir" || exit 1
finish
