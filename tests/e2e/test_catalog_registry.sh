#!/bin/bash
# oci:// against Debian's docker-registry over HTTPS, with a password and with the token flow: push and pull of a
# whole catalog and of charts, a digest that pins, and the real helm on the same registry where it is at hand.
# shellcheck disable=SC2119
set -u
helm=${HELM:-$(command -v helm || echo "$HOME/.cache/alm-oracles/bin/helm")}
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
for need in docker-registry kubectl python3 openssl curl; do
	command -v $need >/dev/null || {
		echo "ok 1 - catalogs in a registry # SKIP no $need"
		exit 0
	}
done
web=$dir/web
folder=$dir/folder
mkdir -p "$web" "$folder"
for v in 0.9.4 0.9.5; do package $v "$folder" >/dev/null; done
printf 'deprecations:\n- {package: etcd-operator, versions: "<0.9.5", message: go to 0.9.5}\n' >"$folder/catalog.yaml"
tests/e2e/catalog_server.py "$web" "$web/log" >"$web/port" 2>/dev/null &
pids=$!
trap 'kill $pids 2>/dev/null; up_stop; rm -rf "$dir"' EXIT
written "$web/port" >/dev/null # its certificate is there then

# registry NAME: starts one whose auth: is standard input; sets NAME_port
registry() {
	local port
	port=$(free_port)
	{
		printf 'version: 0.1\nlog: {level: error, accesslog: {disabled: true}}\n'
		printf 'storage: {filesystem: {rootdirectory: %s}, delete: {enabled: true}}\n' "$dir/storage-$1"
		printf 'http: {addr: "127.0.0.1:%s", tls: {certificate: %s/server.crt, key: %s/server.key}}\n' "$port" "$web" "$web"
		cat
	} >"$dir/$1.yml"
	docker-registry serve "$dir/$1.yml" >"$dir/$1.log" 2>&1 &
	pids="$pids $!"
	eval "$1_port=$port"
	for _ in $(seq 600); do
		curl -ks -o /dev/null "https://127.0.0.1:$port/" && return
		sleep 0.1
	done
	not_ok "docker-registry starts" "$(cat "$dir/$1.log")"
}
echo "user:\$2b\$04\$QCdzkGue3eoIXeuVdH2jo.FbwiJr4NsTRl0QSPpBBMH.TidLVeZ9e" >"$dir/htpasswd" # bcrypt of "secret"
registry basic <<END
auth: {htpasswd: {realm: test, path: $dir/htpasswd}}
END
registry token <<END
auth: {token: {realm: "https://127.0.0.1:$(written "$web/port")/token", service: test, issuer: test, rootcertbundle: $web/ca.crt}}
END
echo secret >"$dir/password"
realm=https://127.0.0.1:$(written "$web/port")
plain=(--ca-file "$web/ca.crt" --username user --password-file "$dir/password")
login=("${plain[@]}" --token-service "$realm")
# shellcheck disable=SC2154
basic=oci://127.0.0.1:$basic_port token=oci://127.0.0.1:$token_port
short() { sed -E 's/sha256:[0-9a-f]{12}/sha256:D/; s/ +/ /g; s/ $//'; }
revision() { sed -nE 's/.*revision ([0-9a-f]{64}).*/\1/p'; }
want="etcd-operator 0.9.5 sha256:D etcds.etcd.coreos.com/v1,etcds.etcd.coreos.com/v2
etcd-operator 0.9.4 sha256:D etcds.etcd.coreos.com/v1"

# --- one artifact, with a password and with tokens ---
code "without credentials the registry refuses" 1 "asks for a user name" alm catalog push "$folder" "$basic/catalog" --ca-file "$web/ca.crt"
: >"$web/log"
code "a token service that the user does not name gets nothing" 3 "its token service is $realm" \
	alm catalog push "$folder" "$token/mirror/catalog:1" "${plain[@]}"
none "it was not even asked" cat "$web/log"
for kind in basic token; do
	code "$kind: push of a catalog" 0 "sha256:" alm catalog push "$folder" "${!kind}/mirror/catalog:1" "${login[@]}"
	is "$kind: list" "$want" "$(alm catalog list "${!kind}/mirror/catalog:1" "${login[@]}" | short)"
	code "$kind: every archive is what the index says" 0 "2 archives" alm catalog verify "${!kind}/mirror/catalog:1" "${login[@]}"
done
has "the token was asked for with the password" "200 /token?" "$(grep auth "$web/log")"
out=$(alm catalog push "$folder" "$basic/mirror/catalog:1" "${login[@]}" 2>/dev/null)
digest=$(grep -oE 'sha256:[0-9a-f]{64}' <<<"$out" | tail -1)
is "what is printed pins: it is read by its digest" "$want" "$(alm catalog list "$basic/mirror/catalog@$digest" "${login[@]}" | short)"
has "catalog.yaml went along" "deprecated go to 0.9.5" "$(alm catalog show "$basic/mirror/catalog:1" etcd-operator "${login[@]}")"
alm catalog pull "$basic/mirror/catalog:1" "$dir/back" "${login[@]}" >/dev/null 2>&1
for f in "$folder"/*.tgz; do none "pulled back, ${f##*/} is the same bytes" cmp "$f" "$dir/back/${f##*/}"; done
is "and it is the same revision" "$(alm catalog verify "$folder" 2>/dev/null | revision)" \
	"$(alm catalog verify "$dir/back" 2>/dev/null | revision)"

# --- charts, as helm has them ---
code "push of charts" 0 "" alm catalog push "$folder" "$basic/charts" --charts "${login[@]}"
is "a chart repository: tags are versions" "etcd-operator 0.9.5
etcd-operator 0.9.4" "$(alm catalog list "$basic/charts/etcd-operator" "${login[@]}" | short | cut -d' ' -f1-2)"
code "its archives are verified" 0 "2 archives" alm catalog verify "$basic/charts/etcd-operator" "${login[@]}"
if [ -x "$helm" ]; then
	h() { timeout 60 "$helm" "$@" --ca-file "$web/ca.crt" --username user --password secret 2>&1; }
	has "helm pulls what alm pushed" "Digest:" "$(h pull "$basic/charts/etcd-operator" --version 0.9.5 -d "$dir")"
	none "the same bytes" cmp "$dir/etcd-operator-0.9.5.tgz" "$folder/etcd-operator-0.9.5.tgz"
	package 0.9.6 "$dir/new" >/dev/null
	has "helm pushes" "Pushed:" "$(h push "$dir/new/etcd-operator-0.9.6.tgz" "$basic/charts")"
	has "alm reads what helm pushed" "etcd-operator 0.9.6" "$(alm catalog list "$basic/charts/etcd-operator" "${login[@]}" | short)"
	code "and verifies it" 0 "3 archives" alm catalog verify "$basic/charts/etcd-operator" "${login[@]}"
else
	echo "ok $((tests += 1)) - helm on the same registry # SKIP no helm (set HELM)"
fi

# --- a registry that lies ---
blob=$(sha256sum "$folder/etcd-operator-0.9.4.tgz" | cut -c1-64)
stored=$dir/storage-basic/docker/registry/v2/blobs/sha256/${blob:0:2}/$blob/data
cp "$folder/etcd-operator-0.9.5.tgz" "$stored"
code "another archive than the manifest says" 1 "DigestMismatch" alm catalog verify "$basic/mirror/catalog:1" "${login[@]}"
cp "$folder/etcd-operator-0.9.4.tgz" "$stored"

# --- controllers ---
up_start --allow-source 127.0.0.1
manifests
k create namespace alm-system >/dev/null 2>&1
# secret NAME ORIGIN...
secret() {
	local name=$1
	shift
	k create secret generic "$name" -n alm-system --type=app.coreos.com/catalog-credentials --from-file=ca.crt="$web/ca.crt" \
		--from-literal=username=user --from-literal=password=secret --from-literal=origins="$*" >/dev/null
}
secret registry "https://127.0.0.1:$basic_port" "https://127.0.0.1:$token_port" "$realm"
secret alone "https://127.0.0.1:$token_port"
: >"$web/log"
alm catalog add alone "$token/mirror/catalog:1" --secret alone >/dev/null
reason() { k get catalog "$1" -o 'jsonpath={.status.conditions[?(@.type=="Synced")].reason}'; }
soon "a token service that the Secret does not name gets nothing" SourceNotAllowed reason alone
has "and it is named" "its token service is $realm, which the credentials are not for" "$(k get catalog alone -o yaml | tr -s ' \n' ' ')"
none "it was not even asked" cat "$web/log"
k delete catalog alone >/dev/null
alm catalog add mirror "$token/mirror/catalog:1" --interval 2s --secret registry --priority 3 >/dev/null
synced() { k get catalog "$1" -o 'jsonpath={.status.conditions[?(@.type=="Synced")].reason} {.status.versions}'; }
soon "the artifact is synced through the token flow" "Synced 2" synced mirror
k create -f "$dir/etcd-apptype.yaml" >/dev/null
is "the app installs from the registry" "etcd" "$(app_is etcd "status.installedVersion = '0.9.5'" | sed 's/.*\///')"
package 0.9.6 "$folder" >/dev/null
alm catalog push "$folder" "$token/mirror/catalog:1" "${login[@]}" >/dev/null 2>&1
is "the tag moves, and the app follows" "etcd" "$(app_is etcd "status.installedVersion = '0.9.6'" | sed 's/.*\///')"
alm catalog add pinned "$basic/mirror/catalog@$digest" --secret registry >/dev/null
soon "a pinned digest stays what it was" "Synced 2" synced pinned

# --- an operator in place: its chart by digest, beside spec.resources ---
mkdir -p "$dir/site-operator/templates" "$dir/operators"
printf 'apiVersion: v2\nname: site-operator\nversion: 0.1.0\n' >"$dir/site-operator/Chart.yaml"
printf 'replicas: 1\n' >"$dir/site-operator/values.yaml"
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: site-operator}\ndata: {replicas: "{{ .Values.replicas }}"}\n' \
	>"$dir/site-operator/templates/c.yaml"
alm package build "$dir/site-operator" -o "$dir/operators" >/dev/null
alm catalog push "$dir/operators" "$basic/charts" --charts "${login[@]}" >/dev/null 2>&1
manifest=$(curl -ks -u user:secret -D- -o /dev/null -H 'Accept: application/vnd.oci.image.manifest.v1+json' \
	"https://127.0.0.1:$basic_port/v2/charts/site-operator/manifests/0.1.0" | tr -d '\r' | sed -n 's/^[Dd]ocker-[Cc]ontent-[Dd]igest: //p')
website() { # NAME DIGEST [SECRET]: the example, its operator in this registry
	sed -e "s|template: .*|template: 127.0.0.1:$basic_port/charts/site-operator@$2|" -e "s/^\( *\)type: helm/&${3:+\n\1secretRef: {name: $3}}/" \
		-e "s/name: coreos-website$/name: $1/" "$dir/website-apptype.yaml"
}
said() { k get apptypes.app.coreos.com "$1" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].message}' | grep -c "$2"; }
website other "sha256:$(printf '0%.0s' $(seq 64))" registry | k create -f - >/dev/null
soon "a digest that the registry does not have is told" 1 said other "404"
none "and nothing is defined" k get crd coreos-websites.web.coreos.com --ignore-not-found -o name
k delete apptype other >/dev/null
website coreos-website "$manifest" alone | k create -f - >/dev/null
soon "as is a Secret that is for another server" 1 said coreos-website "alm-system/alone is not for"
website coreos-website "$manifest" registry | k apply -f - >/dev/null 2>&1
is "an operator in place is installed" "coreos-website" \
	"$(app_is coreos-website "status.conditions[?type='Ready'].status = 'True'" | sed 's/.*\///')"
is "with its values" 2 "$(k get configmap -A -o 'jsonpath={.items[?(@.metadata.name=="site-operator")].data.replicas}')"
website coreos-website "$manifest" registry | sed 's/replicas: 2/replicas: 3/' | k apply -f - >/dev/null 2>&1
replicas() { k get configmap -A -o 'jsonpath={.items[?(@.metadata.name=="site-operator")].data.replicas}'; }
WAIT_S=60 soon "others are another version of it" 3 replicas
is "and the definition is there" site "$(k get crd coreos-websites.web.coreos.com -o 'jsonpath={.spec.names.shortNames[0]}')"

# --- an instance that names a chart: by tag, with values, in a namespace that takes such ---
mkdir -p "$dir/web-chart/templates"
page() { # VERSION IMAGE: pushes it, and the tag stable goes there
	printf 'apiVersion: v2\nname: web\nversion: %s\n' "$1" >"$dir/web-chart/Chart.yaml"
	printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "{{ .Release.Name }}-outputs"}\ndata: {endpoint: "https://{{ .Values.endpoint }}/%s"}\n' "$2" \
		>"$dir/web-chart/templates/c.yaml"
	rm -rf "$dir/pages"
	mkdir "$dir/pages"
	alm package build "$dir/web-chart" -o "$dir/pages" >/dev/null
	alm catalog push "$dir/pages" "$basic/charts" --charts "${login[@]}" >/dev/null 2>&1
	local at=https://127.0.0.1:$basic_port/v2/charts/web/manifests type=application/vnd.oci.image.manifest.v1+json
	curl -ks -u user:secret -H "Accept: $type" "$at/$1" >"$dir/page"
	curl -ks -u user:secret -X PUT -H "Content-Type: $type" --data-binary @"$dir/page" "$at/stable"
}
page 1.0.0 one
k patch apptype coreos-website --type=json -p '[{"op":"add","path":"/spec/resources/0/secretRef","value":{"name":"registry"}}]' >/dev/null
sed "s|quay.io/coreos/web|127.0.0.1:$basic_port/charts/web|" "$dir/website-instance.yaml" | k create -f - >/dev/null
told() { k get site www-coreos-com -o 'jsonpath={.status.conditions[0].reason}: {.status.conditions[0].message}' | grep -o "$1"; }
soon "A27 a namespace that does not take it is told" "instances does not name it" told "instances does not name it"
step=$(next_steps | grep "annotate namespace default")
is "A27 with what to do" "kubectl annotate namespace default app.coreos.com/instances=coreos-website" "$step"
run_step "A27 which runs" "$step"
out() { k get site www-coreos-com -o 'jsonpath={.status.outputs.endpoint}'; }
soon "A27 the chart is installed with its values, and its output is a URL" "https://www.coreos.com/one" out
lacks "A27 with no right in the cluster" k get clusterroles,clusterrolebindings -o name -- app:www-coreos-com
page 1.1.0 two
up_stop
up_start --allow-source 127.0.0.1
soon "A27 another digest of the tag is rolled out" "https://www.coreos.com/two" out
k patch site www-coreos-com --type=merge -p '{"spec":{"helmChart":{"upgrades":{"automatic":false}}}}' >/dev/null
page 1.2.0 three
up_stop
up_start --allow-source 127.0.0.1
app=$(k get site www-coreos-com -o 'jsonpath={.status.appType}')
available() { k get apptype "$app" -o 'jsonpath={.status.installedVersion} {.status.availableVersion} {.status.conditions[?(@.type=="Ready")].reason}'; }
soon "A27 with automatic: false it is only available" "1.0.2 1.0.3 AwaitingApproval" available
is "A27 and what ran runs" "https://www.coreos.com/two" "$(out)"
k annotate namespace default app.coreos.com/instances- >/dev/null
soon "A27 taken back, the account has no right there" "" k get rolebinding "alm:app:$app" --ignore-not-found -o name
k annotate namespace default app.coreos.com/instances=coreos-website >/dev/null
k delete site www-coreos-com >/dev/null
soon "A27 all of it goes with the instance" "" k get apptype "$app" --ignore-not-found -o name
none "A27 its objects too" k get configmap "$app-outputs" --ignore-not-found -o name
none "A27 and its catalog" k get catalog "apptype-$app" --ignore-not-found -o name
finish
