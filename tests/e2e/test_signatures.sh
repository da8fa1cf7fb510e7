#!/bin/bash
# spec.verify of a Catalog: signatures by the real gpg and helm (provenance) and by openssl in the form of cosign, in
# folders, archives, Helm repositories and a registry; what is not signed is neither listed nor installed.
# shellcheck disable=SC2119
set -u
helm=${HELM:-$(command -v helm || echo "$HOME/.cache/alm-oracles/bin/helm")}
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
for need in gpg docker-registry kubectl python3 openssl curl; do
	command -v $need >/dev/null || {
		echo "ok 1 - signatures of packages # SKIP no $need"
		exit 0
	}
done
web=$dir/web folder=$catalog/folder
mkdir -p "$web/repo" "$folder"
export GNUPGHOME=$dir/gpg
mkdir -m 700 "$GNUPGHOME"
trap 'kill $pids 2>/dev/null; gpgconf --kill all; up_stop; rm -rf "$dir"' EXIT
gpg_() { gpg --batch --quiet --yes --pinentry-mode loopback --passphrase '' "$@" 2>>"$dir/gpg.log"; }
for name in release stranger; do
	gpg_ --quick-generate-key "<$name@example.com>" ed25519 sign never
	gpg_ --armor --export "<$name@example.com>" >"$dir/$name.asc"
done
# sign ARCHIVE WHO: what helm package --sign writes, by gpg
sign() {
	{
		tar -xzOf "$1" etcd-operator/Chart.yaml
		printf '\n...\nfiles:\n  %s: sha256:%s\n' "${1##*/}" "$(sha256sum "$1" | cut -c1-64)"
	} | gpg_ -u "<$2@example.com>" --clearsign -o "$1.prov"
}
archive() { echo "$folder/etcd-operator-$1.tgz"; }
for v in 0.9.4 0.9.5 0.9.6; do package $v "$folder" >/dev/null; done
sign "$(archive 0.9.4)" release
sign "$(archive 0.9.6)" stranger

tests/e2e/catalog_server.py "$web" "$web/log" >"$web/port" 2>/dev/null &
pids=$!
written "$web/port" >/dev/null # its certificate is there then
port=$(free_port)
{
	printf 'version: 0.1\nlog: {level: error, accesslog: {disabled: true}}\n'
	printf 'storage: {filesystem: {rootdirectory: %s}, delete: {enabled: true}}\n' "$dir/storage"
	printf 'http: {addr: "127.0.0.1:%s", tls: {certificate: %s/server.crt, key: %s/server.key}}\n' "$port" "$web" "$web"
} >"$dir/registry.yml"
docker-registry serve "$dir/registry.yml" >"$dir/registry.log" 2>&1 &
pids="$pids $!"
for _ in $(seq 600); do
	curl -ks -o /dev/null "https://127.0.0.1:$port/" && break
	sleep 0.1
done
registry=127.0.0.1:$port
for k in cosign wrong; do
	openssl ecparam -name prime256v1 -genkey -noout -out "$dir/$k.key"
	openssl pkey -in "$dir/$k.key" -pubout -out "$dir/$k.pem"
done
r() { curl -sS --cacert "$web/ca.crt" "$@"; }
# blob NAME FILE
blob() {
	local to
	to=$(r -X POST -D - -o /dev/null "https://$registry/v2/$1/blobs/uploads/" | tr -d '\r' | sed -n 's/^[Ll]ocation: //p')
	r -X PUT -H 'Content-Type: application/octet-stream' --data-binary "@$2" "$to&digest=sha256:$(sha256sum "$2" | cut -c1-64)"
}
described() { printf '"mediaType":"%s","digest":"sha256:%s","size":%s' "$2" "$(sha256sum "$1" | cut -c1-64)" "$(stat -c %s "$1")"; }
# cosign NAME TAG KEY: signs the manifest of the tag as cosign sign --key does
cosign() {
	local hex
	hex=$(r -H 'Accept: application/vnd.oci.image.manifest.v1+json' "https://$registry/v2/$1/manifests/$2" | sha256sum | cut -c1-64)
	printf '{"critical":{"identity":{"docker-reference":"%s/%s"},"image":{"docker-manifest-digest":"sha256:%s"},"type":"cosign container image signature"},"optional":null}' \
		"$registry" "$1" "$hex" >"$dir/payload"
	echo '{}' >"$dir/config"
	printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{%s},"layers":[{%s,"annotations":{"dev.cosignproject.cosign/signature":"%s"}}]}' \
		"$(described "$dir/config" application/vnd.oci.image.config.v1+json)" \
		"$(described "$dir/payload" application/vnd.dev.cosign.simplesigning.v1+json)" \
		"$(openssl dgst -sha256 -sign "$dir/$3.key" "$dir/payload" | base64 -w0)" >"$dir/manifest"
	blob "$1" "$dir/config"
	blob "$1" "$dir/payload"
	r -X PUT -H 'Content-Type: application/vnd.oci.image.manifest.v1+json' --data-binary "@$dir/manifest" \
		"https://$registry/v2/$1/manifests/sha256-$hex.sig"
}

up_start --allow-source 127.0.0.1
manifests
k create namespace alm-system >/dev/null 2>&1
k create secret generic web -n alm-system --type=app.coreos.com/catalog-credentials --from-file=ca.crt="$web/ca.crt" \
	--from-literal=origins="https://$registry https://127.0.0.1:$(written "$web/port")" >/dev/null
# source NAME URL KEYS [MORE]: a Catalog with a policy
source_() {
	k apply -f - <<END >/dev/null
apiVersion: app.coreos.com/v1alpha1
kind: Catalog
metadata: {name: $1}
spec:
  interval: 1s
  source: {url: "$2", secretRef: {name: web}}
  verify: {mode: Required, keysRef: {name: $3}${4:-}}
END
}
keys() { # NAME FILE...
	local name=$1
	shift
	k create configmap "$name" -n alm-system "${@/#/--from-file=}" --dry-run=client -o yaml | k apply -f - >/dev/null 2>&1
}
synced() { k get catalog "$1" -o 'jsonpath={.status.conditions[?(@.type=="Synced")].reason} {.status.versions}'; }
reason() { k get catalog "$1" -o 'jsonpath={.status.conditions[?(@.type=="Synced")].reason}'; }
rejected() { said dir | grep -c "$1"; }
said() { k get catalog "$1" -o 'jsonpath={.status.conditions[?(@.type=="Synced")].message}{"\n"}{range .status.rejected[*]}{@}{"\n"}{end}'; }

# --- dir:// ---
source_ dir "dir://$folder" release
soon "without its keys nothing is used" "SignatureInvalid " synced dir
has "and the status says what is missing" "spec.verify.keysRef" "$(said dir)"
keys release "$dir/release.asc"
soon "a folder: one of three is signed by a key" "Synced 1" synced dir
has "the unsigned one is named" "etcd-operator-0.9.5.tgz: SignatureInvalid: it is not signed" "$(said dir)"
has "and the stranger's" "etcd-operator-0.9.6.tgz: SignatureInvalid: provenance: it is signed by key" "$(said dir)"
k create -f "$dir/etcd-apptype.yaml" >/dev/null
is "the app installs what is signed, not what is newest" "etcd" "$(app_is etcd "status.installedVersion = '0.9.4'" | sed 's/.*\///')"
cp "$(archive 0.9.4).prov" "$(archive 0.9.5).prov"
soon "a signature of another archive helps nobody" 1 rejected "signed for another archive"
sign "$(archive 0.9.5)" release
is "signed, it is installed" "etcd" "$(app_is etcd "status.installedVersion = '0.9.5'" | sed 's/.*\///')"
keys release "$dir/stranger.asc"
soon "the keys change: only the stranger's counts" "Synced 1" synced dir
has "and the others are named" "etcd-operator-0.9.5.tgz: SignatureInvalid" "$(said dir)"
is "the app goes on to what is signed now" "etcd" "$(app_is etcd "status.installedVersion = '0.9.6'" | sed 's/.*\///')"

# --- a plan that was made before the policy ---
k delete catalog dir >/dev/null
k delete apptype etcd >/dev/null
mkdir "$catalog/open"
cp "$(archive 0.9.4)" "$catalog/open/"
alm catalog add open "dir://$catalog/open" --interval 1s >/dev/null
soon "a Catalog without a policy has what is not signed" "Synced 1" synced open
sed 's/mode: Automatic/mode: Manual\n    approveFirst: true/' "$dir/etcd-apptype.yaml" | k create -f - >/dev/null
planned() { k get installstrategies -o 'jsonpath={range .items[*]}{.status.phase} {.status.conditions[?(@.type=="PlanReady")].reason}{"\n"}{end}' | tail -1; }
phase() { planned | cut -d' ' -f1; }
soon "its plan waits for approval" AwaitingApproval phase
k patch catalog open --type merge -p '{"spec":{"verify":{"mode":"Required","keysRef":{"name":"none"}}}}' >/dev/null
soon "then the Catalog gets a policy, whose keys are missing" "SignatureInvalid 1" synced open
approved() { alm approve etcd 0.9.4 --reason test >/dev/null 2>&1; planned; }
soon "what was planned is not installed, approved or not" "Blocked SignatureInvalid" approved
sign "$catalog/open/etcd-operator-0.9.4.tgz" release
keys none "$dir/release.asc"
soon "until it is signed" "Succeeded Planned" approved
k delete apptype etcd >/dev/null
k delete catalog open >/dev/null

# --- file:// ---
keys release "$dir/release.asc"
sign "$(archive 0.9.6)" release
package 1.0.0 "$folder" >/dev/null
tar -C "$catalog" -czf "$catalog/all.tgz" folder
source_ file "file://$catalog/all.tgz" release
soon "an archive of a folder with its signatures" "Synced 3" synced file
has "what has none is named" "etcd-operator-1.0.0.tgz: SignatureInvalid: it is not signed" "$(said file)"

# --- the command ---
code "verify --keys: one is not signed" 1 "etcd-operator-1.0.0.tgz: SignatureInvalid: it is not signed" \
	alm catalog verify "$folder" --keys "$dir/release.asc"
code "and without it" 0 "4 archives" alm catalog verify "$folder"
mkdir "$dir/good"
cp "$(archive 0.9.4)"* "$dir/good/"
code "all are" 0 "1 archive," alm catalog verify "$dir/good" --keys "$dir/release.asc"
code "by the wrong key" 1 "which is not among the keys" alm catalog verify "$dir/good" --keys "$dir/stranger.asc"

# --- https:// ---
cp "$folder"/* "$web/repo/"
alm catalog index "$web/repo" --generated now >/dev/null 2>&1
url=https://127.0.0.1:$(written "$web/port")/repo
source_ https "$url" release ', maxAge: 24h'
soon "a Helm repository" "Synced 3" synced https
has "what has none is named" "etcd-operator-1.0.0.tgz.prov: answers 404" "$(said https)"
sign "$web/repo/etcd-operator-1.0.0.tgz" release
soon "it comes without a change of the index" "Synced 4" synced https
sed -i 's/^generated: .*/generated: "2020-01-01T00:00:00Z"/' "$web/repo/index.yaml"
soon "an index of former times is not used, the last good one stays" "CatalogStale 4" synced https
has "and it says so" "generated at 2020-01-01T00:00:00Z, before the revision in use" "$(said https)"
k delete catalog https >/dev/null
source_ https "$url" release ', maxAge: 24h'
soon "nor one that is too old" "CatalogStale " synced https
has "and it says so" "more than spec.verify.maxAge ago: 24h" "$(said https)"
source_ dir "dir://$folder" release ', maxAge: 24h'
soon "a folder has no age" "CatalogStale " synced dir

# --- oci:// ---
keys cosign "$dir/cosign.pem"
alm catalog push "$folder" "oci://$registry/charts" --charts --ca-file "$web/ca.crt" >/dev/null 2>&1
source_ oci "oci://$registry/charts/etcd-operator" cosign
soon "charts in a registry that nobody has signed" "Synced 0" synced oci
has "and it says so" "tag 0.9.4: SignatureInvalid: it is not signed: cosign has left no signature" "$(said oci)"
cosign charts/etcd-operator 0.9.5 wrong
cosign charts/etcd-operator 0.9.4 cosign
soon "cosign: the one that is signed by the key" "Synced 1" synced oci
has "not by another key" "tag 0.9.5: SignatureInvalid: cosign: it is signed by none of the keys" "$(said oci)"
alm catalog push "$folder" "oci://$registry/mirror:1" --ca-file "$web/ca.crt" >/dev/null 2>&1
source_ artifact "oci://$registry/mirror:1" cosign
soon "a catalog artifact that is not signed" "SignatureInvalid " synced artifact
cosign mirror 1 cosign
soon "signed, all of it counts" "Synced 4" synced artifact
if [ -x "$helm" ]; then
	gpg --batch --pinentry-mode loopback --passphrase '' --export-secret-keys >"$dir/secring" 2>/dev/null
	mkdir "$dir/unpacked" "$dir/signed"
	tar -xzf "$(archive 0.9.4)" -C "$dir/unpacked"
	timeout 60 "$helm" package --sign --key release --keyring "$dir/secring" -d "$dir/signed" "$dir/unpacked/etcd-operator" >/dev/null 2>>"$dir/helm.log"
	timeout 60 "$helm" push "$dir/signed"/*.tgz "oci://$registry/helm" --ca-file "$web/ca.crt" >>"$dir/helm.log" 2>&1
	source_ helm "oci://$registry/helm/etcd-operator" release
	soon "what helm has signed and pushed" "Synced 1" synced helm
	cp "$dir/signed"/* "$catalog/" && source_ beside "dir://$catalog" release
	soon "and what it has packed beside its signature" "Synced 1" synced beside
else
	echo "ok $((tests += 1)) - what helm has signed # SKIP no helm (set HELM)"
fi

# --- a policy that cannot be obeyed ---
printf 'apiVersion: app.coreos.com/v1alpha1\nkind: Catalog\nmetadata: {name: refused}\nspec: {source: {url: "dir:///x"}, verify: %s}\n' \
	'{mode: Required, keysRef: {name: x, namespace: default}}' >"$dir/no.yaml"
code "keys of another namespace are refused" 1 'supported values: "alm-system"' k create -f "$dir/no.yaml"
sed -i 's/mode: Required/mode: Optional/' "$dir/no.yaml"
code "and any other mode" 1 'supported values: "Required"' k create -f "$dir/no.yaml"
finish
