#!/bin/bash
# Catalogs on this machine that their author chose badly: devices, pipes, folders outside of --catalog-root, links that
# lead out, ALM's own data. None of them stops the server, tells what is there, or outlives a restart as a trap.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - local catalogs # SKIP no kubectl"
	exit 0
}
mkdir -p "$catalog/good" "$catalog/fifo" "$dir/outside"
package 0.9.4 "$catalog/good" >/dev/null
cp "$catalog/good"/*.tgz "$dir/outside/"
mkfifo "$catalog/pipe.tgz" "$catalog/fifo/x-1.0.0.tgz" "$catalog/fifo/catalog.yaml"
ln -s /dev/zero "$catalog/zero.tgz"
ln -s "$dir/outside" "$catalog/out"
ln -s ../data "$catalog/data"
ln -s good "$catalog/inside"

up_start
add() { printf '{"apiVersion":"app.coreos.com/v1alpha1","kind":"Catalog","metadata":{"name":"%s"},"spec":{"interval":"1s","source":{"url":"%s"}}}' "$1" "$2" | k create -f - >/dev/null; }
synced() { k get catalog "$1" -o 'jsonpath={.status.conditions[?(@.type=="Synced")].reason}'; }
message() { k get catalog "$1" -o 'jsonpath={.status.conditions[?(@.type=="Synced")].message}'; }
while read -r name url; do add "$name" "$url"; done <<END
ptmx file:///dev/ptmx
devzero file:///dev/zero
pipe file://$catalog/pipe.tgz
zero file://$catalog/zero.tgz
etc dir:///etc
absent dir:///no/such/folder
data dir://$data
dots dir://$catalog/../data
beside dir://${catalog}2
out dir://$catalog/out
linked dir://$catalog/data
fifo dir://$catalog/fifo
inside dir://$catalog/inside
gone dir://$catalog/nowhere
END
for name in ptmx devzero zero etc absent data dots beside out linked; do
	soon "$name is not allowed" SourceNotAllowed synced $name
done
soon "a pipe is no catalog" ParseError synced pipe
has "and is named" "is no regular file" "$(message pipe)"
soon "a folder of pipes is read without them" Synced synced fifo
is "which are named" '["x-1.0.0.tgz: fifo/x-1.0.0.tgz is no regular file"]' "$(k get catalog fifo -o 'jsonpath={.status.rejected}')"
soon "a link that stays below the root is followed" Synced synced inside
soon "a folder that is not there, below the root" SourceUnreachable synced gone
is "outside of the roots nobody learns what exists" "$(message etc)" "$(message absent | sed s,/no/such/folder,/etc,)"
has "the remedy is named" "--catalog-root" "$(message etc)"
is "the server answers" ok "$(timeout 60 kubectl get --raw /healthz)"
# What is large or hostile is read by a child: the server's own memory knows nothing of it.
mkdir -p "$catalog/large/p" "$catalog/bomb"
python3 - "$catalog" <<'END'
import gzip, io, os, sys, tarfile
root = sys.argv[1]

def archive(path, files):
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as t:
        for name, data in files:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            t.addfile(info, io.BytesIO(data))
    packed = gzip.compress(raw.getvalue(), 1, mtime=0)
    with open(path, "wb") as f:
        f.write(packed)
    return packed

def chart(name, more=()):
    return [(f"{name}/Chart.yaml", f"apiVersion: v2\nname: {name}\nversion: 1.0.0\n".encode()), *more]

block = b"".join(os.urandom(16) * 64 for _ in range(1024))  # 1 MiB that packs to 1:30
archive(f"{root}/large/big-1.0.0.tgz", chart("big", [(f"big/f{i}", block * 30) for i in range(2)]))
archive(f"{root}/bomb/bomb-1.0.0.tgz", chart("bomb", [("bomb/f", bytes(300 << 20))]))
with open(f"{root}/large/p/catalog.yaml", "w") as f:
    f.write("schema: olm.package\nname: p\n")
    for i in range(500):
        f.write(f"---\nschema: olm.bundle\nname: p.v1.0.{i}\npackage: p\nproperties: [{{type: olm.csv, value: {'x' * 60000}}}]\n")
small = archive(f"{root}/a.tgz", chart("a", [("a/f", block * 4)]))
archive(f"{root}/folder.tgz", [(f"catalog/a{i}-1.0.0.tgz", small) for i in range(40)])
END
peak() { awk '/VmHWM/ {print int($2 / 1024)}' "/proc/$pid/status"; }
before=$(peak)
add large "dir://$catalog/large"
add bomb "dir://$catalog/bomb"
add folder "file://$catalog/folder.tgz"
soon "a folder of large archives is read" Synced synced large
soon "and an archive of many" Synced synced folder
rejected() { k get catalog bomb -o 'jsonpath={.status.rejected}' | grep -o 'bomb-1.0.0.tgz: ' | head -1; }
soon "a bomb is stopped at its limit" "bomb-1.0.0.tgz: " rejected
after=$(peak)
case $BUILD in
*address*) echo "ok $((tests += 1)) - the memory of the server # SKIP sanitizers have their own" ;;
*) is "the memory of the server has not grown with them ($before MiB, then $after)" yes "$([ $((after - before)) -le 40 ] && echo yes)" ;;
esac
k delete catalog large bomb folder >/dev/null
rm -r "$catalog/large" "$catalog/bomb" "$catalog/folder.tgz"
up_stop
up_start
is "also after a restart with all of them" ok "$(timeout 60 kubectl get --raw /healthz)"
soon "and reads what is good" Synced synced inside

# What a user names for a command of his own may be a pipe; what a folder has may not.
configmap='{apiVersion: v1, kind: ConfigMap, metadata: {name: piped, namespace: default}}'
code "a manifest from a pipe" 0 "configmap/piped" alm create -f <(echo "$configmap")
has "a manifest from standard input" "configmap/piped2" "$(echo "${configmap/piped/piped2}" | alm create -f - 2>&1)"
has "a manifest from /dev/stdin" "configmap/piped3" "$(echo "${configmap/piped/piped3}" | alm create -f /dev/stdin 2>&1)"
code "a kubeconfig from a pipe" 0 "piped" alm get configmaps --kubeconfig <(cat "$KUBECONFIG")
mkdir -p "$dir/chart/templates"
printf 'apiVersion: v2\nname: c\nversion: 1.0.0\n' >"$dir/chart/Chart.yaml"
echo 'a: {{ .Values.a }}' >"$dir/chart/templates/a.yaml"
code "values from a pipe" 0 "a: 7" alm template r "$dir/chart" -f <(echo 'a: 7')
mkfifo "$dir/chart/templates/b.yaml"
code "a pipe in a chart is refused" 1 "b.yaml is neither a file nor a folder" alm template r "$dir/chart"
mkfifo "$dir/manifests.yaml"
code "a pipe in a folder of manifests" 1 "manifests.yaml is no regular file" alm create -f "$dir"

for bad in "$dir/data2" "$dir" / relative "$catalog/../x"; do
	code "--catalog-root ${bad/$dir/DIR}" 2 "--catalog-root $bad: " \
		"$alm_bin" up --data-dir "$dir/data2" --listen 127.0.0.1:0 --metrics-listen off --catalog-root "$bad"
done
finish
