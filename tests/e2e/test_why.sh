#!/bin/bash
# `alm why` and `alm why-not`: the output a user reads, formats and exit codes; from files (--offline), live, and
# from the log (--at). T1: absent, out of range and no upgrade path are three different reasons.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
for v in 0.9.4 0.9.5 0.9.6 1.0.0; do package $v >/dev/null; done
files="judged from files: live objects and the CRD gate were not asked"

# --- offline ---
is "offline: nothing is installed" "etcd  not installed  Automatic  community@sha256:D…  channel stable  range *
  1.0.0       yes  chosen
  0.9.6       ?    NotEvaluated     a preferred version is installable
  0.9.5       ?    NotEvaluated     a preferred version is installable
  0.9.4       ?    NotEvaluated     a preferred version is installable
$files" "$(alm why etcd --offline --catalog "community=$catalog")"
is "offline: from an installed version" "etcd  installed 0.9.5  Automatic  community@sha256:D…  channel stable  range *
  1.0.0       no   ResourceDropped  etcds.etcd.coreos.com/v1: objects not counted, taken as in use
  0.9.6       yes  chosen           0.9.5 -> 0.9.6
  0.9.5       -    installed
  1 lower version: NotNewer
$files" "$(alm why etcd --offline --catalog "community=$catalog" --installed 0.9.5)"
code "offline: why-not exits 3 with the steps" 3 "  1. alm upgrade etcd --to 1.0.0 --accept-dropped etcds.etcd.coreos.com/v1 --reason TEXT" \
	alm why-not etcd 1.0.0 --offline --catalog "$catalog" --installed 0.9.5
code "offline: why-not exits 0 for an installable one" 0 "etcd 0.9.6 is installable" \
	alm why-not etcd 0.9.6 --offline --catalog "$catalog" --installed 0.9.5
code "offline: why-not exits 1 for one that is not there" 1 "etcd has no candidate 7" \
	alm why-not etcd 7 --offline --catalog "$catalog"
code "offline: out of range" 3 'etcd 1.0.0 is not installable: OutOfRange: spec.version is <1' \
	alm why-not etcd 1.0.0 --offline --catalog "$catalog" --range '<1'
code "offline: wide tells kubectl's way" 3 "kubectl patch apptype etcd --type=merge -p '{\"spec\":{\"version\":\"<1 || =1.0.0\"}}'" \
	alm why-not etcd 1.0.0 --offline --catalog "$catalog" --range '<1' -o wide
is "offline: json has the same facts" "ResourceDropped False etcds.etcd.coreos.com/v1" "$(
	alm why-not etcd 1.0.0 --offline --catalog "$catalog" --installed 0.9.5 -o json |
		python3 -c 'import json, sys; o = json.load(sys.stdin); print(o["reason"], o["installable"], o["dropped"][0])'
)"
code "offline: an unknown app" 1 "no catalog has a package for an app named nobody" alm why nobody --offline --catalog "$catalog"
code "offline: a bad range" 2 "--range: improper constraint: bla" alm why etcd --offline --catalog "$catalog" --range bla
code "offline: no catalog" 2 "--offline needs a catalog" alm why etcd --offline
code "offline: no such folder" 1 "No such file or directory" alm why etcd --offline --catalog "$dir/nowhere"
code "--catalog without --offline" 2 "--catalog needs --offline" alm why etcd --catalog "$catalog"
code "a format that is none" 2 "-o yaml: want json or wide" alm why etcd --offline --catalog "$catalog" -o yaml
manifests
sed 's/^spec:/spec:\n  channel: beta/' "$dir/etcd-apptype.yaml" >"$dir/beta.yaml"
is "offline: AppType and Catalog from files" "etcd  not installed  Automatic  community@sha256:D…  channel beta  range *
  1.0.0       yes  chosen" "$(alm why etcd --offline -f "$dir/beta.yaml" -f "$dir/catalog.yaml" | head -2)"
finish
