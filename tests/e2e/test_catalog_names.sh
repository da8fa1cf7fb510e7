#!/bin/bash
# Names, versions and file names of foreign catalogs: none of them is a path, an option or an order to a terminal,
# from whichever source it comes; what is refused is named so that everybody can see it.
# shellcheck disable=SC2119
set -u
HOME_BEFORE=$HOME
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
for need in kubectl python3 openssl; do
	command -v $need >/dev/null || {
		echo "ok 1 - names in catalogs # SKIP no $need"
		exit 0
	}
done
web=$dir/web
mkdir -p "$web/names" "$catalog/dir" "$catalog/good" "$dir/src"
python3 - "$web/names" "$catalog/dir" "$dir/src" "$dir/pwned" <<'END'
import gzip, hashlib, io, json, os, sys, tarfile
web, folder, src, pwned = sys.argv[1:]
NAMES = ["../" * 12 + pwned[1:], pwned, "..", ".", "a/b", "a\\b", ".hidden", "-rf", "a b", "a\x1b]0;x\x07b", "a\nb", "a\u009bb",
         "a\u202eb", "\u00e9", "a\x7f", "x" * 121, ""]
VERSIONS = ["1.0.0+/../../x", "1.0.0/../x", "1.0.0\x1b[2J", "..", "1.0.0\x00/../x", "1.0.0\n", "9" * 200]

def archive(name, version):
    raw, text = io.BytesIO(), f"apiVersion: v2\nname: {json.dumps(name)}\nversion: {json.dumps(version)}\n".encode()
    with tarfile.open(fileobj=raw, mode="w") as t:
        info = tarfile.TarInfo("c/Chart.yaml")
        info.size = len(text)
        t.addfile(info, io.BytesIO(text))
    return gzip.compress(raw.getvalue(), mtime=0)

index = "apiVersion: v1\nentries:\n"
entries = [(n, "1.0.0") for n in NAMES] + [("v", v) for v in VERSIONS]
for i, (name, version) in enumerate(entries):
    data = archive(name, version)
    for where in (f"{web}/{i:02}.tgz", f"{folder}/c{i:02}.tgz"):
        with open(where, "wb") as f:
            f.write(data)
    os.makedirs(f"{src}/{i:02}/templates")
    with open(f"{src}/{i:02}/Chart.yaml", "w") as f:
        f.write(f"apiVersion: v2\nname: {json.dumps(name)}\nversion: {json.dumps(version)}\n")
by_name = {}
for i, (name, version) in enumerate(entries):
    by_name.setdefault(name, []).append((i, version))
for name, list_ in by_name.items():
    index += f"  {json.dumps(name)}:\n"
    for i, version in list_:
        digest = hashlib.sha256(archive(name, version)).hexdigest()
        index += f"  - {{name: {json.dumps(name)}, version: {json.dumps(version)}, digest: {digest}, urls: [\"{i:02}.tgz\"]}}\n"
with open(f"{web}/index.yaml", "w") as f:
    f.write(index)
one = "".join(index.splitlines(True)[:4])  # what leads out, and nothing that is refused anyhow
with open(f"{web}/one.yaml", "w") as f:
    f.write(one)
good = archive("A_b.c-D", "1.0.0-rc.1+b.2")
with open(f"{folder}/../good/file.tgz", "wb") as f:
    f.write(good)
with open(f"{folder}/a\x1b[31mb-1.0.0.tgz", "wb") as f:
    f.write(b"no archive")
print(len(entries))
END
tests/e2e/catalog_server.py "$web" "$web/log" >"$web/port" 2>/dev/null &
web_pid=$!
trap 'kill $web_pid 2>/dev/null; up_stop; rm -rf "$dir"' EXIT
url=https://127.0.0.1:$(written "$web/port")/bad/names
ca=(--ca-file "$web/ca.crt")
n=$(find "$dir/src" -maxdepth 1 -mindepth 1 | wc -l)

# --- commands ---
mkdir "$dir/pulled"
code "pull stops at what it would have to write elsewhere" 1 "Chart.yaml: name: " alm catalog pull "$url" "$dir/pulled" "${ca[@]}"
code "also if nothing else is wrong" 1 "Chart.yaml: name: " alm catalog pull "$url/one.yaml" "$dir/pulled" "${ca[@]}"
code "into a file too" 1 "Chart.yaml: name: " alm catalog pull "$url" "$dir/pulled/all.tgz" "${ca[@]}"
none "nothing was written" find "$dir/pulled" -mindepth 1
alm catalog list "$url" "${ca[@]}" >"$dir/list" 2>"$dir/left"
none "list takes none of them" cat "$dir/list"
has "and says how many" "$n entries are left out" "$(cat "$dir/left")"
alm catalog lint "$url" "${ca[@]}" >"$dir/lint" 2>&1
alm catalog lint "$catalog/dir" >>"$dir/lint" 2>&1
LC_ALL=C none "lint shows them without a byte that a terminal obeys" seek -an '[^ -~]' "$dir/lint"
mkdir "$dir/built"
: >"$dir/taken"
for i in "$dir/src"/*; do
	alm package build "$i" -o "$dir/built" >>"$dir/build" 2>&1 && echo "$i" >>"$dir/taken"
done
none "alm package build makes none of them" cat "$dir/taken"
none "and writes nothing" find "$dir/built" -mindepth 1
code "a name of the widest rule" 0 "A_b.c-D" alm catalog list "$catalog/good"
alm catalog pull "$catalog/good" "$dir/pulled" >/dev/null 2>&1
is "is a file name" "A_b.c-D-1.0.0-rc.1+b.2.tgz
index.yaml" "$(ls "$dir/pulled")"
none "nothing came to be anywhere else" find "$dir" /tmp -maxdepth 1 -newer "$web/port" \( -name "*pwned*" -o -name "*-1.0.0.tgz" \)

# alm template and the real helm make the same of them: Helm drops control characters and refuses what is a path.
helm=${HELM:-$(command -v helm || echo "$HOME_BEFORE/.cache/alm-oracles/bin/helm")}
if [ -x "$helm" ]; then
	: >"$dir/differ"
	for i in "$dir/src"/*; do
		cmp -s <(alm template r "$i" 2>&1) <("$helm" template r "$i" 2>&1) || echo "$i" >>"$dir/differ"
	done
	none "alm template takes and refuses them as helm does" cat "$dir/differ"
else
	echo "ok $((tests += 1)) - alm template takes and refuses them as helm does # SKIP no helm (set HELM)"
fi

# --- controllers ---
up_start --allow-source 127.0.0.1
k create namespace alm-system >/dev/null 2>&1
k create secret generic web -n alm-system --type=app.coreos.com/catalog-credentials --from-file=ca.crt="$web/ca.crt" \
	--from-literal=origins="${url%/bad*}" >/dev/null
alm catalog add names "$url" --secret web >/dev/null
alm catalog add dir "dir://$catalog/dir" >/dev/null
status() { k get catalog "$1" -o 'jsonpath={.status.conditions[?(@.type=="Synced")].reason} {.status.versions} {.status.conditions[?(@.type=="EntriesRejected")].message}'; }
soon "an index of them has no version" "Synced 0 $n entries, see status.rejected" status names
soon "nor has a folder" "Synced 0 $((n + 1)) entries, see status.rejected" status dir
k get catalogs -o 'jsonpath={.items[*].status.rejected}' >"$dir/rejected"
LC_ALL=C none "the status has no byte that a terminal obeys" seek -an '[^ -~]' "$dir/rejected"
has "a file is named, escaped" 'a\\x1b[31mb-1.0.0.tgz: ' "$(cat "$dir/rejected")"
has "an entry is" 'a\\x1b]0;x\\x07b 1.0.0: Chart.yaml: name: byte 0x1b at 1, want letters' "$(cat "$dir/rejected")"
finish
