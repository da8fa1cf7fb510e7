#!/bin/bash
# Release records at their limits: what has no room in a Secret, records of helm that cannot be read, too many of them.
# Nothing is taken over blindly, nothing is tried for ever, and each is told with its remedy.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - release size # SKIP no kubectl"
	echo "1..1"
	exit 0
}
helm=${HELM:-$(command -v helm || echo "$(getent passwd "$(id -u)" | cut -d: -f6)/.cache/alm-oracles/bin/helm")}
up_start
manifests
cd "$dir" || exit 1

mkdir -p web/templates
# noise FILE NAME BYTES: a ConfigMap that does not pack
noise() {
	{
		printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata:\n  noise: ' "$2"
		head -c "$3" /dev/urandom | base64 -w0
		echo
	} >"web/templates/$1.yaml"
}
# chart VERSION: web as of this version into the catalog
chart() {
	printf 'apiVersion: v2\nname: web\nversion: %s\n' "$1" >web/Chart.yaml
	alm package build web -o "$catalog" >/dev/null
}
# app NAME [SPEC]
app() {
	cat <<-END
		apiVersion: app.coreos.com/v1beta1
		kind: AppType
		metadata: {name: $1}
		spec: {type: com.example, package: web, ${2:-}upgrade: {mode: Automatic}}
	END
}
configmaps() { k get configmaps -n "$1" -o name | seek -v kube-root-ca | sed 's|configmap/||' | sort | xargs; }
records() { k get secrets -n "$1" -l "owner=helm,name=$1" -o 'jsonpath={range .items[*]}{.metadata.labels.version} {.metadata.labels.status}{"\n"}{end}' | sort -n; }
condition() { # APP VERSION TYPE FIELD
	k get ist "install.$2.$1.com.example" -o "jsonpath={.status.conditions[?(@.type=='$3')].$4}" 2>/dev/null
}
reason() { condition "$1" "${2:-1.2.0}" PlanReady reason; }
of_broken() { alm audit query --type Transition --subject "InstallStrategy/install.1.2.0.broken.com.example" -o json | grep -c '"seq"'; }

# again APP: looks again, without waiting for the minute, and tells what is installed
again() {
	k annotate ist "install.1.2.0.$1.com.example" --overwrite "look=$SECONDS" >/dev/null
	k get apptype "$1" -o 'jsonpath={.status.installedVersion}'
}

# --- a release that has no room ---
noise a big1 400000
noise b big2 450000
chart 1.0.0
app web | k create -f catalog.yaml -f - >/dev/null
is "a release without room for its record is installed" "apptype.app.coreos.com/web" "$(app_is web "status.installedVersion = '1.0.0'" 2>&1)"
is "with all its objects" "big1 big2" "$(configmaps web)"
none "but has no record" records web
is "which is told" RecordTooLarge "$(condition web 1.0.0 ReleaseRecorded reason)"
has "with the release and the sizes" "the record of release web has " "$(condition web 1.0.0 ReleaseRecorded message)"
has "and the remedy" "a smaller chart, or several, would have a record" "$(condition web 1.0.0 ReleaseRecorded message)"
rm web/templates/b.yaml
chart 1.1.0
app_is web "status.installedVersion = '1.1.0'" >/dev/null 2>&1
soon "once it has room it has a record" "2 deployed" records web
none "and nothing is told" condition web 1.1.0 ReleaseRecorded reason
# The packed record has nearly the whole 1 MiB of a Secret: what helm can store, ALM can.
noise a big1 765000
chart 1.1.1
app_is web "status.installedVersion = '1.1.1'" >/dev/null 2>&1
soon "a Secret is used to its end" "2 superseded
3 deployed" records web
size=$(k get secret sh.helm.release.v1.web.v3 -n web -o 'jsonpath={.data.release}' | base64 -d | wc -c)
is "which holds 1 MiB" yes "$([ "$size" -gt 1000000 ] && [ "$size" -le 1048576 ] && echo yes)"
noise b big2 450000
chart 1.2.0
app_is web "status.installedVersion = '1.2.0'" >/dev/null 2>&1
soon "no record says deployed of what does not run" "2 superseded
3 superseded" records web
if [ -x "$helm" ]; then
	has "helm cannot change what it does not know" "UPGRADE FAILED" "$(timeout 60 "$helm" upgrade web ./web -n web 2>&1)"
else
	ok "helm cannot change what it does not know # SKIP no helm (set HELM)"
fi
is "and it is still there" "big1 big2" "$(configmaps web)"
entries() { alm audit query -o json | grep -c '"seq"'; }
rests "nothing is tried again and again" entries
k delete apptype web >/dev/null
soon "it is removed by its plan" "" configmaps web
soon "with its records" "" records web

# --- records of helm that cannot be read ---
# record NAME REVISION STATUS TEXT: a Secret whose data.release is TEXT
record() {
	k create secret generic "sh.helm.release.v1.$1.v$2" -n "$1" --type=helm.sh/release.v1 "--from-file=release=$4" >/dev/null
	k label secret "sh.helm.release.v1.$1.v$2" -n "$1" "name=$1" owner=helm "status=$3" "version=$2" "modifiedAt=$(date +%s)" >/dev/null
}
rm web/templates/b.yaml
noise a big1 100
chart 1.2.0
namespace_for broken
printf '{"name": "broken", "version": 3, "info": {"status": "deploy' | gzip | base64 -w0 >broken
record broken 3 deployed broken
app broken | k create -f - >/dev/null
soon "a record that is cut off is not taken over" RecordUnreadable reason broken
named() { condition broken 1.2.0 PlanReady message | grep -o "revision 3 of release broken in broken, made by helm: "; }
soon "it is named" "revision 3 of release broken in broken, made by helm: " named
none "nothing was applied" configmaps broken
namespace_for bomb
head -c 40000000 /dev/zero | tr '\0' ' ' | gzip -9 | base64 -w0 >bomb
record bomb 1 deployed bomb
app bomb | k create -f - >/dev/null
soon "one that unpacks beyond 32 MiB is not either" RecordUnreadable reason bomb
has "which is told" "unpacked size is over " "$(condition bomb 1.2.0 PlanReady message)"
rests "a block is told once" of_broken
run_step "with the remedy" "$(next_steps broken)"
soon "the remedy helps" 1.2.0 again broken

# --- too many records ---
namespace_for many
printf '{"name": "many", "namespace": "many", "version": 1, "info": {"status": "deployed"}, "chart": {"metadata": {"name": "web", "version": "1.0.0"}}, "manifest": "---\\napiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: old}\\n# %s"}' \
	"$(head -c 750000 /dev/urandom | base64 -w0)" | gzip -9 | base64 -w0 >many
for i in $(seq 1 12); do record many "$i" superseded many; done
record many 13 deployed many
app many | k create -f - >/dev/null
soon "more records than one answer may have are not taken over" RecordsTooLarge reason many
has "which is told" "release many in many: its records have more than 16 MiB" "$(condition many 1.2.0 PlanReady message)"
run_step "with the remedy" "$(next_steps many)"
soon "the remedy helps here too" 1.2.0 again many
soon "and the history goes on" "13 superseded
14 deployed" records many
steps_ran
finish
