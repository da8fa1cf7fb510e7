#!/usr/bin/env python3
"""diff.py [--seed N] [--runs N] ALM HELM: differential fuzzing of the chart engine.

Random values, YAML documents, --set strings and dependency trees go through `helm template` and
`alm template`; outputs are compared byte for byte, failures by status. Many cases go into one chart
(each result is base64 on a line of its own), since a process start costs more than a case."""
import argparse, base64, json, os, random, shutil, subprocess, sys, tempfile

WORDS = ["a", "b1", "a10", "A", "x-y", "x.y", "yes", "n", "true", "null", "~", "1", "01", "0x1F", "1e3", "1.5", "-1",
         ".5", "", " ", "a b", "a: b", "a #b", "#a", "- a", "-", "?", "[a", "{a", "'a", "\"a", "a'b", "%a", "@a", "`a",
         "2020-01-02", "2020-13-02", "1:30", "12:30:45", "1_000", "0o17", "0b11", "é", "日本", "😀", "a\tb", "a\nb",
         "a\nb\n", "a\n\nb\n\n", "\na", " a\nb", "a \nb", "x" * 90, "word " * 30, ("ab  " * 40).strip(), "<<", "=", "*a",
         "&a", "!a", "|", ">", "---", "--- a", "...", "a:", ":a", "on", "Off", "\u2028x", "a\u0085b", "\u00a0", "a\rb",
         "\ufeffa", "0", "00", "+5", "1.", "1e", "0x", "08", "1e400", ".inf", ".nan", "NULL", "nULL", "Y", "{{ x }}",
         "a,b", "a]", "<a>", "a&b", "\\", "\"", "it's", "a\\nb", "\x07", "\x1b"]


def scalar(r):
    k = r.random()
    if k < 0.55: return r.choice(WORDS)
    if k < 0.62: return r.choice([True, False, None])
    if k < 0.75: return r.randint(-10, 2000000)
    if k < 0.8: return r.choice([0, 1000000, 9007199254740993, 12345678901234567890, 2**63, -2**63, 10**21, 1e-7, 1e21])
    if k < 0.9: return round(r.uniform(-1e6, 1e6), r.randint(0, 6))
    return "".join(r.choice("ab:#-?,[]{}'\" \n\t01.é_\\%@!&*|>~=") for _ in range(r.randint(0, 12)))


def value(r, depth=0):
    k = r.random()
    if depth > 4 or k < 0.5: return scalar(r)
    if k < 0.75: return [value(r, depth + 1) for _ in range(r.randint(0, 4))]
    return {key(r): value(r, depth + 1) for _ in range(r.randint(0, 5))}


def key(r):
    return r.choice(WORDS) if r.random() < 0.5 else "".join(r.choice("abAB019-_.") for _ in range(r.randint(1, 6)))


def flow(r, v, depth=0):
    """v as YAML text of many shapes."""
    if isinstance(v, dict):
        if r.random() < 0.5 or not v: return "{" + ", ".join(f"{flow(r, k, 9)}: {flow(r, x, 9)}" for k, x in v.items()) + "}"
        if depth > 8: return json.dumps(v)
        pad = "  " * depth
        return "\n" + "\n".join(f"{pad}{flow(r, k, 9)}: {flow(r, x, depth + 1)}" for k, x in v.items())
    if isinstance(v, list):
        if r.random() < 0.5 or not v or depth > 8: return "[" + ", ".join(flow(r, x, 9) for x in v) + "]"
        pad = "  " * depth
        return "\n" + "\n".join(f"{pad}- {flow(r, x, depth + 1) if not isinstance(x, (dict, list)) else json.dumps(x)}" for x in v)
    if isinstance(v, str):
        k = r.random()
        if k < 0.4 and v.strip() == v and v and "\n" not in v: return v  # perhaps not valid, both must say so
        if k < 0.6 and "\n" not in v: return "'" + v.replace("'", "''") + "'"
        return json.dumps(v, ensure_ascii=r.random() < 0.5)
    return json.dumps(v)


EXPRS = ["toYaml", "toJson", "toPrettyJson", "toRawJson", "toYamlPretty", "toString", "quote", "squote", "kindOf", "typeOf",
         "empty | toString", "toYaml | nindent 4", "toYaml | fromYaml | toJson", "toJson | fromYaml | toJson", "toJson | sha256sum",
         "default \"d\" | toString", "print", "printf \"%v\"", "printf \"%q\"", "printf \"%d\"", "printf \"%s\"", "html", "js", "urlquery", "int | toString",
         "int64 | toString", "float64 | toString", "list | toYaml", "dict \"k\" | toYaml", "trunc 5 | quote", "upper", "title",
         "snakecase", "kebabcase", "camelcase", "nospace", "initials", "trim | quote", "b64enc", "indent 2", "deepCopy | toJson",
         "toYaml | b64enc"]
STRING_ONLY = {"trunc 5 | quote", "upper", "title", "snakecase", "kebabcase", "camelcase", "nospace", "initials", "trim | quote", "b64enc", "indent 2"}


class Chart:
    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="alm-diff-")
        self.root = os.path.join(self.dir, "c")

    def write(self, path, text):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8", newline="") as f: f.write(text)

    def close(self): shutil.rmtree(self.dir)


def run(binary, chart, args):
    p = subprocess.run([binary, "template", "r", chart.root] + args, capture_output=True, timeout=60,
                       env=dict(os.environ, TZ="UTC"))
    err = p.stderr.decode(errors="replace")
    return p.returncode, p.stdout, err[err.index("Error:"):] if "Error:" in err else ""


def compare(a, chart, args, what, show):
    ra, rh = run(a.alm, chart, args), run(a.helm, chart, args)
    if ra == rh: return True
    print(f"DIFFERENT: {what}")
    show(ra, rh)
    return False


def show_lines(ra, rh):
    if ra[0] or rh[0]:
        print("  alm :", ra[0], ra[2][:600]); print("  helm:", rh[0], rh[2][:600])
        return
    for x, y in zip(ra[1].split(b"\n"), rh[1].split(b"\n")):
        if x != y:
            print("  alm :", x[:200], dec(x)); print("  helm:", y[:200], dec(y))
            return


def dec(line):
    try: return base64.b64decode(line.split(b": ", 1)[1].strip(b'"')).decode(errors="replace")
    except Exception: return ""


def run_values(a, r):
    c = Chart()
    c.write("Chart.yaml", "apiVersion: v2\nname: c\nversion: 0.1.0\n")
    cases, lines = [], []
    for i in range(200):
        e = r.choice(EXPRS)
        v = r.choice(WORDS) if e in STRING_ONLY else value(r)
        if isinstance(v, float) and e == "deepCopy | toJson": v = "x"
        if v is None and ("deepCopy" in e): v = 1
        cases.append(v)
        lines.append(f"k{i}: {{{{ index .Values.cases {i} | {e} | b64enc | quote }}}}")
    c.write("values.yaml", json.dumps({"cases": cases}, ensure_ascii=True))
    c.write("templates/t.yaml", "\n".join(lines))
    def show(ra, rh):
        show_lines(ra, rh)
        for n, (x, y) in enumerate(zip(ra[1].split(b"\n"), rh[1].split(b"\n"))):
            if x != y and x.startswith(b"k"):
                i = int(x[1:].split(b":")[0]); print("  case:", json.dumps(cases[i]), lines[i]); break
    good = compare(a, c, [], "values", show)
    c.close()
    return good


def run_yaml(a, r):
    c = Chart()
    c.write("Chart.yaml", "apiVersion: v2\nname: c\nversion: 0.1.0\n")
    docs = [flow(r, {key(r): value(r) for _ in range(r.randint(1, 3))}).lstrip("\n") for _ in range(200)]
    c.write("values.yaml", json.dumps({"docs": docs}))
    c.write("templates/t.yaml", "{{ range $i, $d := .Values.docs }}k{{ $i }}: {{ fromYaml $d | toJson | b64enc | quote }}\n{{ end }}")
    def show(ra, rh):
        show_lines(ra, rh)
        for x, y in zip(ra[1].split(b"\n"), rh[1].split(b"\n")):
            if x != y and x.startswith(b"k"): print("  document:", repr(docs[int(x[1:].split(b":")[0])])); break
    good = compare(a, c, [], "yaml", show)
    c.close()
    return good


def run_set(a, r):
    c = Chart()
    c.write("Chart.yaml", "apiVersion: v2\nname: c\nversion: 0.1.0\n")
    c.write("values.yaml", "a: {b: 1, c: [1, {d: 2}], n: null}\nl: [1, 2]\ns: x\nglobal: {g: 1}\n")
    c.write("templates/t.yaml", "v: {{ toJson .Values | b64enc | quote }}")
    args = []
    for _ in range(r.randint(1, 3)):
        flag = r.choice(["--set", "--set", "--set", "--set-string", "--set-json", "--set-literal"])
        text = "".join(r.choice(["a", "b", "l", "s", ".", ".", "[0]", "[1]", "[", "]", "=", "=", "1", "x", ",", "{", "}", "\\", "null", "true", " ",
                                 "-1", "c", "global", "\"x\"", "{\"a\":1}", "[1]", "é", "0"]) for _ in range(r.randint(1, 12)))
        args += [flag, text]
    good = compare(a, c, args, f"set {args}", show_lines)
    c.close()
    return good


def run_deps(a, r):
    c = Chart()
    names = ["s1", "s2", "s3"]
    deps, vals = [], {}
    for n in names:
        d = {"name": n, "version": r.choice(["1.x", ">=1.0.0", "2.x", "*", "~1.2"]), "repository": ""}
        if r.random() < 0.4: d["condition"] = r.choice([f"{n}.enabled", "x.y", f"x.y,{n}.enabled", "global.on"])
        if r.random() < 0.3: d["tags"] = r.sample(["t1", "t2"], r.randint(1, 2))
        if r.random() < 0.3: d["alias"] = n + "x"
        if r.random() < 0.4: d["import-values"] = r.sample(["d", {"child": "a", "parent": "p.q"}, {"child": "m", "parent": "."}], r.randint(1, 2))
        if r.random() < 0.85: deps.append(d)
        def tree(depth=0):
            return {r.choice("abmn") + r.choice(["", "1"]): (tree(depth + 1) if depth < 2 and r.random() < 0.4 else r.choice([1, "x", None, [1], {}])) for _ in range(r.randint(0, 4))}
        sub = tree(); sub["exports"] = {"d": tree(1)}
        if r.random() < 0.5: sub["global"] = tree(1)
        c.write(f"charts/{n}/Chart.yaml", json.dumps({"apiVersion": "v2", "name": n, "version": "1.2.3"}))
        c.write(f"charts/{n}/values.yaml", json.dumps(sub))
        c.write(f"charts/{n}/templates/x.yaml", "x: {{ toJson .Values | b64enc | quote }} # {{ .Chart.Name }} {{ .Template.Name }}\n")
        if r.random() < 0.6: vals[n] = tree()
        if r.random() < 0.3: vals[n + "x"] = tree()
        if r.random() < 0.4 and isinstance(vals.get(n), dict): vals[n]["enabled"] = r.choice([True, False, "x", None])
    if r.random() < 0.6: vals["global"] = {"on": r.choice([True, False]), "a": r.choice([1, None, {"b": 1}])}
    if r.random() < 0.5: vals["tags"] = {"t1": r.choice([True, False]), "t2": r.choice([True, False])}
    c.write("Chart.yaml", json.dumps({"apiVersion": "v2", "name": "c", "version": "0.1.0", "dependencies": deps} if deps else {"apiVersion": "v2", "name": "c", "version": "0.1.0"}))
    c.write("values.yaml", json.dumps(vals))
    c.write("templates/t.yaml", "v: {{ toJson .Values | b64enc | quote }}\nd: {{ toJson .Chart.Dependencies | b64enc | quote }}")
    args = []
    for _ in range(r.randint(0, 3)):
        args += ["--set", r.choice(["s1.a=null", "s1=null", "s1.a.b=null", "s2.enabled=true", "tags.t1=false", "global.a=null", "global.z.y=1", "s1x.a=5", "s3.m=1", "m=null"])]
    def show(ra, rh):
        show_lines(ra, rh); print("  deps:", json.dumps(deps)); print("  values:", json.dumps(vals), args)
        for n in names: print("  ", n, open(os.path.join(c.root, f"charts/{n}/values.yaml")).read())
    good = compare(a, c, args, "dependencies", show)
    c.close()
    return good


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--runs", type=int, default=20)
    p.add_argument("--only")
    p.add_argument("alm")
    p.add_argument("helm")
    a = p.parse_args()
    kinds = {"values": run_values, "yaml": run_yaml, "set": run_set, "deps": run_deps}
    total = failed = 0
    for n in range(a.runs):
        for name, f in kinds.items():
            if a.only and name != a.only: continue
            total += 1
            failed += not f(a, random.Random(f"{a.seed}/{n}/{name}"))
    print(f"{total - failed} of {total} runs equal")
    return 1 if failed else 0


sys.exit(main())
