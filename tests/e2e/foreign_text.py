#!/usr/bin/env python3
# foreign_text.py ALM DATA CATALOG: hostile text in objects, catalogs, charts and answers of a server; every command that
# prints them. No byte that a terminal obeys may come out, and no line may begin with what was foreign. Prints one line
# a check, "ok NAME" or "not ok NAME: WHY".
import http.server, json, os, pty, re, select, subprocess, sys, tarfile, threading, time, io, gzip

ALM, DATA, CATALOG = sys.argv[1:4]
E = "\x1b[31mESC\x1b]0;pwn\x07\x1b[2J\u009b31m\u202eRTL\u2066\u200b\x7f\r\nFORGED #1 row\u2028FORGED"
# In file names of an archive, which may hold no control characters
N = "\u202eRTL\u200b"
BAD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def check(name, out, lines=True):
    text = out.decode("utf-8", "surrogateescape")
    bad = BAD.search(text) or re.search("[\udc80-\udcff]", text)
    if bad:
        print(f"not ok {name}: raw {bad.group(0)!r} in {text[max(0, bad.start() - 60):bad.end() + 30]!r}")
    elif lines and re.search("(?m)^ *FORGED", text):
        print(f"not ok {name}: a forged line in {text[:300]!r}")
    else:
        print(f"ok {name}")


def run(*words, stdin=None):
    env = dict(os.environ)
    return subprocess.run([ALM, *words], input=stdin, stdin=None if stdin else subprocess.DEVNULL,
                          capture_output=True, timeout=60, env=env)


def says(name, *words, want=b"", lines=True):
    r = run(*words)
    out = r.stdout + r.stderr
    if os.environ.get("SHOW"):
        print("# " + out.decode(errors="replace").replace("\n", "\n# "))
    if want and want not in out:
        print(f"not ok {name}: wanted {want!r}, got {out[:300]!r}")
    else:
        check(name, out, lines)


def create(o):
    r = run("create", "-f", "-", stdin=json.dumps(o).encode())
    check(f"create {o['kind']}", r.stdout + r.stderr)


def obj(api, kind, name, **more):
    meta = {"name": name, "annotations": {"note": "A" + E}}
    meta.update(more.pop("meta", {}))
    return {"apiVersion": api, "kind": kind, "metadata": meta, **more}


def on_terminal(*words):
    """What a terminal gets."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(ALM, [ALM, *words])
    out, end = b"", time.monotonic() + 60
    while time.monotonic() < end:
        if not select.select([fd], [], [], 1)[0]:
            continue
        try:
            piece = os.read(fd, 65536)
        except OSError:
            break
        if not piece:
            break
        out += piece
    os.waitpid(pid, 0)
    return out.replace(b"\r\n", b"\n").replace(b"\r\x1b[K", b"")


def tgz(path, files):
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as t:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            t.addfile(info, io.BytesIO(text))
    with open(path, "wb") as f:
        f.write(gzip.compress(raw.getvalue()))


def yaml_text(s):
    return json.dumps(s)


# --- objects on the server ---
create(obj("v1", "ConfigMap", "hostile", data={"text": "D" + E}))
create(obj("app.coreos.com/v1beta1", "AppType", "term",
           spec={"type": "com.term.x", "displayName": "D" + E, "package": "P" + E, "catalog": "C" + E,
                 "channel": "ch" + E}))
create(obj("app.coreos.com/v1alpha1", "Catalog", "gone", spec={"source": {"url": "dir:///x" + E}}))
create(obj("apiextensions.k8s.io/v1", "CustomResourceDefinition", "terms.term.io",
           spec={"group": "term.io", "scope": "Namespaced", "names": {"plural": "terms", "kind": "Term"},
                 "versions": [{"name": "v1", "served": True, "storage": True,
                               "additionalPrinterColumns": [{"name": "F" + E, "type": "string", "jsonPath": ".spec.f"}],
                               "schema": {"openAPIV3Schema": {"type": "object", "description": "S" + E, "properties": {
                                   "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}}}]}))
run("wait", "crd/terms.term.io", "--for=condition=Established", "--timeout", "60s")
create(obj("term.io/v1", "Term", "t1", spec={"f": "V" + E}))
uid = json.loads(run("get", "apps", "term", "-o", "json").stdout)["metadata"]["uid"]
create(obj("v1", "Event", "ev.1", meta={"namespace": "default"}, reason="R" + E, message="M" + E, type="T" + E,
           involvedObject={"kind": "AppType", "name": "term", "uid": uid}, source={"component": "c" + E}))
# a person's reason, and an approved plan with it
run("wait", "apptype", "etcd", "status.availableVersion = '0.9.4'", "--timeout", "60s")
for _ in range(120):
    r = run("approve", "etcd", "0.9.4", "--reason", "CHG" + E)
    if r.returncode == 0:
        break
    time.sleep(0.5)
check("approve", r.stdout + r.stderr)
run("wait", "apptype", "etcd", "status.installedVersion = '0.9.4'", "--timeout", "60s")

A = ["--data-dir", DATA]
# These are known to print what is hostile: a check of nothing proves nothing
SHOWN = """get events
get terms
get terms -o yaml
get terms -o json
get apps -o yaml
get apps -o json
get events -o yaml
get terms -o custom-columns=F:.spec.f,A:.metadata.annotations.note
describe apptype term
describe term t1
describe configmap hostile
status
why term
audit query
audit query -o wide
audit query -o json
audit query -o yaml
audit timeline --subject AppType/term
audit why apptype/etcd
audit diff --from-at-seq 1 --all
get nosuch
x""".splitlines()
for words in (["get", "apps"], ["get", "apps", "-o", "wide"], ["get", "events"], ["get", "terms"], ["get", "ist"],
              ["get", "terms", "-o", "yaml"], ["get", "terms", "-o", "json"], ["get", "apps", "-o", "yaml"],
              ["get", "apps", "-o", "json"], ["get", "events", "-o", "yaml"], ["get", "catalogs", "-o", "wide"],
              ["get", "terms", "-o", "custom-columns=F:.spec.f,A:.metadata.annotations.note"],
              ["get", "ist", "-o", "name"], ["describe", "apptype", "term"], ["describe", "term", "t1"],
              ["describe", "catalog", "gone"], ["describe", "ist"], ["describe", "configmap", "hostile"],
              ["status"], ["status", "-o", "json"], ["why", "term"], ["why", "term", "-o", "json"],
              ["why-not", "term", "1.0.0"], ["why", "etcd", "-o", "wide"], ["diff", "etcd"], ["diff", "term"],
              ["audit", "query"], ["audit", "query", "-o", "wide"], ["audit", "query", "-o", "json"],
              ["audit", "query", "-o", "yaml"], ["audit", "timeline", "--subject", "AppType/term"],
              ["audit", "why", "apptype/etcd"], ["audit", "why", "--forward", "1"],
              ["audit", "why-not", "apptype/term", "1"], ["audit", "state"], ["audit", "state", "--all"],
              ["audit", "diff", "--from-at-seq", "1", "--all"], ["audit", "verify"],
              ["upgrade", "term", "--to", "9" + E], ["get", "nosuch" + E], ["get", "apps", "x" + E],
              ["wait", "apptype", "term", "x" + E, "--timeout", "1s"],
              ["wait", "apptype", "term", "spec.channel = 'y'", "--timeout", "1s"],
              ["crd", "check", "live:terms.term.io", "/none" + E], ["--" + E], ["get", "-" + E], ["x" + E]):
    name = " ".join(words).split("\x1b")[0]
    says(name, *words, *(A if words[0] == "audit" else []), want=b"[31mESC" if name in SHOWN else b"")
# Scripts get the bytes, a terminal does not
jsonpath = ["get", "configmap", "hostile", "-o", "jsonpath={.data.text}"]
print("ok" if run(*jsonpath).stdout == ("D" + E).encode() else "not ok", "jsonpath to a pipe is the bytes")
check("jsonpath to a terminal", on_terminal(*jsonpath), lines=False)
check("the audit export to a terminal", on_terminal("audit", "export", *A))

# --- catalogs and charts ---
evil = os.path.join(CATALOG, "evil")
os.makedirs(evil, exist_ok=True)
chart = {"term/Chart.yaml": f"apiVersion: v2\nname: term\nversion: 1.0.0\ndescription: {yaml_text('C' + E)}\n"
                            f"icon: {yaml_text('https://x/' + E)}\ndeprecated: true\n".encode(),
         "term/alm.yaml": (f"appType: com.term.x\nchannels: [{yaml_text('stable' + E)}]\nskips: [{yaml_text('s' + E)}]\n"
                           f"images: [{yaml_text('img' + E)}]\n"
                           f"requires:\n- {{resource: {yaml_text('r' + E)}, versions: {yaml_text('v' + E)}}}\n").encode(),
         "term/values.yaml": f"a: {yaml_text('V' + E)}\n".encode(),
         f"term/templates/cm{N}.yaml": f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x}}\ndata:\n  a: {yaml_text('T' + E)}\n"
                                       "  b: {{ .Values.a | quote }}\n".encode(),
         "term/templates/NOTES.txt": ("N" + E).encode()}
tgz(f"{evil}/term-1.0.0.tgz", chart)
plain = dict(chart, **{"term/Chart.yaml": b"apiVersion: v2\nname: term\nversion: 1.1.0\n"})
del plain["term/alm.yaml"]
plain["term/templates/raw.yaml"] = ("# R\u202e\u200b {{ .Values.a }}\na: 1\n").encode()
plain["term/values.yaml"] = b'a: "ESC\\u2066"\n'
tgz(f"{evil}/term-1.1.0.tgz", plain)
tgz(f"{evil}/fail-1.0.0.tgz", dict(plain, **{
    "term/Chart.yaml": b"apiVersion: v2\nname: fail\nversion: 1.0.0\n",
    "term/templates/fail.yaml": f"{{{{ fail {json.dumps('F' + E)} }}}}".encode()}))
for words in (["catalog", "list", evil], ["catalog", "show", evil, "term"], ["catalog", "show", evil, "x" + E],
              ["catalog", "lint", evil], ["catalog", "verify", evil], ["catalog", "list", "/none" + E],
              ["crd", "diff", f"{evil}/term-1.0.0.tgz", f"{evil}/term-1.1.0.tgz"]):
    says(" ".join(words[:2]) + " " + os.path.basename(words[-1]).split("\x1b")[0], *words)
for words in (["template", "x", f"{evil}/fail-1.0.0.tgz"], ["lint", f"{evil}/fail-1.0.0.tgz"], ["lint", f"{evil}/term-1.0.0.tgz"],
              ["template", "x", "/none" + E], ["template", "x" + E, f"{evil}/term-1.1.0.tgz", "-s", "none" + E],
              ["lint", "/none" + E], ["package", "build", "/none" + E], ["package", "x" + E]):
    r = run(*words)
    check("stderr of " + " ".join(words).split("\x1b")[0].replace(CATALOG, ""), r.stderr, lines=False)
    if words[0] == "lint":
        check("stdout of " + " ".join(words).split("\x1b")[0].replace(CATALOG, ""), r.stdout, lines=False)
rendered = ["template", "x", f"{evil}/term-1.1.0.tgz"]
raw = run(*rendered).stdout
print("ok" if b"\xe2\x80\xae" in raw and b"\xe2\x81\xa6" in raw else "not ok", "what is rendered is the bytes in a pipe")
check("what is rendered is shown on a terminal", on_terminal(*rendered), lines=False)


# --- a server that lies ---
class Liar(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path.startswith("/version"):
            code, body = 200, {"gitVersion": "v1.0" + E}
        elif self.path.startswith("/api/v1/") and "Table" in self.headers.get("Accept", ""):
            code, body = 200, {"kind": "Table", "columnDefinitions": [{"name": "N" + E, "type": "string"}],
                               "rows": [{"cells": ["c" + E], "object": {"metadata": {"name": "n" + E}}}]}
        elif self.path == "/api":
            code, body = 200, {"kind": "APIVersions", "versions": ["v1"]}
        elif self.path == "/api/v1":
            code, body = 200, {"kind": "APIResourceList", "groupVersion": "v1", "resources": [
                {"name": "pods", "singularName": "pod", "kind": "Pod" + E, "namespaced": True,
                 "shortNames": ["po" + E], "verbs": ["get", "list", "delete"]}]}
        elif self.path == "/apis":
            code, body = 200, {"kind": "APIGroupList", "groups": []}
        else:
            code, body = 403, {"kind": "Status", "status": "Failure", "code": 403, "reason": "Forbidden", "message": "M" + E}
        text = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        # http.client refuses what is no latin-1
        self.send_header("Warning", '299 - "W\x1b[31m\x9b31m\x07"')
        self.end_headers()
        self.wfile.write(text)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Liar)
threading.Thread(target=server.serve_forever, daemon=True).start()
config = os.path.join(CATALOG, "liar")
with open(config, "w") as f:
    f.write("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'http://127.0.0.1:%d'}}]\n"
            "contexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n" % server.server_address[1])
for words in (["version"], ["get"], ["get", "pods"], ["get", "pods", "-A"], ["describe", "pods", "x"], ["delete", "pods", "x"], ["status"],
              ["why", "x"], ["audit", "query"]):
    says("a server that lies: " + " ".join(words), *words, "--kubeconfig", config)
# A kubeconfig and a manifest that lie
os.environ["KUBECONFIG"] = config
for name, text in (("liar.yaml", f"apiVersion: v1\nkind: {yaml_text('K' + E)}\nmetadata: {{name: x}}\n"),
                   ("liar2.yaml", f"a: 1\n{yaml_text('b' + E)}: [\n")):
    path = os.path.join(CATALOG, name)
    with open(path, "w") as f:
        f.write(text)
    says("a manifest that lies: " + name, "create", "-f", path)
    says("a kubeconfig that lies: " + name, "get", "pods", "--kubeconfig", path)
