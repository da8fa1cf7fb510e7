#!/bin/bash
# Makes the files of this folder again, with the real gpg, helm and openssl; none of them is needed to run the tests.
# Time is that of the clock below, so that expiry is a fact of the vectors; test_verify.c judges at 2027-01-01; helm signs at the real time, before that.
set -eu
cd "$(dirname "$0")"
helm=${HELM:-helm}
work=$(mktemp -d)
trap 'gpgconf --homedir "$work/gpg" --kill all; rm -rf "$work"' EXIT
mkdir -m 700 "$work/gpg"
g() { gpg --no-options --pinentry-mode loopback --homedir "$work/gpg" --batch --quiet --yes --passphrase '' --faked-system-time "${at:-20260101T000000}!" "$@"; }
mail() { echo "<$1@example.com>"; }
fingerprint() { g --list-keys --with-colons "$(mail "$1")" | awk -F: '/^fpr/ {print $10; exit}'; }
key() { g --quick-generate-key "$1 <$1@example.com>" "$2" "${3:-sign}" "${4:-never}"; }
key rsa rsa2048
key ed ed25519
key other ed25519
key short ed25519 sign 20260115T000000
key revoked ed25519
key parent ed25519 cert
g --quick-add-key "$(fingerprint parent)" ed25519 sign never

# A chart, packed and signed by helm itself; helm reads the old form of a keyring.
mkdir -p "$work/etcd/templates"
printf 'apiVersion: v2\nname: etcd\nversion: 0.9.4\ndescription: a database\n' >"$work/etcd/Chart.yaml"
g --export-secret-keys >"$work/secring.gpg"
"$helm" package --sign --key rsa --keyring "$work/secring.gpg" -d "$work" "$work/etcd" >/dev/null
sha256sum "$work/etcd-0.9.4.tgz" | cut -c1-64 >digest
cp "$work/etcd-0.9.4.tgz.prov" rsa.prov

# The same text, signed by gpg with the other keys.
g --decrypt rsa.prov >"$work/text" 2>/dev/null
sign() { g -u "$(mail "$1")" --clearsign -o "$2" "${3:-$work/text}"; }
sign ed ed.prov
sign other other.prov
sign parent subkey.prov
at=20260110T000000 sign short short.prov
sign revoked revoked.prov
g --digest-algo SHA512 -u "$(mail ed)" --clearsign -o sha512.prov "$work/text"
g --default-sig-expire 20260110T000000 -u "$(mail ed)" --clearsign -o ended.prov "$work/text"
{ cat "$work/text"; printf -- '...\nfiles: {}\n'; } >"$work/three"
sign ed three.prov "$work/three"
sed 's/etcd-0.9.4.tgz/etcd-0.9.5.tgz/' "$work/text" >"$work/subject"
sign ed subject.prov "$work/subject"
sed 's/^version: 0.9.4/version: 0.9.5/' "$work/text" >"$work/chart"
sign ed chart.prov "$work/chart"
{ cat "$work/text"; printf -- '- dash\nFrom x\n  \ntrailing \t \n'; } >"$work/dashes"
sign ed dashes.prov "$work/dashes"

for name in rsa ed other short parent; do g --armor --export "$(mail "$name")" >"$name.asc"; done
sed 's/^:---/---/' "$work/gpg/openpgp-revocs.d/$(fingerprint revoked).rev" |
	g --import 2>/dev/null
g --armor --export "$(mail revoked)" >revoked.asc

# cosign, by openssl
manifest=$(printf manifest | sha256sum | cut -c1-64)
echo "$manifest" >manifest
printf '{"critical":{"identity":{"docker-reference":"127.0.0.1:5000/charts/etcd"},"image":{"docker-manifest-digest":"sha256:%s"},"type":"cosign container image signature"},"optional":null}' \
	"$manifest" >cosign.json
sed 's/cosign container image signature/atomic container signature/' cosign.json >cosign-type.json
for curve in ec other-ec; do openssl ecparam -name prime256v1 -genkey -noout -out "$work/$curve.key"; done
openssl genrsa -out "$work/rsa.key" 2048 2>/dev/null
openssl genpkey -algorithm ed25519 -out "$work/ed.key"
for k in ec rsa ed; do openssl pkey -in "$work/$k.key" -pubout -out "cosign-$k.pem"; done
for k in ec rsa other-ec; do openssl dgst -sha256 -sign "$work/$k.key" cosign.json | base64 -w0 >"cosign-$k.sig"; done
openssl dgst -sha256 -sign "$work/ec.key" cosign-type.json | base64 -w0 >cosign-type.sig
openssl pkeyutl -sign -rawin -inkey "$work/ed.key" -in cosign.json | base64 -w0 >cosign-ed.sig
