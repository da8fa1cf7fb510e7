#!/usr/bin/env python3
"""build.py PROGRAM VERSION OUT: an OCI image archive of alm, byte for byte the same from the same program and libraries.
build.py --index OUT IMAGE...: such archives, each made on a machine of its architecture, as one that holds them all: the same
bytes, whatever the order of the files.

What is in it: the program without debugging information, the shared libraries that it loads (as ldd and ldconfig of this
machine find them, libcurl with its own), the CA certificates, user 65532 without a shell, and no other program. No daemon
takes part. Needs python3, --index nothing else; the rest strip (binutils), ldd and ldconfig: the architecture is this machine's.
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


class Image:
    """What the archive OUT will hold: blobs by what they are, and one descriptor that leads to all of them."""
    MANIFEST, INDEX = (f"application/vnd.oci.image.{kind}.v1+json" for kind in ("manifest", "index"))

    def __init__(self):
        self.files = {"oci-layout": (b'{"imageLayoutVersion":"1.0.0"}', 0o644)}

    def blob(self, data, kind):
        digest = hashlib.sha256(data).hexdigest()
        self.files[f"blobs/sha256/{digest}"] = (data, 0o644)
        return {"mediaType": kind, "digest": f"sha256:{digest}", "size": len(data)}

    def document(self, o, kind):
        return self.blob(json.dumps(o, sort_keys=True, separators=(",", ":")).encode(), kind)

    def write(self, out, time, top, version):
        """A program that takes one image of an archive takes the only one that index.json names."""
        top = {**top, "annotations": {"org.opencontainers.image.ref.name": version}}
        index = {"schemaVersion": 2, "mediaType": self.INDEX, "manifests": [top]}
        self.files["index.json"] = (json.dumps(index, sort_keys=True).encode(), 0o644)
        with open(out + ".new", "wb") as f:
            f.write(archive(self.files, time))
        os.replace(out + ".new", out)
        print(f"{out}  {top['digest']}")


def build(program, version, out, time):
    with open(program, "rb") as own, open(sys.executable, "rb") as machines:
        if own.read(20)[18:] != machines.read(20)[18:]:  # e_machine of ELF
            sys.exit(f"build.py: {program} is of another architecture than this machine: make its image on one of that, then: --index")
    created = run("date", "-u", f"-d@{time}", "+%Y-%m-%dT%H:%M:%SZ").strip()
    image = Image()
    layer = archive(files_of(program), time, {"var/lib/alm": USER, "var/lib/alm/catalog": USER, "var/lib/alm-controller": USER})
    labels = {"org.opencontainers.image.title": "alm", "org.opencontainers.image.version": version,
              "org.opencontainers.image.licenses": "Apache-2.0"}
    platform_of = {"architecture": ARCHITECTURES[platform.machine()], "os": "linux"}
    config = image.document({
        **platform_of, "created": created,
        "config": {"User": f"{USER}:{USER}", "Entrypoint": ["/usr/bin/alm"], "Cmd": ["help"], "WorkingDir": "/",
                   "Env": ["PATH=/usr/bin", "HOME=/var/lib/alm"], "Labels": labels},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]},
        "history": [{"created": created, "created_by": "deploy/image/build.py"}],
    }, "application/vnd.oci.image.config.v1+json")
    manifest = image.document({
        "schemaVersion": 2, "mediaType": Image.MANIFEST, "config": config,
        "layers": [image.blob(gzip.compress(layer, 6, mtime=0), "application/vnd.oci.image.layer.v1.tar+gzip")],
        "annotations": labels,
    }, Image.MANIFEST)
    image.write(out, time, {**manifest, "platform": platform_of}, version)


def read_image(path):
    """The blobs of an archive that build() made, the descriptor of its manifest, and its version."""
    try:
        with tarfile.open(path) as tar:
            files = {m.name: tar.extractfile(m).read() for m in tar if m.isfile()}
        tops = json.loads(files["index.json"])["manifests"]
        if len(tops) != 1 or tops[0]["mediaType"] != Image.MANIFEST:
            sys.exit(f"build.py: {path}: not the image of one architecture")
        pending, blobs = [(tops[0]["digest"], True)], {}
        while pending:
            digest, is_manifest = pending.pop()
            data = blobs[digest] = files["blobs/" + digest.replace(":", "/")]
            if digest != "sha256:" + hashlib.sha256(data).hexdigest():
                sys.exit(f"build.py: {path}: blob {digest} holds something else: the file is damaged, make or copy it anew")
            if is_manifest:
                manifest = json.loads(data)
                pending += [(d["digest"], False) for d in [manifest["config"], *manifest["layers"]]]
        config = json.loads(blobs[manifest["config"]["digest"]])
        kept = {k: config[k] for k in ("architecture", "os", "variant") if k in config}
        top = {k: tops[0][k] for k in ("mediaType", "digest", "size")}
        return blobs, {**top, "platform": kept}, config["config"]["Labels"]["org.opencontainers.image.version"]
    except (OSError, tarfile.TarError, KeyError, TypeError, ValueError) as e:
        sys.exit(f"build.py: {path}: not an image that build.py made: {e!r}")


def join(out, paths, time):
    image, manifests, versions = Image(), {}, {}
    for path in paths:
        blobs, top, versions[path] = read_image(path)
        name = "/".join(top["platform"].values())
        if name in manifests:
            sys.exit(f"build.py: {path}: another image for {name}: one of each architecture")
        manifests[name] = top
        for data in blobs.values():
            image.blob(data, "")
    if len(set(versions.values())) > 1:
        sys.exit("build.py: images of several versions: " + ", ".join(f"{path} is {version}" for path, version in versions.items()))
    version = versions[paths[0]]
    index = image.document({"schemaVersion": 2, "mediaType": Image.INDEX, "manifests": [manifests[name] for name in sorted(manifests)],
                            "annotations": {"org.opencontainers.image.title": "alm", "org.opencontainers.image.version": version}},
                           Image.INDEX)
    image.write(out, time, index, version)


def main():
    time = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    words = sys.argv[1:]
    if words[:1] == ["--index"] and len(words) > 2:
        join(words[1], words[2:], time)
    elif len(words) == 3 and not words[0].startswith("-"):
        build(*words, time)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
