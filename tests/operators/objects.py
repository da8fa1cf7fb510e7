"""What a chart consists of by `helm template`, and what of it is in the cluster."""

import os
import re
import shutil
import subprocess

from kube import Refused


def oracle():
    home = os.environ.get("ALM_ORACLES") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "alm-oracles")
    for name in (f"{home}/bin/helm", shutil.which("helm")):
        if name and os.access(name, os.X_OK):
            return name
    return None


HELM = oracle()


def render(program, chart, name, values, kube_version):
    """The text of `helm template` or `alm template`; None if it fails."""
    args = [*program, "template", name, chart, "-n", name, "--include-crds", "--kube-version", kube_version]
    if values:
        args += ["-f", values]
    r = subprocess.run(args, capture_output=True, text=True, timeout=300, check=False)
    return r.stdout if r.returncode == 0 else None


def documents(text):
    """(apiVersion, kind, namespace, name, whether a hook) of each document of a stream; every object once."""
    found = []
    for doc in re.split(r"^---.*$", text or "", flags=re.M):
        api, kind = re.search(r"^apiVersion:\s*(\S+)", doc, re.M), re.search(r"^kind:\s*(\S+)", doc, re.M)
        meta = re.search(r"^metadata:.*\n((?:(?:[ \t].*)?\n|#.*\n)*)", doc + "\n", re.M)
        if not api or not kind or not meta:
            continue
        indent = re.search(r"^( +)\S", meta[1], re.M)
        pad = indent[1] if indent else "  "
        name = re.search(rf"^{pad}name:\s*(\S+)", meta[1], re.M)
        space = re.search(rf"^{pad}namespace:\s*(\S+)", meta[1], re.M)
        row = (api[1].strip("\"'"), kind[1].strip("\"'"), space[1].strip("\"'") if space else "",
               name[1].strip("\"'") if name else "", "helm.sh/hook" in meta[1])
        if row not in found:
            found.append(row)
    return found


def live(kube, row, namespace):
    """The object of that row in the cluster, or None."""
    api, kind, space, name, _ = row
    path = kube.path(api, kind, space or namespace, name)
    try:
        return kube.get(path) if path else None
    except Refused:
        return None


def missing(kube, rows, namespace):
    """Rows (hooks apart) that are not there."""
    return [f"{r[1]}/{r[3]}" for r in rows if not r[4] and not live(kube, r, namespace)]


def differs(server, text, namespace):
    """Objects whose fields differ from what a server-side apply of helm's text would make of them: `kubectl diff`."""
    with_space, without = [], []
    for doc in re.split(r"^---.*$", text, flags=re.M):
        rows = documents(doc)
        if rows and not rows[0][4]:
            (with_space if rows[0][2] else without).append(doc)
    names = set()
    for docs, args in ((with_space, []), (without, ["-n", namespace])):
        code, out = server.run("kubectl", "diff", "--server-side", "--force-conflicts", *args, "-f", "-",
                               text="".join("---" + d for d in docs), timeout=600) if docs else (0, "")
        names |= {m.rsplit("/", 1)[-1] for m in re.findall(r"^\+\+\+ (\S+)", out, re.M)}
        if code > 1:
            names.add("kubectl diff: " + out.strip().splitlines()[-1][:200])
    return sorted(names)
