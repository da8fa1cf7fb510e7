#!/bin/sh
# package.sh VERSION OUTDIR: packs the demo chart etcd-operator and prints what `alm package build` prints.
# 0.9.4, 0.9.5, 0.9.6 and 1.0.0 come with their CRD and alm.yaml; any other version, and plain:VERSION,
# is the bare chart of section 2 of the story: no CRD, no descriptor.
#   0.9.4 serves v1; 0.9.5 serves v1 and v2 and stores v1; 0.9.6 stores v2; 1.0.0 serves v2 only
set -eu
[ $# -eq 2 ] || { echo "usage: package.sh VERSION OUTDIR" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
alm=${ALM:-$here/../../build/alm}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R "$here/charts/etcd-operator" "$work/"
version=${1#plain:}
if [ "$version" = "$1" ] && [ -d "$here/charts/overlays/$version" ]; then
	cp -R "$here/charts/overlays/$version/." "$work/etcd-operator/"
fi
mkdir -p "$2"
"$alm" package build "$work/etcd-operator" --version "$version" -o "$2"
