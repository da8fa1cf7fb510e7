#!/usr/bin/env python3
"""Differential fuzzing: random templates and values through the real helm and through alm template.

diff_charts.py [--seed N] [--charts N] [--files N] [--keep DIR]
diff_charts.py [--seed N] --mutate N     recorded templates with tokens changed: mostly errors
$HELM is the reference binary (4.1.x); without one this prints a line and succeeds. $ALM is the
program under test (build/alm). Many templates go into one chart, each its own file; a file that
fails in helm must fail in alm with the same text, and is then taken out. Python's library only.
"""
import argparse
import base64
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

from gen_template import NEVER, Template

VALUES = """str: hello
int: 3
float: 2.5
t: true
nil: null
empty: ""
big: 1234567
text: "multi\\nline: x\\n"
list: [3, 1, 2]
nums: [0.1, 1e6, -0.0, 12345678901, 1e21, 9007199254740993]
mixed: [a, 1, null, {k: v}, [x]]
map: {a: 1, b: two, deep: {x: [1, 2], y: {z: null}}, "n o": 5}
maps: [{a: 1, n: x}, {a: null, n: y}, {}]
emptymap: {}
yamls: ["a: 1", "- x", "'", "{b: [1, ~]}"]
tpls:
  a: "{{ .Values.str | upper }}{{ include \\"h.self\\" (dict \\"n\\" 2) }}"
  b: "{{ range $i, $e := .Values.list }}{{ $i }}={{ $e }};{{ end }}"
  bad: "x{{ .Values.str.y }}"
  nest: "[{{ tpl .Values.tpls.a . }}{{ tpl .Values.tpls.b $ }}]"
  l: ["{{ define \\"t.x\\" }}d{{ . }}{{ end }}{{ template \\"t.x\\" 5 }}", "{{ fail \\"no\\" }}"]
"""
HELPERS = """{{ define "h.self" }}{{ if not (kindIs "map" .) }}{{ kindOf . }}{{ else if gt (int .n) 0 }}{{ .n }}({{ include "h.self" (dict "n" (sub (int .n) 1)) }}){{ end }}{{ end }}
{{- define "h.args" -}} {{ . | toJson }} {{- end -}}
{{ define "h.count" }}{{ range $i, $x := until 3 }}{{ $i }}{{ template "h.args" $x }}{{ end }}{{ end }}
{{ define "h.none" }}{{ if kindIs "map" . }}{{ (.Values).nope }}{{ end }}|{{ . | kindOf }}{{ end }}
"""
FILES = {"Chart.yaml": """apiVersion: v2
name: c
version: 0.1.0
appVersion: "1.10"
kubeVersion: ">=1.20.0-0"
home: http://h
keywords: [k1, k2]
annotations: {k: v, "x/y": "1"}
maintainers: [{name: m, email: m@x}]
dependencies: [{name: sub, version: 1.x.x, repository: "", tags: [t]}]
""", "values.yaml": VALUES, "templates/_h.tpl": HELPERS, "f.txt": "one\ntwo\n", "e.txt": "", "d/a.txt": "A\n", "d/b.bin": "\x01b", "d/e/z.txt": "deep",
         "charts/sub/Chart.yaml": "apiVersion: v2\nname: sub\nversion: 1.2.3\n", "charts/sub/values.yaml": "a: {b: 1}\n", "charts/sub/templates/_x.tpl": "{{ define \"sub.x\" }}{{ .Values.a }}{{ end }}",
         "charts/sub/s.txt": "sub"}


def write(chart, files):
    for name, text in files.items():
        path = os.path.join(chart, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as f:
            f.write(text)


def template_file(rnd, name, used):
    """A template's file: its result as base64 in a scope of its own values, or as it is in a block scalar."""
    t = Template(rnd)
    text = t.body(2)
    if rnd.random() < 0.2:
        text = "{{ define \"d%s\" }}%s{{ end }}%s{{ template \"d%s\" %s }}" % (name, t.body(1), text, name, t.expr("v", 1))
    used |= t.used
    if rnd.random() < 0.1:
        text = "{{ block \"b%s\" . }}%s{{ end }}%s" % (name, t.body(1), text)
    if rnd.random() < 0.2:
        return "v: |-\n  " + text + "\n"
    scope = "(dict \"Values\" (deepCopy .Values) \"Chart\" .Chart \"Release\" .Release \"Capabilities\" .Capabilities \"Files\" .Files \"Template\" .Template \"Subcharts\" .Subcharts)"
    return "{{- define \"e%s\" }}%s{{ end -}}\nv: {{ include \"e%s\" %s | b64enc | quote }}\n" % (name, text, name, rnd.choice([scope, scope, "."]))


def run(command, chart):
    p = subprocess.run(command + ["template", "rel", chart], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=20,
                       env=dict(os.environ, TZ="UTC"))
    err = b"\n".join(l for l in p.stderr.split(b"\n") if b"level=WARN" not in l)
    return p.returncode, p.stdout.decode("utf-8", "surrogateescape"), err.decode("utf-8", "surrogateescape")


def pieces(text):
    """File -> rendered text, taken out of the base64 that keeps it from being read as YAML; "" -> all the rest."""
    found = {}
    pattern = r'# Source: c/templates/(f\d+)\.yaml\nv: "([^"]*)"'
    for name, value in re.findall(pattern, text):
        found[name] = base64.b64decode(value).decode("utf-8", "surrogateescape")
    found[""] = re.sub(pattern, "", text)
    return found


def masked(text):
    """Text without addresses of memory, which change from run to run, and the names of helm's build."""
    return text and re.sub(r"go1\.26\.\d+", "go1.26", re.sub(r"0x[0-9a-f]{9,12}\b", "0xPTR", text)).replace("v4.1.4", "v4.1")


def answer(result, name):
    """What a run says about one file: its text, or the error if any file fails."""
    return masked(result[2] if result[0] else pieces(result[1]).get(name))


def varies(helm, chart, name, want):
    """Whether helm answers something else the next times: the order of a Go map."""
    return any(answer(run(helm, chart), name) != answer(want, name) for _ in range(4))


def culprit(want, got):
    """The file to judge: files run from the last name to the first, so the greater one fails first."""
    found = [re.search(r"c/templates/(f\d+)\.yaml", r[2]) for r in (want, got) if r[0]]
    return max(m[1] if m else "?" for m in found)


def compare(helm, alm, chart, report):
    """Runs both until both succeed, taking out the files that fail. Returns (agreed, differing)."""
    good = bad = 0

    def judge(name, want, got):
        nonlocal good, bad
        if answer(want, name) == answer(got, name) or varies(helm, chart, name, want):
            good += 1
        else:
            bad += 1
            report(chart, name, answer(want, name), answer(got, name))

    while True:
        want, got = run(helm, chart), run(alm, chart)
        if want[0] == 0 and got[0] == 0:
            for name in sorted(set(pieces(want[1])) | set(pieces(got[1]))):
                judge(name, want, got)
            return good, bad
        name = culprit(want, got)
        judge(name, want, got)
        if name == "?":
            return good, bad
        os.remove(os.path.join(chart, "templates", name + ".yaml"))


def near(text, other):
    """The part of text around the first difference from other."""
    text, other = text or "", other or ""
    at = len(os.path.commonprefix([text, other]))
    return text[max(0, at - 200):at + 300]


def golden(folder):
    """(values, template) of the recorded cases that have nothing else."""
    found = []
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".cases"):
            continue
        text = open(os.path.join(folder, name), encoding="utf-8", errors="surrogateescape").read()
        for case in text.split("\n\n"):
            lines = case.strip("\n").split("\n")
            if any(l[:1] in "fFlLaAmMVT" for l in lines) or not any(l.startswith("t") for l in lines):
                continue
            found.append(tuple("\n".join(l[2:] for l in lines if l.startswith(k)) for k in "vt"))
    return [c for c in found if not re.search(r"rand|shuffle|uuid|gen[PCS]|bcrypt|htpasswd|AES|now|ago|keys|values|pluck|%p|fromToml", c[1])]


TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|`[^`]*`|\{\{-?|-?\}\}|[$.]?\w+|\s+|:=|.', re.S)


def mutated(rnd, cases):
    values, text = rnd.choice(cases)
    tokens, others = TOKEN.findall(text), TOKEN.findall(rnd.choice(cases)[1])
    for _ in range(rnd.randint(1, 3)):
        at = rnd.randrange(len(tokens) or 1)
        what = rnd.random()
        if what < 0.35 and tokens:
            del tokens[at]
        elif what < 0.6 and others:
            tokens.insert(at, rnd.choice(others))
        elif what < 0.8 and others and tokens:
            tokens[at] = rnd.choice(others)
        elif tokens:
            other = rnd.randrange(len(tokens))
            tokens[at], tokens[other] = tokens[other], tokens[at]
    return values, "".join(tokens)


def mutate(helm, alm, seed, count, report):
    """Recorded templates with tokens changed, each a chart of its own: mostly errors."""
    cases = golden("tests/golden/charts")
    good = bad = 0
    for n in range(count):
        values, text = mutated(random.Random((seed << 20) + n), cases)
        if re.search(r"\d{6,}|\d[eE]\d", text) and re.search("until|repeat|indent|seq|%", text):
            continue
        with tempfile.TemporaryDirectory() as dir:
            chart = os.path.join(dir, "c")
            write(chart, {"Chart.yaml": "apiVersion: v2\nname: c\nversion: 0.1.0\n", "values.yaml": values, "templates/t.yaml": text})
            try:
                want, got = run([helm], chart), run([alm], chart)
            except subprocess.TimeoutExpired:
                continue
            if want == got:
                good += 1
            else:
                bad += 1
                report(chart, "t", want[1] + want[2], got[1] + got[2])
    return good, bad


def known():
    """Every function of the engine but those whose results cannot be compared."""
    with open("tests/golden/charts/coverage.txt") as f:
        return {line.split()[0] for line in f if line.strip() and line[0] != "#"} - NEVER


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--charts", type=int, default=10)
    p.add_argument("--files", type=int, default=60)
    p.add_argument("--mutate", type=int, default=0, help="so many changed golden templates instead")
    p.add_argument("--keep", help="copy differing templates here")
    o = p.parse_args()
    helm = os.environ.get("HELM") or shutil.which("helm")
    if not helm or not os.access(helm, os.X_OK):
        print("diff_charts: no helm ($HELM), skipped")
        return 0
    alm = os.environ.get("ALM", "build/alm")
    total = [0, 0]
    used = set()

    def report(chart, name, want, got):
        path = os.path.join(chart, "templates", name + ".yaml")
        text = open(path).read() if os.path.exists(path) else ""
        print("DIFF %s\n  template: %s\n  helm: %r\n  alm:  %r" % (name, text, near(want, got), near(got, want)), flush=True)
        if o.keep and text:
            os.makedirs(o.keep, exist_ok=True)
            open(os.path.join(o.keep, "%d-%s" % (o.seed, name)), "w").write(text)

    if o.mutate:
        total = mutate(helm, alm, o.seed, o.mutate, report)
    for n in range(0 if o.mutate else o.charts):
        rnd = random.Random((o.seed << 20) + n)
        with tempfile.TemporaryDirectory() as dir:
            chart = os.path.join(dir, "c")
            write(chart, dict(FILES, **{"templates/f%03d.yaml" % i: template_file(rnd, "%03d" % i, used) for i in range(o.files)}))
            try:
                good, bad = compare([helm], [alm], chart, report)
            except subprocess.TimeoutExpired as e:
                print("chart %d: %s takes too long, left out" % (n, e.cmd[0]))
                continue
            total[0] += good
            total[1] += bad
    print("seed %d: %d agree, %d differ" % (o.seed, total[0], total[1]))
    if not o.mutate:
        print("functions never called: %s" % (" ".join(sorted(known() - used)) or "none"))
    return 1 if total[1] else 0


if __name__ == "__main__":
    sys.exit(main())
