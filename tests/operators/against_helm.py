#!/usr/bin/env python3
"""against_helm.py CHARTS...: install and upgrade by `helm --wait` and by ALM, on the same `alm up`, in one run.

The first two versions of each folder. ALM has every right beforehand, no verifying time, mode Automatic. As helm has its
archive at hand, ALM's time goes from the moment when the catalog has read the archive (a file in a folder waits 500 ms, so
that none is read half) to Ready with that version; of an install, from the creation of the AppType. Between the two the
release and its CRDs are deleted. Each way is played ROUNDS times, in turn; the smallest time counts."""

import json
import os
import re
import shutil
import sys
import tempfile
import time

import objects
from admin import APPS, condition
from run import charts_of
from server import Server

ROUNDS = 2
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def timed(work):
    start = time.monotonic()
    work()
    return time.monotonic() - start


def helm(server, *args):
    code, out = server.run(objects.HELM, *args, timeout=300)
    if code:
        raise RuntimeError(f"helm {args[0]}: {out.strip()[-300:]}")


def installed(kube, app, version):
    end = time.monotonic() + 120
    while time.monotonic() < end:
        o = kube.get(f"{APPS}/{app}")
        if o and o.get("status", {}).get("installedVersion") == version and condition(o, "Ready").get("status") == "True":
            return
        time.sleep(0.05)
    raise RuntimeError(f"ALM does not install {version}: {json.dumps(o.get('status', {}).get('conditions'))[:600]}")


def catalogued(server, path):
    """The archive is put into the catalog and read by it."""
    where = "/apis/app.coreos.com/v1alpha1/catalogs/ops"
    before = server.kube.get(where).get("status", {}).get("digest")
    shutil.copy(path, server.catalog)
    end = time.monotonic() + 20
    while server.kube.get(where).get("status", {}).get("digest") == before:
        if time.monotonic() > end:
            raise RuntimeError("the catalog does not read " + path)
        time.sleep(0.005)


def clear(server, app):
    """No CRD and no namespace of the operator is left."""
    kube = server.kube
    for c in kube.get(CRDS)["items"]:
        if not c["spec"]["group"].endswith("coreos.com") or c["metadata"]["name"].endswith("monitoring.coreos.com"):
            kube.call("DELETE", f"{CRDS}/{c['metadata']['name']}")
    if kube.get(f"/api/v1/namespaces/{app}"):
        kube.call("DELETE", f"/api/v1/namespaces/{app}")
    end = time.monotonic() + 120
    while kube.get(f"/api/v1/namespaces/{app}") and time.monotonic() < end:
        time.sleep(0.1)


def by_helm(server, app, charts, values):
    args = ["-n", app, "--wait", "--timeout", "2m"] + (["-f", values] if values else [])
    t = [timed(lambda: helm(server, "install", app, charts[0][1], "--create-namespace", *args)),
         timed(lambda: helm(server, "upgrade", app, charts[1][1], *args))]
    helm(server, "uninstall", app, "-n", app, "--wait")
    clear(server, app)
    return t


def by_alm(server, app, package, charts, values):
    kube = server.kube
    spec = {"type": "io.ops", "package": package}
    if values:
        with open(values, encoding="utf-8") as f:
            spec["values"] = json.load(f)
    o = {"apiVersion": "app.coreos.com/v1beta1", "kind": "AppType", "metadata": {"name": app}, "spec": spec}

    def first():
        kube.call("POST", APPS, o)
        installed(kube, app, charts[0][0])

    catalogued(server, charts[0][1])
    t = [timed(first)]
    catalogued(server, charts[1][1])
    t.append(timed(lambda: installed(kube, app, charts[1][0])))
    kube.call("DELETE", f"{APPS}/{app}")
    while kube.get(f"{APPS}/{app}"):
        time.sleep(0.1)
    for _, path in charts:
        os.unlink(os.path.join(server.catalog, os.path.basename(path)))
    clear(server, app)
    return t


def compare(alm, folder):
    charts, package = charts_of(folder)
    charts = charts[:2]
    app = re.sub(r"[^a-z0-9-]", "-", package.lower())
    values = os.path.join(folder, "values.json")
    values = values if os.path.exists(values) else None
    directory = tempfile.mkdtemp(prefix="alm-helm-")
    server = Server(os.path.abspath(alm), directory, soak="0s")
    try:
        server.kube.call("POST", "/apis/app.coreos.com/v1alpha1/catalogs", {
            "apiVersion": "app.coreos.com/v1alpha1", "kind": "Catalog", "metadata": {"name": "ops"},
            "spec": {"source": {"url": "dir://" + server.catalog}, "interval": "5s"}})
        server.run("kubectl", "create", "clusterrolebinding", "every-right", "--clusterrole=cluster-admin",
                   f"--user=system:serviceaccount:alm-system:app-{app}")
        rounds = [(by_helm(server, app, charts, values), by_alm(server, app, package, charts, values))
                  for _ in range(ROUNDS)]
    finally:
        server.stop()
        shutil.rmtree(directory, ignore_errors=True)
    best = [[min(r[who][n] for r in rounds) for n in range(2)] for who in range(2)]
    cells = [f"{best[0][n]:.1f} | {best[1][n]:.1f} | {best[1][n] / best[0][n]:.2f}" for n in range(2)]
    print(f"| {package} {charts[0][0]}, {charts[1][0]} | {cells[0]} | {cells[1]} |", flush=True)


def main():
    if not objects.HELM:
        sys.exit("no helm")
    print("| operator | install: helm --wait, s | ALM, s | ratio | upgrade: helm --wait, s | ALM, s | ratio |")
    print("|---|---|---|---|---|---|---|")
    for folder in sys.argv[1:]:
        try:
            compare(os.environ.get("ALM", "build/alm"), folder)
        except (RuntimeError, OSError) as e:
            print(f"| {os.path.basename(folder)} | {e} |", flush=True)


if __name__ == "__main__":
    main()
