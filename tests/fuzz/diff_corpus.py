#!/usr/bin/env python3
"""diff_corpus.py FOLDER [--jobs N] [--only TEXT] [--keep DIR] [--table FILE] [--no-ci] [--changed N]
Every chart below FOLDER through the real helm and through alm template, with its defaults, with
each of its ci/*.yaml as -f and, with --changed, with its values changed in the first N of these
ways: every bool inverted, all true, what is empty filled in, names changed, all false, a tenth of
everything at random. Standard output, exit status, warnings and, where helm fails, the error text
are compared. Ends with one line per case that differs, a table of folders and the share that is equal.

$HELM is the reference (4.1.x): without one this prints a line and succeeds. $ALM is the program
under test (build/alm). The charts must have their dependencies in charts/; none are fetched.

Rule for what is random (keys, passwords, certificates, the clock, Go's map order): helm runs again
when a case differs, up to RUNS times. PEM blocks count as one word. A line in which helm differs
from itself may differ here too, but only behind the words with which all of helm's runs begin, and
everything else must be equal. Where helm's runs differ in their number of lines, or its error in
its text, the lines of one of its runs must be had as a multiset with the random ones left out;
such a case counts as "random order" and not as identical. Python's library only."""
import argparse, collections, concurrent.futures, json, os, random, re, subprocess, sys, tempfile

RUNS = 6
DIFFERENT = ("bytes", "status", "error text", "warnings")
TIMEOUT_S = 180
WARNING = re.compile(rb'^(?:level=(?:WARN|INFO) msg=|[0-9/]{10} [0-9:]{8} ).*', re.M)
PEM = re.compile(rb"-----BEGIN [A-Z ]+-----.*?-----END [A-Z ]+-----", re.S)


def run(binary, chart, args, cwd):
    try:
        p = subprocess.run([binary, "template", "rel", chart, "--namespace", "ns", "--include-crds"] + args,
                           capture_output=True, timeout=TIMEOUT_S, cwd=cwd, env={"PATH": "/usr/bin:/bin", "HOME": cwd, "TZ": "UTC"})
    except subprocess.TimeoutExpired:
        return -1, b"", b"Error: timeout", []
    p.stderr = p.stderr.replace(b"\r", b"\\r")  # as alm shows it
    error = p.stderr[p.stderr.find(b"Error: "):] if b"Error: " in p.stderr else p.stderr
    return p.returncode, p.stdout, error if p.returncode else b"", sorted(WARNING.findall(p.stderr))


def shared(texts):
    """The beginning that all texts have in common, up to the start of a word."""
    n = len(os.path.commonprefix(texts))
    while n and not texts[0][n - 1:n] in b" \t\"'=:,{}": n -= 1
    return texts[0][:n]


def random_only(ours, runs):
    """Whether ours differs from helm's runs only where those differ among themselves."""
    lines = [PEM.sub(b"PEM", r).split(b"\n") for r in runs]
    mine = PEM.sub(b"PEM", ours).split(b"\n")
    if all(len(one) == len(mine) for one in lines):
        return all(mine[i] == row[0] or (len(set(row)) > 1 and mine[i].startswith(shared(row))) for i, row in enumerate(zip(*lines)))
    return False


def order_only(ours, runs):
    """Go's map order: the same lines in another order, as helm has them among its own runs."""
    bags = [collections.Counter(PEM.sub(b"PEM", r).split(b"\n")) for r in runs]
    return len(set(runs)) > 1 and collections.Counter(PEM.sub(b"PEM", ours).split(b"\n")) in bags


def judge(ours, helm):
    """The verdict on one case; helm() runs the reference once more."""
    first = helm()
    if ours == first: return "identical" if first[0] == 0 else "same error", first
    if ours[:3] == first[:3]: return "warnings", first
    if ours[0] != first[0]: return "status", first
    part = 1 if first[0] == 0 else 2
    runs = [first] + [helm() for _ in range(RUNS - 1)]
    texts = [r[part] for r in runs]
    if ours[part] in texts: return "identical" if part == 1 else "same error", first
    if len(set(texts)) > 1 and random_only(ours[part], texts): return "random" if part == 1 else "same error", first
    if order_only(ours[part], texts): return "random order", first
    return "bytes" if part == 1 else "error text", first


def empty_filled(key, v, _): return {"": "x-" + key, "null": "n", "[]": ["x"], "{}": {"k": "v"}}.get(v if v == "" else json.dumps(v), v)


def renamed(key, v, _):
    if isinstance(v, str) and key.lower().endswith("name"): return "renamed-" + v
    return v + 1 if type(v) in (int, float) else v


def at_random(key, v, dice):
    if dice.random() > 0.1: return v
    kinds = [None, True, False, "", "text", "a: b", "1", 0, 7, 1.5, 1e6, [], ["x"], {}, {"k": "v"}, {"name": "n", "value": 1}]
    same = [k for k in kinds if type(k) is type(v)]
    return dice.choice(same if same and dice.random() < 0.8 else kinds)


CHANGES = {
    "flipped": lambda key, v, _: not v if isinstance(v, bool) else v,
    "on": lambda key, v, _: True if isinstance(v, bool) else v,
    "filled": empty_filled,
    "renamed": renamed,
    "off": lambda key, v, _: False if isinstance(v, bool) else v,
    "random": at_random,
}


def changed(v, key, how, dice):
    if isinstance(v, dict) and v: return {k: changed(x, k, how, dice) for k, x in v.items()}
    if isinstance(v, list) and v: return [changed(x, key, how, dice) for x in v]
    return how(key, v, dice)


def values_of(helm, chart, cwd):
    """The chart's values.yaml as helm reads it."""
    with tempfile.TemporaryDirectory(dir=cwd) as d:
        os.mkdir(d + "/templates")
        for name, text in (("Chart.yaml", "{apiVersion: v2, name: c, version: 1.0.0}"), ("templates/t.yaml", "{{ toJson .Values }}")):
            with open(os.path.join(d, name), "w") as f: f.write(text)
        code, out, *_ = run(helm, d, ["-f", os.path.join(chart, "values.yaml")], cwd)
        try: return json.loads(out.split(b"\n", 2)[2]) if code == 0 else {}
        except (IndexError, ValueError): return {}


def changed_cases(helm, chart, n, cwd):
    values = values_of(helm, chart, cwd) if n else {}
    for name, how in list(CHANGES.items())[:n]:
        new = changed(values, "", how, random.Random(chart.rstrip("/").rsplit("/", 1)[-1]))
        if new == values: continue
        path = os.path.join(cwd, "_".join([chart.strip("/").replace("/", "_")[-120:], name + ".json"]))
        with open(path, "w") as f: json.dump(new, f)
        yield name, ["-f", path] + (["--namespace", "other"] if name == "renamed" else [])


def cases_of(chart, with_ci):
    out = [("defaults", [])]
    ci = os.path.join(chart, "ci")
    if with_ci and os.path.isdir(ci):
        out += [(name, ["-f", os.path.join(ci, name)]) for name in sorted(os.listdir(ci)) if name.endswith((".yaml", ".yml"))]
    return out


def charts_below(folder):
    for path, dirs, files in os.walk(folder, followlinks=True):
        if "Chart.yaml" in files:
            dirs[:] = []
            yield path
        dirs.sort()


def compare(alm, helm, chart, name, args, keep, cwd):
    ours = run(alm, chart, args, cwd)
    verdict, theirs = judge(ours, lambda: run(helm, chart, args, cwd))
    if verdict in DIFFERENT and keep:
        base = os.path.join(keep, chart.strip("/").replace("/", "_")[-120:] + "__" + name)
        for ending, data in ((".helm", theirs), (".alm", ours)):
            with open(base + ending, "wb") as f: f.write(b"\n".join([data[1] + data[2]] + data[3]))
    return verdict


def compare_all(alm, helm, chart, o, cwd):
    cases = cases_of(chart, not o.no_ci) + list(changed_cases(helm, chart, o.changed, cwd))
    return [(chart, name, compare(alm, helm, chart, name, args, o.keep, cwd)) for name, args in cases]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("folder")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--only", default="")
    p.add_argument("--keep")
    p.add_argument("--table")
    p.add_argument("--no-ci", action="store_true")
    p.add_argument("--changed", type=int, default=0)
    o = p.parse_args()
    helm = os.environ.get("HELM") or os.path.expanduser("~/.cache/alm-oracles/bin/helm")
    alm = os.path.abspath(os.environ.get("ALM", "build/alm"))
    if not os.access(helm, os.X_OK): return print("diff_corpus: no helm 4.1 (set HELM), nothing compared")
    if o.keep: os.makedirs(o.keep, exist_ok=True)
    count, table, rows, charts = collections.Counter(), collections.defaultdict(collections.Counter), [], set()
    with tempfile.TemporaryDirectory() as cwd, concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        jobs = [pool.submit(compare_all, alm, helm, os.path.abspath(c), o, cwd) for c in charts_below(o.folder) if o.only in c]
        for chart, name, verdict in (row for job in jobs for row in job.result()):
            short = os.path.relpath(chart, os.path.abspath(o.folder))
            charts.add(chart)
            count[verdict] += 1
            table[short.split("__")[0].split("/")[0]][verdict] += 1
            rows.append(f"{short}\t{name}\t{verdict}")
            if verdict in DIFFERENT: print(f"{verdict}: {short} {name}", flush=True)
    if o.table:
        with open(o.table, "w") as f: f.write("\n".join(rows) + "\n")
    kinds = ["identical", "random", "random order", "same error", *DIFFERENT]
    print("folder".ljust(44) + "".join(k.rjust(13) for k in kinds))
    for folder in sorted(table): print(folder[:43].ljust(44) + "".join(str(table[folder][k]).rjust(13) for k in kinds))
    print("all".ljust(44) + "".join(str(count[k]).rjust(13) for k in kinds))
    total, same = sum(count.values()), sum(count[k] for k in kinds[:4])
    print(f"{len(charts)} charts, {total} cases, {same} equal to helm ({100 * same / max(total, 1):.2f} %)")
    return 1 if same < total else 0


sys.exit(main())
