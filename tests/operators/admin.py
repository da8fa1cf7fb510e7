"""What an administrator does to get a version installed: gives the rights, reads the findings, waives them, approves."""

import json
import re
import shlex
import time

APPS = "/apis/app.coreos.com/v1beta1/apps"
STRATEGIES = "/apis/opinstaller.coreos.com/v1beta1/installstrategies"
WAIT_S = 150
IDLE_S = 20
STEPS_MAX = 60
KEYS = ("rule", "resource", "path", "outcome", "was", "now", "note", "objects")


def condition(o, kind):
    for c in (o or {}).get("status", {}).get("conditions", []):
        if c["type"] == kind:
            return c
    return {}


class Admin:
    """waive: whether refused findings are waived, or are the end."""

    def __init__(self, server, app, waive=True):
        self.server = server
        self.kube = server.kube
        self.app = app
        self.waive = waive
        self.type = "io.ops"
        self.give_up = None  # function that deletes the custom resources of CRDs
        self.idle = None  # since when what was done to unblock it has not helped

    def app_object(self):
        return self.kube.get(f"{APPS}/{self.app}")

    def strategy(self, version):
        """The one of this version; a later attempt has a suffix of its own."""
        found = [s for s in (self.kube.get(STRATEGIES) or {}).get("items", [])
                 if s["spec"].get("version") == version and s["spec"]["appTypeRef"]["name"] == self.app]
        return max(found, key=lambda s: s["metadata"]["creationTimestamp"], default=None)

    def alm(self, *args, text=None):
        return self.server.run(self.server.alm, *args, text=text)

    def install(self, version, result):
        """Until the app has this version, or nothing more can be done: True, or False with result['stop']."""
        end = time.monotonic() + WAIT_S
        done = set()
        while time.monotonic() < end and len(done) < STEPS_MAX:
            o = self.app_object()
            if o and o.get("status", {}).get("installedVersion") == version and condition(o, "Ready").get("status") == "True":
                if result.get("followed"):  # `alm upgrade --to` keeps it from going on
                    self.kube.patch(f"{APPS}/{self.app}", {"spec": {"upgrade": {"to": None}}})
                return True
            s = self.strategy(version)
            if s and self._act(s, version, result, done) is False:
                return False
            waits = s and s.get("status", {}).get("phase") not in (None, "Superseded", "Succeeded")
            left_out = None if waits else self._left_out(version, result)
            if left_out and not self._follow(version, result, done):
                result["stop"] = left_out
                return False
            time.sleep(0.2)
        code, text = self.alm("status", self.app)
        result["stop"] = f"not installed after {WAIT_S} s: " + text.strip()[:600]
        result["code"] = code
        return False

    def _act(self, s, version, result, done):
        status = s.get("status", {})
        phase = status.get("phase")
        if phase == "AwaitingApproval":
            key = ("approve", status["plan"]["digest"])
            if key not in done:
                done.add(key)
                self._note(result, status["plan"])
                code, text = self.alm("approve", self.app, version, "--reason", "tests/operators")
                if code == 0:
                    result["approvedAt"] = time.monotonic()
                else:
                    result.setdefault("notes", []).append("approve: " + text.strip()[:200])
        elif phase in ("Blocked", "Failed"):
            return self._unblock(s, version, result, done)
        return None

    def _unblock(self, s, version, result, done):
        status = s["status"]
        why = next((c for c in status.get("conditions", []) if c["status"] == "False" and c.get("reason") not in
                    ("InProgress", "Waiting")), {})
        key = (why.get("reason"), s["metadata"]["resourceVersion"])
        if key in done:
            self.idle = self.idle or time.monotonic()
            if time.monotonic() - self.idle < IDLE_S:
                return None
            result["stop"] = f"{status.get('phase')} {why.get('reason')}: {why.get('message', '')[:500]}"
            return False
        self.idle = None
        if "see spec.serviceAccountName" in why.get("message", "") and "account" not in done:
            done.add("account")
            return self._name_account(result)
        if why.get("reason") == "Forbidden":
            done.add(key)
            return self._run_steps(status.get("steps", []), version, result)
        refused = [f for f in status.get("plan", {}).get("findings", []) if f.get("outcome") == "refuse"]
        if why.get("reason") == "CRDIncompatible" and refused:
            self._note(result, status["plan"])
            if self.waive:
                done.add(key)
                return self._waive(refused, result)
        result["stop"] = f"{status.get('phase')} {why.get('reason')}: {why.get('message', '')[:500]}"
        return False

    def _name_account(self, result):
        """Groups below k8s.io are not for the default account: one of the cluster's that may all, and says so."""
        o = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {
            "name": "installer", "namespace": self.app, "annotations": {"app.coreos.com/apps": self.app}}}
        self.kube.call("POST", f"/api/v1/namespaces/{self.app}/serviceaccounts", o)
        self.server.run("kubectl", "create", "clusterrolebinding", "installer", "--clusterrole=cluster-admin",
                        f"--serviceaccount={self.app}:installer")
        self.kube.patch(f"{APPS}/{self.app}", {"spec": {"serviceAccountName": "installer"}})
        result["account"] = True

    def _run_steps(self, steps, version, result):
        """The commands that the status gives; a manifest that `alm rbac` prints as well is not applied twice."""
        for step in steps:
            if step.startswith("alm rbac"):
                step = step.replace("alm rbac " + self.app, f"alm rbac {self.app} --to {version}")
                result["rbac"] = result.get("rbac", 0) + 1
            elif step.startswith("kubectl apply -f - <<"):
                continue
            code, text = self.server.run("sh", "-c", f'alm() {{ "{self.server.alm}" "$@"; }}\n{step}')
            if code:
                result["stop"] = f"{step.splitlines()[0]}: {text.strip()[-500:]}"
                return False
        return None

    def _follow(self, version, result, done):
        """The commands that `alm why-not` prints, each once; False if it has no new one that works."""
        _, text = self.alm("why-not", self.app, version)
        result["whyNot"] = text.strip()[:1500]
        if not self.waive:
            return False
        worked = False
        for command in re.findall(r"\balm ((?:crd migrate|upgrade) [^\n]+)", text):
            if command not in done:
                done.add(command)
                code, out = self.alm(*shlex.split(command, comments=True))
                result.setdefault("followed", []).append(f"alm {command}: exit {code}: {out.strip()[-200:]}")
                worked |= code == 0
        return worked or self._delete_dropped(result, done)

    def _delete_dropped(self, result, done):
        """The last way out of a drop: nothing is left in what the version no longer manages."""
        dropped = [{"rule": "ResourceDropped", "resource": r} for r in result.get("droppedResources", [])]
        if not dropped or not self.waive or self.give_up is None:
            return False
        if ("waived", len(dropped)) not in done:  # enough where nothing is stored in that version
            done.add(("waived", len(dropped)))
            self._waive(dropped, result)
            time.sleep(2)
            return True
        names = sorted(n for n in set(result["dropped"]) if n not in done)
        done.update(names)
        if names:
            result.setdefault("followed", []).append("kubectl delete of all " + ", ".join(names))
            self.give_up(names)
        return bool(names)

    def _waive(self, refused, result):
        path = f"{APPS}/{self.app}"
        waivers = self.kube.get(path)["spec"]["upgrade"].get("waivers", [])
        for f in refused:
            w = {"rule": f["rule"], "resource": f["resource"], "reason": "tests/operators"}
            if f.get("path"):
                w["path"] = f["path"]
            if w not in waivers:
                waivers.append(w)
        self.kube.patch(path, {"spec": {"upgrade": {"waivers": waivers}}})
        result["waivers"] = len(waivers)

    def _note(self, result, plan):
        """Every finding that was shown, with its first outcome."""
        seen = result.setdefault("judged", [])
        known = {(f["rule"], f["resource"], f.get("path")) for f in seen}
        for f in plan.get("findings", []):
            if (f["rule"], f["resource"], f.get("path")) not in known:
                seen.append({k: f[k] for k in KEYS if k in f})
        result["omitted"] = max(result.get("omitted", 0), plan.get("findingsOmitted", 0))

    def _left_out(self, version, result):
        for c in (self.kube.get("/apis/app.coreos.com/v1alpha1/catalogs") or {}).get("items", []):
            for r in c.get("status", {}).get("rejected", []):
                if version in json.dumps(r):
                    return "left out of the catalog: " + json.dumps(r)[:500]
        why = condition(self.app_object(), "Resolved")
        for c in (self.app_object() or {}).get("status", {}).get("candidates", []):
            if c.get("version") == version and c.get("installable") is False and \
                    c.get("reason") not in ("NotNewer", "NotRequested"):  # upgrade.to is not seen yet
                result["droppedResources"] = c.get("dropped", [])
                result["dropped"] = [r.split("/")[0] for r in c.get("dropped", [])]
                return f"no candidate: {c.get('reason')} {c.get('message', '')[:400]} {why.get('reason', '')}"
        return None
