#!/bin/bash
# An upgrade that brings a converter (lifecycle.md 7.2): the new version is not served before the converter answers, and no read fails
# meanwhile; then kubectl reads, writes and watches in both versions. On alm up, or on the cluster of ALM_TEST_CLUSTER, which may be
# written to and whose API server reaches this machine's loopback.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	skip "an upgrade with a converter" "no kubectl"
	finish
	exit 0
}
helpers=
openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 -days 1 \
	-keyout "$dir/key" -out "$dir/cert" 2>/dev/null
port=$(free_port)

version() { # NAME STORED FIELD
	printf '  - {name: %s, served: true, storage: %s, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {%s: {type: integer}}}}}}}\n' "$@"
}
chart() { # VERSION PROVIDES CRD-LINES
	local c=$dir/chart
	mkdir -p "$c/crds" "$c/templates"
	printf 'apiVersion: v2\nname: spanner-operator\nversion: 0.0.0\n' >"$c/Chart.yaml"
	printf 'appType: spanner.convert.example.org\nprovides: [%s]\n' "$2" >"$c/alm.yaml"
	printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: spanner-operator}\ndata: {version: "%s"}\n' "$1" \
		>"$c/templates/config.yaml"
	cat - <<-END >"$c/crds/spanners.yaml"
		apiVersion: apiextensions.k8s.io/v1
		kind: CustomResourceDefinition
		metadata: {name: spanners.convert.example.org}
		spec:
		  group: convert.example.org
		  scope: Namespaced
		  names: {plural: spanners, singular: spanner, kind: Spanner, listKind: SpannerList}
		$3
	END
	alm package build "$c" --version "$1" -o "$catalog" >/dev/null || not_ok "package $1 builds"
}
installed() { k get apptype spanner -o 'jsonpath={.status.installedVersion}'; }
shape() { k get crd spanners.convert.example.org -o \
	'jsonpath={.spec.conversion.strategy}{range .spec.versions[*]} {.name}:{.served}:{.storage}{end}'; }
verified() { k get ist install.2.0.0.spanner.convert.example.org -o 'jsonpath={.status.conditions[?(@.type=="Verified")].reason}'; }

cluster_start
k wait --for=condition=Established crd/apps.app.coreos.com crd/catalogs.app.coreos.com --timeout=60s >/dev/null
trap 'kill $helpers ${proxy:-} 2>/dev/null; k delete apptype spanner --ignore-not-found >/dev/null 2>&1
	on_cluster && k delete catalog/spanners crd/spanners.convert.example.org --ignore-not-found --wait=false >/dev/null 2>&1
	up_stop; rm -rf "$dir"' EXIT
chart 1.0.0 spanners.convert.example.org/v1 "  versions:
$(version v1 true size)"
next_second
k create -f - >/dev/null <<END
apiVersion: app.coreos.com/v1alpha1
kind: Catalog
metadata: {name: spanners}
spec: {interval: 5s, source: {url: "dir://$catalog"}}
---
apiVersion: app.coreos.com/v1beta1
kind: AppType
metadata: {name: spanner}
spec: {type: convert.example.org}
END
soon "1.0.0 is installed" "1.0.0" installed
k create -f - >/dev/null <<'END'
apiVersion: convert.example.org/v1
kind: Spanner
metadata: {name: a, namespace: default}
spec: {size: 3}
END

# Somebody reads all the time.
kubectl proxy --port=0 >"$dir/reader" 2>&1 &
helpers="$helpers $!"
soon "a proxy answers" "yes" sh -c "grep -q '127\.0\.0\.1:' '$dir/reader' && echo yes"
address=$(grep -o '127\.0\.0\.1:[0-9]*' "$dir/reader")
while :; do
	curl -s -o "$dir/read" -w '%{http_code} ' "http://$address/apis/convert.example.org/v1/spanners" >>"$dir/reads"
	sleep 0.3
done &
helpers="$helpers $!"

chart 2.0.0 'spanners.convert.example.org/v1, spanners.convert.example.org/v2' "  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig: {url: 'https://127.0.0.1:$port/', caBundle: $(base64 -w0 <"$dir/cert")}
  versions:
$(version v1 false size)
$(version v2 true count)"
soon "the converter does not answer: it waits, and says so" "ConversionNotReady" verified
soon "the converter is put back, the new version not served" "None v1:true:true v2:false:false" shape
has "it is told why" "failed" \
	"$(k get ist install.2.0.0.spanner.convert.example.org -o 'jsonpath={.status.conditions[?(@.type=="Verified")].message}')"
is "1.0.0 is still what is installed" "1.0.0" "$(installed)"
python3 tests/e2e/gate_converter.py "$port" "$dir/cert" "$dir/key" &
helpers="$helpers $!"
WAIT_S=120 soon "the converter answers: 2.0.0 is installed" "2.0.0" installed
soon "then the storage version moves" "Webhook v1:true:false v2:true:true" shape
is "read as v1" "3" "$(k get spanners.v1.convert.example.org a -o 'jsonpath={.spec.size}')"
is "read as v2" "3" "$(k get spanners.v2.convert.example.org a -o 'jsonpath={.spec.count}')"
# 429: the server asks to come again, as it does for a moment after every change of a CRD.
is "no read failed" "200" "$(tr ' ' '\n' <"$dir/reads" | grep -v 429 | sort -u | xargs)"
kubectl get spanners.v1.convert.example.org -n default -w -o 'jsonpath={.metadata.name} {.spec.size}{"\n"}' >"$dir/seen" 2>&1 &
helpers="$helpers $!"
seen() { tail -1 "$dir/seen"; }
soon "a watch in v1 begins with what there is" "a 3" seen
is "it is changed in v2" "spanner.convert.example.org/a patched" \
	"$(k patch spanners.v2.convert.example.org a --type=merge -p '{"spec":{"count":4}}')"
soon "which the watch is told in v1" "a 4" seen
has "7.5 migrated under the converter" "a written as v2" \
	"$(alm crd migrate spanners.convert.example.org --to v2 --ignore-writers 2>&1)"
is "and nothing is stored as v1" '["v2"]' "$(k get crd spanners.convert.example.org -o 'jsonpath={.status.storedVersions}')"
finish
