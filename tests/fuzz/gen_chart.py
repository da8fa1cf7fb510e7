"""Random charts with structure: subcharts three deep as folders or archives, conditions, tags, aliases, imports, hooks, kinds, CRDs, schemas.

chart(r) gives {path: bytes} of one chart; flags(r, files) gives command lines for it. Files beside the chart start with ../ ."""
import gzip
import io
import json
import tarfile

import gen_schema
import gen_text
import gen_value

KINDS = """PriorityClass Namespace NetworkPolicy ResourceQuota LimitRange PodSecurityPolicy PodDisruptionBudget ServiceAccount Secret SecretList ConfigMap StorageClass PersistentVolume
PersistentVolumeClaim CustomResourceDefinition ClusterRole ClusterRoleList ClusterRoleBinding ClusterRoleBindingList Role RoleList RoleBinding RoleBindingList Service DaemonSet Pod
ReplicationController ReplicaSet Deployment HorizontalPodAutoscaler StatefulSet Job CronJob IngressClass Ingress APIService MutatingWebhookConfiguration ValidatingWebhookConfiguration
Widget Foo foo Gateway""".split()
EVENTS = ["pre-install", "post-install", "pre-delete", "post-delete", "pre-upgrade", "post-upgrade", "pre-rollback", "post-rollback", "test", "test-success", "Pre-Install", "crd-install", "", "x"]
NAMES = ["s1", "s2", "s3"]


def dump(r, v, indent=0):
    """v as YAML text, block style with comments here and there, flow style for the rest."""
    if not isinstance(v, dict) or not v or r.random() < 0.2:
        return " " + json.dumps(v, ensure_ascii=False) + "\n" if indent or not isinstance(v, dict) else json.dumps(v, ensure_ascii=False) + "\n"
    text = "\n" if indent else ""
    for key, one in v.items():
        if r.random() < 0.08:
            text += " " * r.choice([0, indent, 9]) + "# c\n"
        text += " " * indent + json.dumps(key, ensure_ascii=False) + ":" + dump(r, one, indent + 2)
    return text


def odd(r, usual, unusual):
    """One of usual; seldom one of unusual, which mostly makes the whole chart fail."""
    return r.choice(usual) if r.random() < 0.97 else r.choice(unusual)


def tree(r, depth=0):
    """A small map with keys that meet those of other charts."""
    def leaf():
        return r.choice([1, "x", None, None, [1], {}, [], True, False, "", 0, 2.5, [{"a": None}]])
    return {r.choice("abmn") + r.choice(["", "1"]): (tree(r, depth + 1) if depth < 3 and r.random() < 0.45 else leaf()) for _ in range(r.randint(0, 4))}


def metadata(r, name, version):
    meta = {"apiVersion": r.choice(["v2"] * 12 + ["v1", None]), "name": name, "version": version}
    extra = {"appVersion": ["1.10", 1.10, 3, True, "v1", None, 123456789.123], "description": ["d", "a: b", "x\ny", None, 5], "kubeVersion": [">=1.20.0-0", ">=1.19.0-0", "<1.20", "1.x", "x", ""],
             "type": ["application", "library" if name != "c" else "", "library", "", "Application", "x"], "deprecated": [True, False, "true", "yes"], "home": ["http://h", 1], "icon": ["i"],
             "keywords": [["a", "b"], [], None, [1], "k"], "sources": [["s"], [None]], "annotations": [{"a": "b"}, {"a": 1}, {}, {"a": None}],
             "maintainers": [[{"name": "m", "email": "e", "url": "u"}], [], [{"name": "x\u0007y"}], [None]], "tags": ["t"], "condition": ["c"], "unknown": [1], "Name": [name]}
    for key, values in extra.items():
        if r.random() < 0.06:
            meta[key] = odd(r, values[:2], values)
    return {k: v for k, v in meta.items() if v is not None or k != "apiVersion"}


def dependency(r, name, version):
    d = {"name": name, "version": r.choice([version] * 5 + ["1.x", ">=1.0.0", "2.x", "*", "~1.2", "", "x", "^1"]), "repository": r.choice(["", "http://x", "file://../x"])}
    if r.random() < 0.4:
        d["condition"] = r.choice(["%s.enabled" % name, "x.y", "x.y,%s.enabled" % name, "global.on", "%s.a" % name, " %s.enabled" % name, "a"])
    if r.random() < 0.3:
        d["tags"] = r.sample(["t1", "t2", "t3"], r.randint(1, 2))
    if r.random() < 0.25:
        d["alias"] = r.choice([name + "x", name + "-y", name + "_z", ""]) if r.random() < 0.96 else r.choice(["s1", "a.b"])
    if r.random() < 0.35:
        d["import-values"] = r.sample(["d", "e", {"child": "a", "parent": "p.q"}, {"child": "m", "parent": "."}, {"child": "exports.d", "parent": "a"}, {"child": "nope", "parent": "a.b"},
                                       {"child": "a.b", "parent": "b"}, 5, {"child": 1, "parent": "x"}], r.randint(1, 2))
    if r.random() < 0.05:
        d["enabled"] = r.choice([True, False])
    return d


def metadata_lines(r):
    """The metadata of an object: hook annotations, weights, policies, labels, odd types."""
    text = "metadata:\n  name: %s\n" % odd(r, ["a", "b", "z", "{{ .Release.Name }}", "{{ .Chart.Name }}-x", "1", "\"q\"", "{{ include \"name\" . }}", "a b"], ["~", "[a]", "{a: b}", "1.5", "a: b"])
    if r.random() < 0.5:
        text += "  annotations:\n"
        if r.random() < 0.7:
            events = ",".join(r.choice(EVENTS[:9]) for _ in range(r.randint(1, 2))) if r.random() < 0.85 else r.choice(EVENTS + ["pre-install, post-install", "~", "true"])
            text += "    %s: %s\n" % (r.choice(["helm.sh/hook", "\"helm.sh/hook\""]), events)
        if r.random() < 0.6:
            text += "    helm.sh/hook-weight: %s\n" % r.choice(["\"1\"", "\"-5\"", "\"10\"", "3", "\"x\"", "\"+2\"", "\"\"", "1.5", "~", "\"0x1\""])
        if r.random() < 0.3:
            text += "    helm.sh/hook-delete-policy: %s\n" % r.choice(["hook-succeeded", "before-hook-creation,hook-failed", "x", "\"\""])
        if r.random() < 0.2:
            text += "    helm.sh/resource-policy: %s\n" % r.choice(["keep", "Keep", "x"])
        if r.random() < 0.1:
            text += odd(r, ["    a: 1\n", "    a: true\n", "    a:\n", "    1: x\n"], ["    a: [x]\n", "    a: {b: 1}\n"])
    return text


def manifest(r):
    if r.random() < 0.04:
        return gen_value.document(r, "map", 0) if r.random() < 0.2 else odd(r, ["# only a comment\n", "", "{}\n", "null\n", "a: {{ .Values.nope }}\n", "x: [1,\n  2]\n"], ["# only a comment\n", "", "text\n", "- a\n", "a: b: c\n", "\tx: 1\n", "a: {{ .Values.nope }}\n", "{}\n", "null\n", "kind: [a]\n"])
    head = ["apiVersion: %s\n" % r.choice(["v1", "apps/v1", "x/v1", "1", "~"]), "%s: %s\n" % (r.choice(["kind"] * 9 + ["Kind"]), r.choice(KINDS))]
    r.shuffle(head)
    body = r.choice(["data:\n  v: {{ .Values | toJson | b64enc | quote }}\n", "data: {{- .Values.a | toYaml | nindent 2 }}\n", "spec:\n  x: {{ .Values.m | default \"none\" | toJson }}\n", "",
                     "d: {{ .Chart | toJson | b64enc }}\n", "f: {{ .Files | toJson | b64enc }}\n", "t: {{ .Template.Name }} {{ .Template.BasePath }}\n", "s: |\n  a\n\n  b  \n", "g: {{ .Values.global | toJson | quote }}\n",
                     "i: {{ include \"name\" . | quote }}\n", "n: {{ $_ := set .Values \"seen\" .Template.Name }}{{ .Values | toJson | quote }}\n", "k: {{ keys .Subcharts | sortAlpha | join \",\" }}\n",
                     "c: {{ .Capabilities.KubeVersion }} {{ .Capabilities.KubeVersion.Minor }} {{ .Capabilities.APIVersions.Has \"foo/v1\" }}\n", "r: {{ .Release | toJson | quote }}\n",
                     "m: {{ range $k, $v := .Values }}{{ $k }}={{ $v | toJson | b64enc }} {{ end }}\n", "x: {{ range $n, $s := .Subcharts }}{{ $n }}:{{ $s.Values | toJson | b64enc }}:{{ $s.Chart.Version }} {{ end }}\n",
                     "{{- if .Values.a }}\na: 1\n{{- end }}\n", "y: {{ tpl (.Values.text | default \"-\") . | quote }}\n", "p: {{ toYamlPretty .Values | b64enc }}\n", "o: {{ toToml .Values | b64enc }}\n"])
    text = head[0] + head[1] + metadata_lines(r) + body
    return text


def template(r):
    text = r.choice(["", "", "", "# head\n", "{{- /* c */ -}}\n", "---\n", "\n\n---\n", "--- # x\n", "{{ if true }}\n", "\ufeff"])
    closing = "{{ end }}" if text.startswith("{{ if") else ""
    for n in range(r.choice([1, 1, 1, 2, 3])):
        text += (r.choice(["---\n", "---\n", "\n---\n", "--- \n", "---\n---\n", "---\t\n# c\n", "----\n", " ---\n", "---a: 1\n", "...\n---\n", "\r\n---\r\n"]) if n else "") + manifest(r)
    text += closing
    return text.replace("\n", "\r\n") if r.random() < 0.04 else text


def archive(r, folder, files):
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=r.choice([tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])) as t:
        for path, data in files.items():
            info = tarfile.TarInfo(folder + "/" + path)
            info.size = len(data)
            t.addfile(info, io.BytesIO(data))
    return gzip.compress(raw.getvalue(), mtime=0)


def subcharts(r, depth, meta, values, files):
    deps = []
    for name in r.sample(NAMES, r.choice([0, 1, 1, 2, 2, 3] if depth else [1, 2, 3])):
        version = r.choice(["1.2.3", "1.0.0", "0.1.0-rc.1"])
        below = chart(r, depth + 1, name, version)
        if r.random() < 0.4:
            files["charts/%s-%s.tgz" % (name, version)] = archive(r, name, below)
        else:
            files.update(("charts/%s/%s" % (name, path), data) for path, data in below.items())
        if r.random() < 0.85:
            deps.append(dependency(r, name, version))
        if r.random() < 0.05:
            deps.append(dict(dependency(r, name, version), alias=name + "two"))
        key = deps[-1].get("alias") or name if deps else name
        if r.random() < 0.6:
            values[r.choice([name, key])] = tree(r) if r.random() < 0.99 else r.choice([None, 5, "x", []])
        if r.random() < 0.4 and isinstance(values.get(name), dict):
            values[name]["enabled"] = r.choice([True, True, False, "x", None])
    if deps or r.random() < 0.1:
        meta["dependencies"] = deps


def chart(r, depth=0, name="c", version="0.1.0"):
    """{path: bytes} of a chart and all below it."""
    files, meta, values = {}, metadata(r, name, version), tree(r)
    if depth < 3 and (depth == 0 or r.random() < 0.45):
        subcharts(r, depth, meta, values, files)
    if r.random() < 0.6:
        values["exports"] = {"d": tree(r, 1), "e": r.choice([tree(r, 1), 5])}
    if r.random() < 0.5:
        values["global"] = dict(tree(r, 1), on=r.choice([True, False])) if r.random() < 0.98 else r.choice([None, 5, []])
    if r.random() < 0.3:
        values["tags"] = {t: r.choice([True, False, "x"]) for t in r.sample(["t1", "t2", "t3"], r.randint(0, 3))}
    if r.random() < 0.3:
        values["text"] = r.choice(["{{ .Release.Name }}", "{{ include \"name\" . }}", "plain", "{{ .Values.a }}", "{{ range until 2 }}{{ . }}{{ end }}", "a{{/* c */}}b", "{{ .Chart.Name }}"]) if r.random() < 0.97 else r.choice(["{{ .Values.text.x }}", "{{"])
    text = dump(r, values)
    if r.random() < 0.06:
        more = gen_value.document(r, "map", 0)
        text = more if r.random() < 0.5 else text + "more:\n" + "".join("  " + line + "\n" for line in gen_value.Document(r, 0).mapping(0, 2).split("\n")) if not text.startswith("{") else text
    if r.random() < 0.95:
        files["values.yaml"] = text.encode("utf-8", "surrogateescape")
    files["Chart.yaml"] = dump(r, meta).encode()
    files["templates/_helpers.tpl"] = ("{{ define \"name\" }}%s-{{ .Chart.Name }}{{ end }}" % name).encode()
    for n in range(r.randint(0, 3)):
        path = "templates/" + r.choice(["", "", "sub/", "Z/"]) + r.choice(["a", "b", "c", "z", "_p"]) + r.choice([".yaml", ".yaml", ".yml", ".txt", ".tpl", ".json"])
        files[path] = template(r).encode("utf-8", "surrogateescape")
    if r.random() < 0.2:
        files["templates/" + r.choice(["NOTES.txt", "x/NOTES.txt", "xNOTES.txt"])] = b"notes of {{ .Chart.Name }}: {{ .Values.a | toJson }}\n"
    if r.random() < 0.2:
        files["crds/" + r.choice(["a.yaml", "b.yml", "c.json", "d.txt", "sub/e.yaml"])] = r.choice([b"kind: CustomResourceDefinition\n", b"---\na: 1\n---\nb: 2\n", b"{{ x }}\n", b"", b"\n\n", b"# c"])
    if r.random() < 0.3:
        files[r.choice(["README.md", "f/x.txt", "LICENSE", "data.bin", ".hidden", "f/_y"])] = gen_text.string(r).encode("utf-8", "surrogateescape")
    if r.random() < 0.03:
        files["values.schema.json"] = json.dumps(gen_schema.for_values(r, values)).encode()
    if depth == 0 and r.random() < 0.08:
        files[".helmignore"] = "\n".join(r.choice(["*.txt", "# c", "templates/b.yaml", "sub/", "!*.yaml", "/a", "[ab].yaml", "f/", "*.tgz", "NOTES.txt", " "]) for _ in range(r.randint(1, 2))).encode()
    return files


def set_path(r):
    return r.choice(["a", "b", "m", "a.b", "a1.n", "s1.a", "s1.a.b", "s2.enabled", "s1.s2.a", "s1.s2.s3.m", "tags.t1", "tags.t2", "global.a", "global.on", "global.a.b", "s1x.a", "s1", "s2", "global", "l[0]", "l[1].x",
                     "a.l[2]", "m1", "text", "s3.exports.d.a", "exports.d.b", "k\\.x", "a.b.c"])


def overrides(r, files):
    """One source of user values."""
    kind = r.choice(["--set"] * 4 + ["-f"] * 3 + ["--set-string", "--set-json", "--set-literal", "--set-file"])
    if kind == "-f":
        name = "v%d.yaml" % len(files)
        v = tree(r)
        for sub in r.sample(NAMES + ["s1x", "global", "tags"], r.randint(0, 3)):
            v[sub] = tree(r) if sub != "tags" else {"t1": r.choice([True, False]), "t2": r.choice([True, False])}
        files["../" + name] = (dump(r, v) if r.random() < 0.95 else gen_value.document(r, "map", 0)).encode("utf-8", "surrogateescape")
        return ["-f", name]
    if kind == "--set-json":
        return [kind, "%s=%s" % (set_path(r), json.dumps(tree(r) if r.random() < 0.5 else gen_value.value(r, 3)))] if r.random() < 0.9 else [kind, json.dumps(tree(r))]
    if kind == "--set-file":
        files["../file.txt"] = b"text\nof file\n"
        return [kind, "%s=%s" % (set_path(r), "file.txt")]
    value = r.choice(["null", "1", "true", "false", "x", "", "{a,b}", "{}", "1.5", "a\\,b", "null", "0x1", "{{ .Release.Name }}"])
    return [kind, ",".join("%s=%s" % (set_path(r), value) for _ in range(r.choice([1, 1, 2])) if kind != "--set-literal") or "a.b=" + value]


def flags(r, files):
    """A command line for the chart; files gets what it names."""
    args = []
    for _ in range(r.choice([0, 0, 1, 1, 2, 3])):
        args += overrides(r, files)
    for chance, flag in ((0.15, ["--no-hooks"]), (0.1, ["--skip-tests"]), (0.3, ["--include-crds"]), (0.15, ["--is-upgrade"]), (0.1, ["--render-subchart-notes"]), (0.05, ["--skip-schema-validation"]),
                         (0.15, ["--kube-version", odd(r, ["1.29", "v1.29.3", "1.29.3-gke.1", "v1.30.0+k3s1"], ["1.19.0", "x", "1"])]), (0.1, ["--api-versions", r.choice(["foo/v1", "foo/v1,bar/v1", "a/b/C"])]),
                         (0.15, ["-n", r.choice(["ns", "x-y", "kube-system"])]), (0.05, ["--output-dir", "out"])):
        if r.random() < chance:
            args += flag
    shown = [p for p in files if "templates/" in p and not p.startswith("../")]
    if shown and r.random() < 0.12:
        args += ["-s", r.choice([r.choice(shown), "templates/*.yaml", "templates/nope.yaml", "charts/*/templates/*", "templates/a.yaml", "templates/*"])]
    return args
