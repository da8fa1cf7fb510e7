#!/usr/bin/env python3
"""Differential fuzzing: random charts with structure, schemas and YAML texts through the real helm and through alm template.

diff_trees.py [--seed N] [--charts N] [--only trees|schemas|yaml] [--keep DIR]
$HELM is the reference binary (4.1.x); without one this prints a line and succeeds. $ALM is the program
under test (build/alm). Status, output and error text must be equal; warnings have words of their own. Python's library only.
"""
import argparse
import base64
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

import gen_chart
import gen_schema
import gen_value

RUNS = 3  # command lines for each chart
DOCUMENTS = 60  # texts in one chart


def write(folder, files):
    for name, data in files.items():
        path = os.path.normpath(os.path.join(folder, "c", name))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode("utf-8", "surrogateescape"))


def ordered(text):
    """Helm names the failures of a schema in the order of a Go map."""
    at = text.find("values don't meet the specifications of the schema(s)")
    if at < 0:
        return text
    names = re.sub(r"(additional properties )(.*)( not allowed)", lambda m: m[1] + ", ".join(sorted(m[2].split(", "))) + m[3], text[at:])
    return text[:at] + "\n".join(sorted(names.split("\n")))


def written(folder):
    """The files of --output-dir, one after the other; takes them away."""
    text = ""
    for path, _, names in sorted(os.walk(os.path.join(folder, "out"))):
        for name in sorted(names):
            with open(os.path.join(path, name), "rb") as f:
                text += "\n== %s\n%s" % (os.path.relpath(os.path.join(path, name), folder), f.read().decode("utf-8", "surrogateescape"))
    shutil.rmtree(os.path.join(folder, "out"), ignore_errors=True)
    return text


def run(binary, folder, args):
    p = subprocess.run([binary, "template", "rel", "c"] + args, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30, env={"HOME": folder, "PATH": "/usr/bin:/bin", "TZ": "UTC"})
    err = p.stderr.decode("utf-8", "surrogateescape").replace(folder, "DIR")
    return p.returncode, p.stdout.decode("utf-8", "surrogateescape") + written(folder), ordered("\n".join(line for line in err.split("\n") if not line.startswith("level=")))


def decoded(line):
    """A line whose value is base64, readable; with the number of the text it belongs to."""
    m = re.match(r'd(\d+)\.(\d): "([^"]*)"$', line)
    return "text %s, form %s: %s" % (m[1], m[2], base64.b64decode(m[3]).decode("utf-8", "surrogateescape")) if m else line


def near(text, other):
    pair = next(((a, b) for a, b in zip(text.split("\n"), other.split("\n")) if a != b), None)
    if pair and pair[0].startswith("d") and pair[1].startswith("d"):
        text, other = decoded(pair[0]), decoded(pair[1])
    at = len(os.path.commonprefix([text, other]))
    return text[max(0, at - 250):at + 350]


class Fuzz:
    def __init__(self, helm, alm, keep):
        self.helm, self.alm, self.keep, self.good, self.bad, self.failed = helm, alm, keep, 0, 0, 0

    def compare(self, what, folder, args):
        want, got = run(self.helm, folder, args), run(self.alm, folder, args)
        self.failed += want[0] != 0
        if want == got or any(run(self.helm, folder, args) == got for _ in range(5)):
            self.good += 1
            return self.without_culprit(folder, want[2])
        self.bad += 1
        part = next(i for i in range(3) if want[i] != got[i])
        texts = [str(x[part]) for x in (want, got)] if part != 1 else [want[1], got[1]]
        if part == 0:
            texts = [str(want[0]) + want[2], str(got[0]) + got[2]]
        print("DIFF %s %s\n  helm: %r\n  alm:  %r" % (what, args, near(texts[0], texts[1]), near(texts[1], texts[0])), flush=True)
        if self.keep:
            to = os.path.join(self.keep, re.sub(r"\W+", "-", what))
            shutil.rmtree(to, ignore_errors=True)
            shutil.copytree(folder, to)
            with open(os.path.join(to, "args"), "w", encoding="utf-8", errors="surrogateescape") as f:
                f.write(" ".join("'%s'" % a for a in args))
        return False

    @staticmethod
    def without_culprit(folder, error):
        """Takes out the file an error names; True if there is nothing to take out."""
        m = re.search(r"\bc/((?:charts/[^/]+/)*templates/[\w./-]+\.\w+)", error)
        path = os.path.join(folder, "c", m[1]) if m else ""
        if os.path.isfile(path):
            os.remove(path)
            return None
        return True

    def trees(self, what, r):
        with tempfile.TemporaryDirectory() as folder:
            files = gen_chart.chart(r)
            lines = [gen_chart.flags(r, files) for _ in range(RUNS)]
            write(folder, files)
            for args in lines:
                again = None
                while again is None:
                    again = self.compare(what, folder, args)
                if not again:
                    return

    def schemas(self, what, r):
        """One schema and several values, each a -f file."""
        with tempfile.TemporaryDirectory() as folder:
            write(folder, {"Chart.yaml": "apiVersion: v2\nname: c\nversion: 0.1.0\n", "values.schema.json": gen_schema.text(r), "templates/a.yaml": "a: {{ .Values | toJson | quote }}\n"})
            for n in range(6):
                write(folder, {"../v.yaml": json.dumps({k: gen_schema.value(r) for k in r.sample(gen_schema.KEYS, r.randint(0, 6))})})
                if not self.compare(what, folder, ["-f", "v.yaml"]):
                    return

    def yaml(self, what, r):
        """Texts read by fromYaml in one chart, and the first of them as a -f file and as a template."""
        texts = [gen_value.document(r) for _ in range(DOCUMENTS)]
        with tempfile.TemporaryDirectory() as folder:
            write(folder, {"Chart.yaml": "apiVersion: v2\nname: c\nversion: 0.1.0\n", "values.yaml": gen_value.exact({"docs": texts})})
            dump = ["fromYaml $d | toJson", "fromYaml $d | toYaml", "fromYamlArray $d | toJson", "fromYaml $d | toYamlPretty", "fromYaml $d | toToml", "$d | toYaml", "fromYaml $d | toYaml | fromYaml | toJson",
                    "list $d | toYamlPretty"]
            write(folder, {"templates/t.yaml": "{{ range $i, $d := .Values.docs }}" + "".join("d{{ $i }}.%d: {{ %s | b64enc | quote }}\n" % (n, e) for n, e in enumerate(dump)) + "{{ end }}"})
            self.compare(what, folder, [])
            write(folder, {"templates/t.yaml": "v: {{ .Values | toJson | b64enc | quote }}\n"})
            for text in texts[:4]:
                write(folder, {"../v.yaml": text})
                self.compare(what + "f", folder, ["-f", "v.yaml"])
            for text in texts[4:8]:
                write(folder, {"templates/t.yaml": text.replace("{{", "{ {")})
                self.compare(what + "t", folder, [])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--charts", type=int, default=20)
    p.add_argument("--only", default="")
    p.add_argument("--keep", help="copy differing charts here")
    o = p.parse_args()
    helm = os.environ.get("HELM") or shutil.which("helm")
    if not helm or not os.access(helm, os.X_OK):
        print("diff_trees: no helm ($HELM), skipped")
        return 0
    fuzz = Fuzz(os.path.abspath(helm), os.path.abspath(os.environ.get("ALM", "build/alm")), o.keep)
    for n in range(o.charts):
        for kind in ("trees", "schemas", "yaml"):
            if o.only in ("", kind):
                try:
                    getattr(fuzz, kind)("%s-%d-%d" % (kind, o.seed, n), random.Random("%d/%d/%s" % (o.seed, n, kind)))
                except subprocess.TimeoutExpired as e:
                    print("%s %d: %s takes too long, left out" % (kind, n, e.cmd[0]))
    print("seed %d: %d agree (%d of all fail), %d differ" % (o.seed, fuzz.good, fuzz.failed, fuzz.bad))
    return 1 if fuzz.bad else 0


if __name__ == "__main__":
    sys.exit(main())
