#!/usr/bin/env python3
"""build.py PROGRAM VERSION OUT: an OCI image archive of alm, byte for byte the same from the same program and libraries.

What is in it: the program without debugging information, the shared libraries that it loads (as ldd and ldconfig of this
machine find them, libcurl with its own), the CA certificates, user 65532 without a shell, and no other program. No daemon
takes part. Needs python3, strip (binutils), ldd and ldconfig; the architecture is this machine's.
SOURCE_DATE_EPOCH is the time of all files (default 0)."""
import gzip
import hashlib
import io
import json
import os
import platform
import subprocess
import sys
import tarfile
import tempfile

USER = 65532
LOADED_LATER = ["libcurl.so.4"]  # alm/io/curl_lib.c
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm", "ppc64le": "ppc64le", "riscv64": "riscv64", "s390x": "s390x"}
CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"


def run(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, "LC_ALL": "C"}).stdout


def libraries(path):
    """Paths as the dynamic linker looks for them."""
    for line in run("ldd", path).splitlines():
        words = line.split()
        if "not found" in line:
            sys.exit(f"build.py: {path}: {line.strip()}")
        for word in words:
            if word.startswith("/"):
                yield word


def find_loaded(name):
    for line in run(next(p for p in ("/sbin/ldconfig", "/usr/sbin/ldconfig") if os.path.exists(p)), "-p").splitlines():
        if line.split()[:1] == [name] and (",x86-64)" in line) == (platform.machine() == "x86_64"):
            return line.split()[-1]
    sys.exit(f"build.py: {name} is not installed: alm needs it for catalogs and clusters")


def files_of(program):
    later = [find_loaded(name) for name in LOADED_LATER]
    found = {p for root in [program, *later] for p in libraries(root)}
    files = {}
    for path in sorted(found | set(later)):
        with open(path, "rb") as f:
            files[path.lstrip("/")] = (f.read(), 0o755)
    with tempfile.TemporaryDirectory() as work:
        stripped = os.path.join(work, "alm")
        run("strip", "-o", stripped, program)
        with open(stripped, "rb") as f:
            files["usr/bin/alm"] = (f.read(), 0o755)
    with open("/" + CERTIFICATES, "rb") as f:
        files[CERTIFICATES] = (f.read(), 0o644)
    files["etc/passwd"] = (f"alm:x:{USER}:{USER}::/var/lib/alm:\n".encode(), 0o644)
    files["etc/group"] = (f"alm:x:{USER}:\n".encode(), 0o644)
    return files


def entry(name, time, mode, size=None, owner=0):
    info = tarfile.TarInfo(name)
    info.mtime, info.mode, info.uid, info.gid = time, mode, owner, owner
    info.type = tarfile.DIRTYPE if size is None else tarfile.REGTYPE
    info.size = size or 0
    return info


def archive(files, time, folders=()):
    """folders: {name: owner}, besides the parents of the files."""
    out = io.BytesIO()
    folders = dict(folders)
    for name in [*files, *folders]:
        while name := os.path.dirname(name):
            folders.setdefault(name, 0)
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted([*files, *folders]):
            if name in files:
                data, mode = files[name]
                tar.addfile(entry(name, time, mode, len(data)), io.BytesIO(data))
            else:
                tar.addfile(entry(name, time, 0o755, owner=folders[name]))
    return out.getvalue()


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    program, version, out = sys.argv[1:]
    time = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    created = run("date", "-u", f"-d@{time}", "+%Y-%m-%dT%H:%M:%SZ").strip()
    blobs = {}

    def blob(data, kind):
        digest = hashlib.sha256(data).hexdigest()
        blobs[f"blobs/sha256/{digest}"] = (data, 0o644)
        return {"mediaType": kind, "digest": f"sha256:{digest}", "size": len(data)}

    def document(o, kind):
        return blob(json.dumps(o, sort_keys=True, separators=(",", ":")).encode(), kind)

    layer = archive(files_of(program), time, {"var/lib/alm": USER, "var/lib/alm/catalog": USER, "var/lib/alm-controller": USER})
    labels = {"org.opencontainers.image.title": "alm", "org.opencontainers.image.version": version,
              "org.opencontainers.image.licenses": "Apache-2.0"}
    config = document({
        "architecture": ARCHITECTURES[platform.machine()], "os": "linux", "created": created,
        "config": {"User": f"{USER}:{USER}", "Entrypoint": ["/usr/bin/alm"], "Cmd": ["help"], "WorkingDir": "/",
                   "Env": ["PATH=/usr/bin", "HOME=/var/lib/alm"], "Labels": labels},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]},
        "history": [{"created": created, "created_by": "deploy/image/build.py"}],
    }, "application/vnd.oci.image.config.v1+json")
    manifest = document({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config,
        "layers": [blob(gzip.compress(layer, 6, mtime=0), "application/vnd.oci.image.layer.v1.tar+gzip")],
        "annotations": labels,
    }, "application/vnd.oci.image.manifest.v1+json")
    manifest["platform"] = {"architecture": ARCHITECTURES[platform.machine()], "os": "linux"}
    manifest["annotations"] = {"org.opencontainers.image.ref.name": version}
    index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [manifest]}
    blobs["index.json"] = (json.dumps(index, sort_keys=True).encode(), 0o644)
    blobs["oci-layout"] = (b'{"imageLayoutVersion":"1.0.0"}', 0o644)
    with open(out + ".new", "wb") as f:
        f.write(archive(blobs, time))
    os.replace(out + ".new", out)
    print(f"{out}  {manifest['digest']}")


main()
