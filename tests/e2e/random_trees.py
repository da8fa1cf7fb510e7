"""random_trees.py ALM DIR N [SEED]: N random trees in a repository of git: `alm bundle build` of each is what `git archive` has of it.

The manifests are JSON, which is YAML, so that nothing but json is believed here. Names with blanks, quotes and letters beyond ASCII, dot
names, other files, deep folders, executables, several documents in a file, empty documents, Lists. Prints "N trees, M objects, D
differ"; what differs is told on stderr.
"""
import io
import json
import os
import random
import subprocess
import sys
import tarfile

alm, folder, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
rng = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 7)
repo = os.path.join(folder, "trees.git")
NAMES = ["a", "b c", "über", "x'y", "日本", "d.e", "Z", "-dash", "q&r", ".hidden", "k" * 40, "10", "[1]"]
ENDS = [".yaml", ".yml", ".json", ".yaml", ".txt", ".YAML", "", ".yaml.bak"]
counter = 0


def one():
    global counter
    counter += 1
    text = "".join(rng.choice("abc \"\\\n\tü#:-{}[]%@") for _ in range(rng.randrange(30)))
    return {"apiVersion": "v1", "kind": rng.choice(["ConfigMap", "Secret", "Service", "Namespace", "Thing"]),
            "metadata": {"name": f"n{counter}"}, "data": {"v": text, "n": str(rng.randrange(1 << 40))}}


def content(path):
    if path.endswith(".json"):
        return json.dumps(one(), ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, 2]))
    kind = rng.random()
    if kind < 0.1:
        return rng.choice(["", "\n", "# nothing\n", "---\n"])
    if kind < 0.2:
        return json.dumps({"apiVersion": "v1", "kind": "List", "items": [one() for _ in range(rng.randrange(1, 4))]})
    if kind < 0.5:
        return "---\n".join(rng.choice(["", "# c\n"]) + json.dumps(one()) + "\n" for _ in range(rng.randrange(1, 4)))
    return json.dumps(one(), indent=rng.choice([None, 1]))


def tree():
    files = {}
    for _ in range(rng.randrange(1, 12)):
        path = "/".join(rng.choice(NAMES) for _ in range(rng.randrange(0, 5)))
        path = (path + "/" if path else "") + rng.choice(NAMES) + rng.choice(ENDS)
        if not any(p == path or p.startswith(path + "/") or path.startswith(p + "/") for p in files):
            files[path] = (rng.choice(["100644", "100644", "100755"]), content(path).encode())
    return files


def wanted(archive):
    """Key -> object, out of the bytes of the archive alone."""
    objects = {}
    for member in tarfile.open(fileobj=io.BytesIO(archive)):
        path = member.name
        if not member.isfile() or any(p.startswith(".") for p in path.split("/")) or not path.endswith((".yaml", ".yml", ".json")):
            continue
        text = tarfile.open(fileobj=io.BytesIO(archive)).extractfile(member).read().decode()
        docs = [json.loads(d) for d in ("\n" + text).replace("\n# c\n", "\n").replace("\n# nothing\n", "\n").split("\n---\n" if "\n---\n" in "\n" + text else "\0") if d.strip()]
        for i, doc in enumerate(docs):
            key = path if len(docs) == 1 else f"{path}!{i}"
            if doc["kind"] == "List":
                for k, item in enumerate(doc["items"]):
                    objects[f"{path}!{i}.{k}"] = item
            else:
                objects[key] = doc
    return objects


def main():
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", repo], check=True)
    stream = io.BytesIO()
    for i in range(n):
        stream.write(f"commit refs/heads/t{i}\ncommitter a <a@b> {1700000000 + i} +0000\ndata 1\nx\n".encode())
        for path, (mode, data) in tree().items():
            quoted = '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
            stream.write(f"M {mode} inline {quoted}\ndata {len(data)}\n".encode() + data + b"\n")
    subprocess.run(["git", "-C", repo, "fast-import", "--quiet"], input=stream.getvalue(), check=True)
    total = differ = 0
    for i in range(n):
        archive = subprocess.run(["git", "-C", repo, "archive", f"t{i}"], capture_output=True, check=True).stdout
        built = subprocess.run([alm, "bundle", "build", "-f", repo, "--rev", f"t{i}", "-o", "json"], capture_output=True)
        want = wanted(archive)
        total += len(want)
        got = json.loads(built.stdout)["objects"] if built.stdout.startswith(b"{") else None
        if got != want:
            differ += 1
            print(f"t{i}: {built.stderr.decode()[:300]}\n want {sorted(want)}\n got  {sorted(got or [])}", file=sys.stderr)
    print(f"{n} trees, {total} objects, {differ} differ")


main()
