#!/usr/bin/env python3
"""run.py CHARTS [--samples DIR] [--out FILE] ...: one public operator through all its versions. See README.md."""

import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

import objects
import samples
from admin import APPS, Admin
from kube import Refused
from server import Server

SPACE = "samples"
GONE_S = 300


def semver(v):
    core, _, pre = v.lstrip("v").partition("-")
    return ([int(x) for x in re.findall(r"\d+", core)], not pre, pre)


def charts_of(folder):
    """[(version, archive)], lowest first, and the chart's name."""
    found, name = [], None
    for path in glob.glob(os.path.join(folder, "*.tgz")):
        with tarfile.open(path) as t:
            meta = next(m for m in t.getmembers() if re.fullmatch(r"[^/]+/Chart\.yaml", m.name))
            text = t.extractfile(meta).read().decode()
        name = re.search(r"^name:\s*[\"']?([\w.-]+)", text, re.M)[1]
        found.append((re.search(r"^version:\s*[\"']?([\w.+-]+)", text, re.M)[1], path))
    return sorted(found, key=lambda f: semver(f[0])), name


class Lifecycle:
    def __init__(self, server, folder, options):
        self.server = server
        self.kube = server.kube
        self.charts, self.package = charts_of(folder)
        self.app = re.sub(r"[^a-z0-9-]", "-", self.package.lower())
        self.options = options
        self.values = os.path.join(folder, "values.json")
        if not os.path.exists(self.values):
            self.values = None
        self.admin = Admin(server, self.app, not options.no_waivers)
        self.admin.give_up = self.delete_crs
        self.crs = {}
        self.chart_crds = set()
        version = self.kube.call("GET", "/version")
        self.kube_version = version["gitVersion"].split("+")[0]
        self.result = {"operator": self.package, "server": "kubernetes" if server.cluster else "alm up",
                       "versions": [v for v, _ in self.charts], "steps": []}

    def step(self, name, work):
        """work(step) with its time, requests, CPU and memory; its result is whether to go on."""
        s = {"step": name}
        print(f"{self.package}: {name}", flush=True)
        self.server.forget_peak()
        requests, cpu, start = self.server.requests(), self.server.cpu(), time.monotonic()
        try:
            s["ok"] = work(s) is not False
        except (Refused, OSError, subprocess.SubprocessError) as e:
            s["ok"], s["stop"] = False, f"the harness: {e!r}"[:500]
        end = s.pop("doneAt", time.monotonic())
        s["seconds"] = round(end - start, 1)
        if "approvedAt" in s:
            s["secondsAfterApproval"] = round(end - s.pop("approvedAt"), 1)
        s["requests"] = self.server.requests() - requests
        s["cpu"] = round(self.server.cpu() - cpu, 1)
        s["rssPeak"] = self.server.rss("VmHWM")
        s["rss"] = self.server.rss()
        self.result["steps"].append(s)
        if not s["step"].startswith("samples"):
            self.check_crs(s)
        if s.get("stop"):
            print("  " + s["stop"].replace("\n", "\n  ")[:400], flush=True)
        return s["ok"]

    # Installing

    def put(self, n):
        shutil.copy(self.charts[n][1], self.server.catalog)

    def first(self, s):
        self.put(0)
        self.kube.call("POST", "/apis/app.coreos.com/v1alpha1/catalogs", {
            "apiVersion": "app.coreos.com/v1alpha1", "kind": "Catalog", "metadata": {"name": "ops"},
            "spec": {"source": {"url": "dir://" + self.server.catalog}, "interval": "5s"}})
        spec = {"type": self.admin.type, "package": self.package, "drift": "Report",  # open_webhooks is drift
                "upgrade": {"mode": "Manual", "approveFirst": True}}
        if self.values:
            with open(self.values, encoding="utf-8") as f:
                spec["values"] = json.load(f)
        self.kube.call("POST", APPS, {"apiVersion": "app.coreos.com/v1beta1", "kind": "AppType",
                                      "metadata": {"name": self.app}, "spec": spec})
        return self.admin.install(self.charts[0][0], s) and self.compare(s, 0)

    def upgrade(self, s, n):
        self.put(n)
        return self.admin.install(self.charts[n][0], s) and self.compare(s, n)

    def compare(self, s, n):
        """The installed objects against helm's (or alm's own rendering where there is no helm)."""
        s["doneAt"] = time.monotonic()
        archive = self.charts[n][1]
        args = (archive, self.app, self.values, self.kube_version)
        own = objects.render([self.server.alm], *args)
        other = objects.render([objects.HELM], *args) if objects.HELM else None
        text = other or own
        s["against"] = "helm template" if other else "alm template"
        rows = objects.documents(text)
        self.chart_crds |= {r[3] for r in rows if r[1] == "CustomResourceDefinition"}
        s["objects"], s["hooks"] = sum(not r[4] for r in rows), sum(r[4] for r in rows)
        s["crds"] = sum(r[1] == "CustomResourceDefinition" for r in rows)
        s["missing"] = objects.missing(self.kube, rows, self.app)
        if own and other:
            s["sameText"] = own == other
        if n in (0, len(self.charts) - 1) and not self.options.no_diff:
            s["differs"] = objects.differs(self.server, text, self.app)
        self.open_webhooks()
        return True

    def open_webhooks(self):
        """No container answers to a webhook here, so those that must be asked would refuse every sample."""
        for kind in ("validating", "mutating"):
            path = f"/apis/admissionregistration.k8s.io/v1/{kind}webhookconfigurations"
            for c in self.kube.get(path)["items"]:
                hooks = [dict(h, failurePolicy="Ignore") for h in c.get("webhooks", [])]
                self.kube.patch(f"{path}/{c['metadata']['name']}", {"webhooks": hooks})

    # Custom resources

    def crds(self):
        found = self.kube.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")["items"]
        return [c for c in found if c["metadata"]["name"] in self.chart_crds]

    def create_samples(self, s):
        """`sample` stays through all versions; `latest` is made anew after each, as new as the version."""
        self.kube.call("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}})
        self.make_samples(s, "sample")
        self.make_samples(s, "latest")
        if self.options.samples:
            code, out = self.server.run("kubectl", "create", "-n", SPACE, "-f", self.options.samples)
            if code:
                s["skipped"]["--samples"] = out.strip()[:500]
        self.crs = self.read_crs()
        s["created"] = len(self.crs)

    def make_samples(self, s, name):
        s["skipped"] = {}
        for crd in self.crds():
            o, why = samples.sample(self.kube, crd, SPACE)
            if why:
                s["skipped"][crd["metadata"]["name"]] = why
                continue
            o["metadata"]["name"] = name
            path = samples.path_of(crd, o, SPACE)
            try:
                if self.kube.get(f"{path}/{name}"):
                    self.kube.call("DELETE", f"{path}/{name}")
                self.kube.call("POST", path, o)
            except Refused as e:
                s["skipped"][crd["metadata"]["name"]] = str(e)[:300]

    def renew(self, s):
        self.make_samples(s, "latest")
        self.crs = self.read_crs()
        s["created"] = len(self.crs)

    def delete_crs(self, names):
        """What an administrator gives up, so that it counts as lost no more."""
        for name in names:
            crd = self.kube.get(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}")
            for version in crd["spec"]["versions"] if crd else []:
                path = f"/apis/{crd['spec']['group']}/{version['name']}/{crd['spec']['names']['plural']}"
                for o in (self.kube.get(path) or {}).get("items", []) if version["served"] else []:
                    space = o["metadata"].get("namespace")
                    self.kube.call("DELETE", self.kube.path(o["apiVersion"], o["kind"], space, o["metadata"]["name"]))
        self.crs = {u: o for u, o in self.crs.items() if o[0] not in names}

    def read_crs(self):
        found = {}
        for crd in self.crds():
            stored = next(v["name"] for v in crd["spec"]["versions"] if v["storage"])
            path = f"/apis/{crd['spec']['group']}/{stored}/{crd['spec']['names']['plural']}"
            for o in (self.kube.get(path) or {}).get("items", []):
                if "app.coreos.com/app" in o["metadata"].get("labels", {}):
                    continue  # the chart's own goes with it
                found[o["metadata"]["uid"]] = (crd["metadata"]["name"], {k: v for k, v in o.items() if k != "metadata"})
        return found

    def check_crs(self, s):
        """Every custom resource is there with the same uid; fields that are gone or new are told."""
        if not self.crs:
            return
        now = self.read_crs()
        s["crs"] = len(now)
        s["crsLost"] = sorted(self.crs[u][0] for u in self.crs if u not in now)
        lost, new = set(), set()
        for uid, (name, before) in self.crs.items():
            if uid in now:
                a, b = dict(leaves(before)), dict(leaves(now[uid][1]))
                lost |= {f"{name} {p}" for p in a if p not in b or (a[p] != b[p] and p != "apiVersion")}
                new |= {f"{name} {p}" for p in b if p not in a}
        s["crFieldsLost"], s["crFieldsNew"] = sorted(lost), sorted(new)
        self.crs = now

    # Going back, and away

    def rollback(self, s, version):
        code, text = self.admin.alm("rollback", self.app, "--to", version, "--reason", "tests/operators")
        if code:
            s["stop"] = f"alm rollback: exit {code}: {text.strip()[:500]}"
            return False
        ok = self.admin.install(version, s)
        return ok

    def delete(self, s):
        before = objects.documents(objects.render([self.server.alm], self.charts[0][1], self.app, self.values,
                                                  self.kube_version))
        self.kube.call("DELETE", f"{APPS}/{self.app}")
        end = time.monotonic() + GONE_S
        while self.admin.app_object():
            if time.monotonic() > end:
                s["stop"] = f"the AppType is there after {GONE_S} s"
                return False
            time.sleep(0.2)
        s["doneAt"] = time.monotonic()
        s["left"] = [f"{r[1]}/{r[3]}" for r in before if not r[4] and r[1] not in ("CustomResourceDefinition", "Namespace")
                     and objects.live(self.kube, r, self.app)]
        return True

    def rest(self, s):
        """Until a second has passed without CPU, 15 at most."""
        for _ in range(15):
            cpu = self.server.cpu()
            time.sleep(1)
            if self.server.cpu() - cpu < 0.03:
                break

    def play(self):
        versions = [v for v, _ in self.charts]
        done = []
        if not self.step(f"install {versions[0]}", self.first):
            return
        done.append(versions[0])
        self.step("samples", self.create_samples)
        for n in range(1, len(versions)):
            if self.step(f"upgrade {versions[n]}", lambda s, n=n: self.upgrade(s, n)):
                done.append(versions[n])
                self.step(f"samples of {versions[n]}", self.renew)
        self.step("rest", self.rest)
        if len(done) > 1:
            self.step(f"rollback {done[-2]}", lambda s: self.rollback(s, done[-2]))
        self.step("delete", self.delete)
        self.step("rest after delete", self.rest)


def leaves(o, path=""):
    if isinstance(o, dict):
        for k, v in o.items():
            yield from leaves(v, f"{path}.{k}" if path else k)
    elif isinstance(o, list):
        for i, v in enumerate(o):
            yield from leaves(v, f"{path}[{i}]")
    else:
        yield path, o


def main():
    p = argparse.ArgumentParser()
    p.add_argument("charts")
    p.add_argument("--samples", help="folder of custom resources, besides those made from the schemas")
    p.add_argument("--out", help="JSON; default: standard output")
    p.add_argument("--alm", default="build/alm")
    p.add_argument("--cluster", action="store_true", help="a real Kubernetes, by ALM_OPERATORS_CLUSTER")
    p.add_argument("--no-waivers", action="store_true", help="a refusal of the gate is the end of that version")
    p.add_argument("--no-diff", action="store_true", help="leave kubectl diff out")
    p.add_argument("--keep", action="store_true", help="keep the folder of the run")
    options = p.parse_args()
    cluster = os.environ.get("ALM_OPERATORS_CLUSTER") if options.cluster else None
    if options.cluster and not cluster:
        sys.exit("--cluster: ALM_OPERATORS_CLUSTER is not set")
    directory = tempfile.mkdtemp(prefix="alm-operator-")
    server = None
    try:
        server = Server(os.path.abspath(options.alm), directory, cluster)
        run = Lifecycle(server, options.charts, options)
        run.play()
        if server.died():
            run.result["died"] = server.died()
            print("alm " + server.died(), flush=True)
        run.result["errors"] = sorted(set(re.findall(r"pass failed.*", server.errors())))[:5]
    finally:
        if server:
            server.stop()
        if not options.keep:
            shutil.rmtree(directory, ignore_errors=True)
    text = json.dumps(run.result, indent=1) + "\n"
    if options.out:
        with open(options.out, "w", encoding="utf-8") as f:
            f.write(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
