"""Custom resources for a CRD: every field of its schema with a value that the server takes, found by asking it (dry run).

What it complains of loses its optional fields one by one, then all of them, then goes itself, then its parent does."""

import re

from kube import Refused

NODES_MAX = 4000
DEPTH_MAX = 14
TRIES_MAX = 120
DROPS_MAX = 8
STRINGS = ["a", "1", "10", "1s", "1h0m0s", "1Gi", "100m", "aa", "abc", "a.example.com", "http://a.example.com", "a/b", "/a",
           "https://a.example.com/b", "Aa", "A", "a1", "2024-01-01T00:00:00Z", "0 0 * * *", "10.0.0.0/24", "10.0.0.1",
           "50%", "1.0.0", "v1", "a=b", "a:b", "#aabbcc", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "spiffe://a/b",
           "arn:aws:iam::123456789012:role/a", "ami-0123456789", "ssh://git@a.example.com/b", "oci://a.example.com/b", ""]
FORMATS = {"date-time": "2024-01-01T00:00:00Z", "date": "2024-01-01", "uri": "http://a.example.com", "duration": "1s",
           "byte": "YQ==", "ipv4": "10.0.0.1", "ipv6": "::1", "cidr": "10.0.0.0/24", "email": "a@example.com",
           "hostname": "a.example.com", "uuid": "7c9d6a52-5f6e-4a63-8c1a-4b2b7a4d7f10", "password": "a"}
NOTHING = object()


def text_for(s):
    if s.get("format") in FORMATS:
        return FORMATS[s["format"]]
    pattern = s.get("pattern")
    low, high = s.get("minLength", 0), s.get("maxLength", 1 << 30)
    for t in STRINGS + ["a" * max(1, min(low, 256))]:
        try:
            if low <= len(t) <= high and (not pattern or re.search(pattern, t)):
                return t
        except re.error:
            return NOTHING
    return NOTHING


def number_for(s):
    n = s.get("minimum", min(1, s.get("maximum", 1)))
    if s.get("exclusiveMinimum"):
        n += 1
    step = s.get("multipleOf")
    return n if not step or n % step == 0 else step


class Maker:
    """full: optional fields too. small and without: paths that the server complained of."""

    def __init__(self, schema):
        self.schema = schema
        self.small = set()
        self.without = set()
        self.drops = {}  # path: how many optional fields it has lost one by one
        self.kids = {}  # path: the optional fields that it had in the newest object
        self.nodes = 0

    def make(self):
        self.nodes = 0
        self.kids = {}
        o = {k: self.value(s, (k,), 1, k in self.schema.get("required", []))
             for k, s in self.schema.get("properties", {}).items()
             if k not in ("apiVersion", "kind", "metadata", "status") and (k,) not in self.without}
        return {k: v for k, v in o.items() if v is not NOTHING}

    def value(self, s, path, depth, required):
        self.nodes += 1
        if not required and (self.nodes > NODES_MAX or depth > DEPTH_MAX):
            return NOTHING
        if s.get("enum"):
            return s["enum"][0]
        if "default" in s and s["default"] not in ({}, []):
            return s["default"]
        if s.get("x-kubernetes-int-or-string"):
            t = text_for(s) if s.get("pattern") else 1
            return 1 if t is NOTHING else t
        kind = s.get("type")
        if kind == "string":
            return text_for(s)
        if kind in ("integer", "number"):
            return number_for(s)
        if kind == "boolean":
            return True
        if kind == "array":
            return self.items(s, path, depth)
        return self.fields(s, path, depth)

    def items(self, s, path, depth):
        if path in self.small and not s.get("minItems"):
            return []
        v = self.value(s.get("items", {}), path + (0,), depth + 1, bool(s.get("minItems")))
        return [] if v is NOTHING else [v] * max(1, s.get("minItems", 1))

    def fields(self, s, path, depth):
        o = {}
        required = s.get("required", [])
        for k, sub in s.get("properties", {}).items():
            if k not in required and (path in self.small or path + (k,) in self.without):
                continue
            v = self.value(sub, path + (k,), depth + 1, k in required)
            if v is not NOTHING:
                o[k] = v
                if k not in required:
                    self.kids.setdefault(path, []).append(k)
        more = s.get("additionalProperties")
        if isinstance(more, dict) and more and path not in self.small:
            v = self.value(more, path + ("a",), depth + 1, False)
            if v is not NOTHING:
                o["a"] = v
        return o

    def complain(self, path):
        """One step smaller at path; False if there is none left."""
        while path:
            if self.kids.get(path) and self.drops.get(path, 0) < DROPS_MAX:
                self.drops[path] = self.drops.get(path, 0) + 1
                self.without.add(path + (self.kids[path].pop(),))
                return True
            if path not in self.small:
                self.small.add(path)
                return True
            if path not in self.without and len(path) > 1:
                self.without.add(path)
                return True
            path = path[:-1]
        return False


def field_path(field):
    """'spec.a[0].b' and 'spec.a[key].b' as a path."""
    path = []
    for part in re.findall(r"[^.\[\]]+|\[[^\]]*\]", field or ""):
        if part.startswith("["):
            path.append(0 if part[1:-1].isdigit() else part[1:-1].strip('"\''))
        else:
            path.append(part)
    return tuple(path)


def complaints(status):
    causes = (status.get("details") or {}).get("causes") or []
    paths = []
    for c in causes:
        field = c.get("field")
        if not field or field == "<nil>":  # "spec.a" must validate one and only one schema (oneOf)
            m = re.search(r'"(spec[^"]*)" must ', c.get("message", ""))
            field = m[1] if m else ""
        paths.append(field_path(field))
    return [p for p in paths if p and p[0] not in ("<nil>", "metadata", "")]


def path_of(crd, o, namespace):
    """Where objects like o are created."""
    base = f"/apis/{o['apiVersion']}"
    if crd["spec"]["scope"] == "Namespaced":
        base += "/namespaces/" + namespace
    return f"{base}/{crd['spec']['names']['plural']}"


def sample(kube, crd, namespace):
    """(object, None) or (None, why not): an object in the storage version that the server takes."""
    spec = crd["spec"]
    version = next(v for v in spec["versions"] if v["storage"])
    if not version["served"]:
        version = next((v for v in spec["versions"] if v["served"]), version)
    maker = Maker((version.get("schema") or {}).get("openAPIV3Schema", {}))
    why = ""
    for n in range(TRIES_MAX):
        o = {"apiVersion": f"{spec['group']}/{version['name']}", "kind": spec["names"]["kind"],
             "metadata": {"name": "dry-run"}, **maker.make()}
        if spec["scope"] == "Namespaced":
            o["metadata"]["namespace"] = namespace
        try:
            kube.call("POST", path_of(crd, o, namespace) + "?dryRun=All", o)
            return o, None
        except Refused as e:
            why = str(e)[:300]
            found = complaints(e.status)
            if not found and "webhook" in why:
                break
            if n > TRIES_MAX * 3 // 4 or not found:
                found = [p[:1] for p in found] or [(k,) for k in list(o) if k not in ("apiVersion", "kind", "metadata")]
            if not any([maker.complain(p) for p in found]):
                break
    return None, why
