#!/usr/bin/env python3
"""judge.py CHARTS RESULT.json...: is what the gate refused a loss, and is what it let pass none?  Asked of a real API server.

The CRDs of each version are applied one after the other, over one object of each CRD that has every field (as in the run).
After each version every object is read, and a copy of what was stored before is created (dry run). A loss is: it cannot be
read, a field of it is gone, a value changed, the copy is refused, or a field of the copy is dropped.
Nothing answers to a conversion webhook here: it is taken out of the CRD, and where the storage version moved under one
nothing is judged. The result is added to the RESULT file as `judged`."""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import objects
import samples
from kube import Kube, Refused
from run import charts_of, leaves

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SPACE = "judge"
CONVERTED = set()  # names of CRDs with a converter


def crds_of(chart, values, kubeconfig, alm):
    text = objects.render([objects.HELM or alm], chart, "judge", values, "v1.36.0")
    docs = [d for d in re.split(r"^---.*$", text or "", flags=re.M) if re.search(r"^kind:\s*[\"']?CustomResourceDefinition", d, re.M)]
    if not docs:
        return []
    r = subprocess.run(["kubectl", "--kubeconfig", kubeconfig, "create", "--dry-run=client", "--validate=false", "-o", "json", "-f", "-"],
                       input="\n---\n".join(docs), capture_output=True, text=True, check=True)
    decoder, at, found = json.JSONDecoder(), 0, []
    while at < len(r.stdout.rstrip()):
        o, at = decoder.raw_decode(r.stdout, at)
        found += o["items"] if o["kind"] == "List" else [o]
        at += len(r.stdout[at:]) - len(r.stdout[at:].lstrip())
    return list({c["metadata"]["name"]: c for c in found}.values())


def apply(kube, crd):
    """The CRD replaced or created; None, or why the server does not take it."""
    if (crd["spec"].pop("conversion", None) or {}).get("strategy") == "Webhook":
        CONVERTED.add(crd["metadata"]["name"])
    crd["metadata"] = {"name": crd["metadata"]["name"], "annotations": {
        k: v for k, v in crd["metadata"].get("annotations", {}).items() if k.startswith("api-approved")}}
    path = f"{CRDS}/{crd['metadata']['name']}"
    try:
        old = kube.get(path)
        if old:
            crd["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"]
            kube.call("PUT", path, crd)
        else:
            kube.call("POST", CRDS, crd)
    except Refused as e:
        return str(e)[:300]
    return None


def settle(kube, names):
    """Until the server has every CRD and what it serves is the newest: a change shows in the condition, or soon after."""
    for n in names:
        for _ in range(300):
            c = kube.get(f"{CRDS}/{n}")
            if any(x["type"] == "Established" and x["status"] == "True" for x in ((c or {}).get("status", {}).get("conditions") or [])):
                break
            subprocess.run(["sleep", "0.1"], check=False)
    subprocess.run(["sleep", "2"], check=False)  # the handlers of the server follow their CRD a moment later


def path_of(crd, version, o):
    base = f"/apis/{crd['spec']['group']}/{version}"
    if crd["spec"]["scope"] == "Namespaced":
        base += "/namespaces/" + SPACE
    return f"{base}/{crd['spec']['names']['plural']}" + (f"/{o}" if o else "")


def body(o):
    return {k: v for k, v in o.items() if k not in ("metadata", "status", "apiVersion")}


def losses(kube, crd, before):
    """What happens to an object that was stored as `before` under the CRD as it is now."""
    found = []
    served = [v["name"] for v in crd["spec"]["versions"] if v["served"]]
    was = before["apiVersion"].split("/")[1]
    stored = next(v["name"] for v in crd["spec"]["versions"] if v["storage"])
    if crd["metadata"]["name"] in CONVERTED and was != stored:
        return []
    if was not in served:
        return [f"version {was} is not served"]
    try:
        now = kube.call("GET", path_of(crd, was, "sample"))
    except Refused as e:
        return [f"read: {str(e)[:200]}"]
    a, b = dict(leaves(body(before))), dict(leaves(body(now)))
    found += [f"gone: {p}" for p in a if p not in b] + [f"changed: {p}" for p in a if p in b and a[p] != b[p]]
    copy = dict(body(before), apiVersion=before["apiVersion"], metadata={"name": "copy"})
    try:
        made = kube.call("POST", path_of(crd, was, "") + "?dryRun=All", copy)
        c = dict(leaves(body(made)))
        found += [f"dropped of a copy: {p}" for p in a if p not in c]
    except Refused as e:
        found.append(f"a copy is refused: {str(e)[:300]}")
    return sorted(set(found))


def judge(kube, charts, values, kubeconfig, alm):
    kube.call("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}})
    verdicts, stored = {}, {}
    for n, (version, chart) in enumerate(charts):
        crds = crds_of(chart, values, kubeconfig, alm)
        refused = {c["metadata"]["name"]: why for c in crds for why in [apply(kube, c)] if why}
        settle(kube, [c["metadata"]["name"] for c in crds if c["metadata"]["name"] not in refused])
        found = {name: ["the CRD is refused: " + why] for name, why in refused.items()}
        for c in crds:
            name = c["metadata"]["name"]
            live = kube.get(f"{CRDS}/{name}")
            if not live:
                continue
            if name in stored:
                lost = losses(kube, live, stored[name])
                if lost:
                    found[name] = found.get(name, []) + lost
            renew(kube, live, stored)
        if n:
            verdicts[version] = found
    return verdicts


def renew(kube, crd, stored):
    """The next version starts with an object that this one takes, whole."""
    name = crd["metadata"]["name"]
    o, why = samples.sample(kube, crd, SPACE)
    if why:
        stored.pop(name, None)
        return
    o["metadata"]["name"] = "sample"
    version = o["apiVersion"].split("/")[1]
    path = path_of(crd, version, "sample")
    try:
        if kube.get(path):
            kube.call("DELETE", path)
        stored[name] = kube.call("POST", path_of(crd, version, ""), o)
    except Refused:
        stored.pop(name, None)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("charts")
    p.add_argument("result")
    p.add_argument("--alm", default="build/alm")
    options = p.parse_args()
    cluster = os.environ.get("ALM_OPERATORS_CLUSTER") or sys.exit("ALM_OPERATORS_CLUSTER is not set")
    directory = tempfile.mkdtemp(prefix="alm-judge-")
    port = 20000 + os.getpid() % 10000
    out = subprocess.check_output([cluster, "start", f"{directory}/cluster", str(port)]).decode()
    try:
        kubeconfig = out.split()[-1]
        charts, _ = charts_of(options.charts)
        values = os.path.join(options.charts, "values.json")
        found = judge(Kube(kubeconfig), charts, values if os.path.exists(values) else None, kubeconfig, options.alm)
    finally:
        subprocess.run([cluster, "stop", f"{directory}/cluster"], check=False)
        shutil.rmtree(directory, ignore_errors=True)
    with open(options.result, encoding="utf-8") as f:
        result = json.load(f)
    result["losses"] = found
    with open(options.result, "w", encoding="utf-8") as f:
        f.write(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
