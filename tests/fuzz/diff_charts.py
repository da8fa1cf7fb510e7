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

STRINGS = ['""', '"a"', '"abc"', '"hello world"', '"Hello-World_x2"', '"é€😀"', '"a,b,,c"', '"1.2.3"', '"v1.4.0-rc.1"',
           '"  pad  "', '"line1\\nline2\\n"', '"true"', '"null"', '"0x1F"', '"012"', '"1e3"', '"-5"', '"a: b"', '"- x"',
           '"{\\"k\\": [1, 2.5, null, \\"s\\"]}"', '"k: [a, {b: 1}]\\nz: ~"', '"x=1"', '"%d%s"', '"http://u:p@h:80/p?q=1#f"',
           '"/a/b/../c.tar.gz"', '"YWJj"', '"\\t\\x01\\u2028"', '"a\\\\b\\"c"', '"yes"', '"2020-01-02"', '"1:30"', '"#c"',
           '"' + 'word ' * 30 + '"', '"a  b\\n  c"', '"\\n"', '"é\\u0301"', '"100%"', '"2021-03-04"', '`raw\\n`']
INTS = ['0', '1', '2', '3', '-1', '7', '10', '100', '1000000', '-3', '0x1f', "'x'"]
FLOATS = ['0.0', '1.5', '-2.25', '1e6', '1e21', '0.1', '1e-7', '123456.789', '3.0', '1e300']
PATTERNS = ['"a"', '"[a-z]+"', '"^.*$"', '"(a)(b)?"', '"\\\\d+"', '"\\\\s*"', '"x*"', '"(?i)HELLO"', '"[^a-c]"', '"\\\\bw"',
            '"(?P<n>l+)"', '"."', '"o|e"', '"l{2}"', '"\\\\."']
LAYOUTS = ['"2006-01-02"', '"Mon Jan _2 15:04:05 2006"', '"Monday, 02-Jan-06 03:04PM MST"', '"2006-01-02T15:04:05.000Z07:00"', '"__2 002 06 1 2"']
RANGES = ['">=1.0.0"', '"^1.2"', '"~1.2.3"', '"1.x || >=2.5.0 <3"', '"*"', '">1.0.0-0"', '"1.0 - 1.5"', '"!=1.2.3"']
PATHS = ['.Values.str', '.Values.int', '.Values.float', '.Values.t', '.Values.nil', '.Values.list', '.Values.map',
         '.Values.map.a', '.Values.map.deep.x', '.Values.nope', '.Values.empty', '.Values.mixed', '.Values.text', '$.Values.big']
# name: (result, parameters); s string, i int, k small int, f float, b bool, l list, m map, v anything, r pattern
FUNCTIONS = {}


def table(text):
    for line in text.split("\n"):
        if line.strip():
            result, params, names = line.split(None, 2)
            for name in names.split():
                FUNCTIONS[name] = (result, "" if params == "-" else params)


table("""
s s upper lower title untitle trim nospace initials swapcase snakecase camelcase kebabcase sha1sum sha256sum adler32sum b64enc b64dec b32enc base dir clean ext regexQuoteMeta squote js html urlquery
s is trunc wrap abbrev
s ks indent nindent repeat
s iis substr abbrevboth
s ss trimSuffix trimPrefix trimAll
s sss replace
s v toString quote squote toYaml toJson toPrettyJson toRawJson typeOf kindOf print toYamlPretty durationRound duration
s vv cat print println
s sl join
s ssi plural
s iss wrapWith
b ss contains hasPrefix hasSuffix
b rs regexMatch
s rs regexFind
s rss regexReplaceAll regexReplaceAllLiteral
l rsi regexFindAll regexSplit
l ss splitList
m ss split
m sis splitn
l k until
l kkk untilStep
s kk seq
l l rest initial reverse uniq compact toStrings sortAlpha
v l first last
l lv append prepend without
l ll concat
l lii slice
l kl chunk
b vl has
l vv list
l vvv list tuple
l - list
m sv dict
m svsv dict
m - dict
v ms get
m msv set
m ms unset pick omit
b ms hasKey
l sm pluck
v mm merge mergeOverwrite
v ssvm dig
v v deepCopy
v vv default coalesce
v vvb ternary
b v empty not
b vv deepEqual and or any all
b ii eq ne lt le gt ge
b ss eq ne lt
b sv typeIs kindIs
i v int len
i s atoi
i v int64 add1 floor ceil float64 toDecimal
i vv add sub mul max min div mod
f vv addf subf mulf divf maxf minf
f vi round
m s fromYaml fromJson urlParse
m T fromToml
l s fromYamlArray fromJsonArray
s m urlJoin toToml
v li index
v ms index
s Lt date
s Lts dateInZone
b RV semverCompare
""")


class Gen:
    def __init__(self, rnd):
        self.r = rnd
        self.vars = []

    def expr(self, kind, depth):
        r = self.r
        if kind == "T":
            return r.choice(['"a = 1\\n[b]\\nc = [1, 2.5]\\nd = \\"x\\""', '""', '"[[t]]\\nx = true\\n[[t]]\\nx = 1979-05-27"'])
        if kind == "k":
            return r.choice(["0", "1", "2", "3", "5", "-2", "-1", "12"])
        if kind == "L":
            return r.choice(LAYOUTS)
        if kind == "R":
            return r.choice(RANGES)
        if kind == "V":
            return r.choice(['"1.2.3"', '"2.0.0-rc.1"', '"v1.5"', '"0.1.0"', '"3.2.1+b"'])
        if kind == "t":
            return r.choice(['(toDate "2006-01-02" "2021-03-04")', "1600000000", "(int64 0)"])
        if kind == "r":
            return r.choice(PATTERNS)
        if depth <= 0 or r.random() < 0.25:
            return self.leaf(kind)
        names = [n for n, (res, _) in FUNCTIONS.items() if res == kind or kind == "v" or (kind == "i" and res == "i")]
        if not names:
            return self.leaf(kind)
        return "(" + self.call(r.choice(names), depth - 1) + ")"

    def leaf(self, kind):
        r = self.r
        if kind == "s":
            return r.choice(STRINGS + ['.Values.str', '.Values.text'])
        if kind == "i":
            return r.choice(INTS)
        if kind == "f":
            return r.choice(FLOATS)
        if kind == "b":
            return r.choice(["true", "false"])
        if kind == "l":
            return r.choice(['(list)', '(list 1 "a" nil 2.5)', '.Values.list', '.Values.mixed', '(splitList "," "b,a")'])
        if kind == "m":
            return r.choice(['(dict)', '(dict "a" 1 "b" (dict "c" "d"))', '.Values.map', '.Values.map.deep'])
        pool = [self.leaf(k) for k in "sifblm"] + PATHS + [r.choice(PATHS)]
        if self.vars:
            pool += self.vars
        return r.choice(pool)

    def call(self, name, depth):
        params = FUNCTIONS[name][1]
        args = [self.expr(p, depth) for p in params]
        if args and self.r.random() < 0.3 and not args[-1].startswith("-"):
            last = args.pop()
            last = last[1:-1] if last.startswith("(") and self.balanced(last) else last
            return "%s | %s" % (last, " ".join([name] + args))
        return " ".join([name] + args)

    @staticmethod
    def balanced(text):
        depth = 0
        for i, c in enumerate(text):
            depth += (c == "(") - (c == ")")
            if depth == 0 and i < len(text) - 1:
                return False
        return '"' not in text

    def action(self, depth):
        r = self.r
        what = r.random()
        trim = (r.choice(["", "- "]), r.choice(["", " -"]))
        if what < 0.55 or depth <= 0:
            name = r.choice(list(FUNCTIONS))
            return "{{%s %s%s }}" % (trim[0], self.call(name, r.randint(0, 3)), trim[1])
        if what < 0.65:
            return "{{%s printf %s %s%s }}" % (trim[0], r.choice(['"%v"', '"%s|%q"', '"%5d|%-6v|"', '"%x %t %T"', '"%+.2e %g"', '"%03d %v"', '"%#v"', '"%*d"']),
                                             " ".join(self.expr("v", 1) for _ in range(r.randint(0, 3))), trim[1])
        body = self.body(depth - 1)
        if what < 0.75:
            return "{{ if %s }}%s{{ else }}%s{{ end }}" % (self.expr("v", 2), body, self.body(depth - 1))
        if what < 0.83:
            return "{{ range $k, $v := %s }}%s{{ else }}none{{ end }}" % (self.expr(r.choice("lm"), 2), self.with_vars(["$k", "$v"], depth))
        if what < 0.88:
            return "{{ range %s }}{{ . }}{{ if eq . 1 }}{{ break }}{{ end }}{{ end }}" % r.choice(["3", "(until 4)", "(int 2)"])
        if what < 0.94:
            return "{{ with %s }}[{{ . }}]{{ else }}%s{{ end }}" % (self.expr("v", 2), body)
        name = "$x%d" % len(self.vars)
        text = "{{ %s := %s }}" % (name, self.expr("v", 2))
        self.vars.append(name)
        return text + "{{ %s }}" % name

    def with_vars(self, names, depth):
        mark = len(self.vars)
        self.vars += names
        text = self.body(depth - 1)
        del self.vars[mark:]
        return text

    def body(self, depth):
        mark = len(self.vars)
        text = ""
        for _ in range(self.r.randint(1, 3)):
            text += self.r.choice(["", " ", "\n", "text ", "a: "]) + self.action(depth)
        del self.vars[mark:]
        return text


VALUES = """str: hello
int: 3
float: 2.5
t: true
nil: null
empty: ""
big: 1234567
text: "multi\\nline: x\\n"
list: [3, 1, 2]
mixed: [a, 1, null, {k: v}, [x]]
map: {a: 1, b: two, deep: {x: [1, 2], y: {z: null}}, "n o": 5}
"""


def run(command, chart):
    p = subprocess.run(command + ["template", "rel", chart], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=20,
                       env=dict(os.environ, TZ="UTC"))
    err = b"\n".join(l for l in p.stderr.split(b"\n") if b"level=WARN" not in l)
    return p.returncode, p.stdout.decode("utf-8", "surrogateescape"), err.decode("utf-8", "surrogateescape")


def pieces(text):
    """File -> rendered text, taken out of the base64 that keeps it from being read as YAML."""
    found = {}
    for name, value in re.findall(r'# Source: c/templates/(f\d+)\.yaml\nv: "([^"]*)"', text):
        found[name] = base64.b64decode(value).decode("utf-8", "surrogateescape")
    return found


def compare(helm, alm, chart, report):
    """Runs both until helm succeeds, taking out the files that fail. Returns (agreed, differing)."""
    good = bad = 0
    while True:
        want, got = run(helm, chart), run(alm, chart)
        if want[0] == 0 and got[0] == 0:
            w, g = pieces(want[1]), pieces(got[1])
            for name in sorted(set(w) | set(g)):
                if w.get(name) == g.get(name):
                    good += 1
                else:
                    bad += 1
                    report(chart, name, w.get(name), g.get(name))
            return good, bad
        m = re.search(r"c/templates/(f\d+)\.yaml", want[2] if want[0] else got[2])
        if not m:
            report(chart, "?", want[2] or "ok", got[2] or "ok")
            return good, bad + 1
        if want[2] == got[2]:
            good += 1
        else:
            bad += 1
            report(chart, m[1], want[2] or "ok", got[2] or "ok")
        os.remove(os.path.join(chart, "templates", m[1] + ".yaml"))


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
            os.makedirs(os.path.join(chart, "templates"))
            open(os.path.join(chart, "Chart.yaml"), "w").write("apiVersion: v2\nname: c\nversion: 0.1.0\n")
            for name, body in (("values.yaml", values), ("templates/t.yaml", text)):
                open(os.path.join(chart, name), "w", encoding="utf-8", errors="surrogateescape").write(body)
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

    def report(chart, name, want, got):
        path = os.path.join(chart, "templates", name + ".yaml")
        text = open(path).read() if os.path.exists(path) else ""
        print("DIFF %s\n  template: %s\n  helm: %r\n  alm:  %r" % (name, text, want, got))
        if o.keep and text:
            os.makedirs(o.keep, exist_ok=True)
            open(os.path.join(o.keep, "%d-%s" % (o.seed, name)), "w").write(text)

    if o.mutate:
        total = mutate(helm, alm, o.seed, o.mutate, report)
    for n in range(0 if o.mutate else o.charts):
        rnd = random.Random((o.seed << 20) + n)
        with tempfile.TemporaryDirectory() as dir:
            chart = os.path.join(dir, "c")
            os.makedirs(os.path.join(chart, "templates"))
            open(os.path.join(chart, "Chart.yaml"), "w").write("apiVersion: v2\nname: c\nversion: 0.1.0\n")
            open(os.path.join(chart, "values.yaml"), "w").write(VALUES)
            for i in range(o.files):
                text = '{{- define "e%03d" }}%s{{ end -}}\nv: {{ include "e%03d" (deepCopy (dict "Values" (merge (dict) .Values))) | b64enc | quote }}\n' % (
                    i, Gen(rnd).body(2), i)
                open(os.path.join(chart, "templates", "f%03d.yaml" % i), "w").write(text)
            try:
                good, bad = compare([helm], [alm], chart, report)
            except subprocess.TimeoutExpired as e:
                print("chart %d: %s takes too long, left out" % (n, e.cmd[0]))
                continue
            total[0] += good
            total[1] += bad
    print("seed %d: %d agree, %d differ" % (o.seed, total[0], total[1]))
    return 1 if total[1] else 0


if __name__ == "__main__":
    sys.exit(main())
