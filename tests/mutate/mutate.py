#!/usr/bin/env python3
"""mutate.py [PATH...] [-n N] [--seed SEED] [OPTION...]: is a realistic bug noticed?

Puts N bugs (operators.py), one at a time, into the product's files below PATH and runs the tests that cover the line
(coverage.py; with --near probe.py), those first that run the least; then the digests (tests/lib/digests.h) of jobs of the
simulation and of fuzz harnesses that run it, and with --wider end-to-end scripts that do.
Killed: a test failed, crashed or never ended. Survived: all passed.
Equivalent: listed with a reason in equivalent.txt. The same seed and sources give the same mutants.
One object is compiled a mutant, out of the tree; nothing in it is changed. Exit 1 if less than --goal percent are killed.
"""
import argparse
import functools
import os
import pathlib
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor

import children
import coverage
import operators
from probe import TEST_S, Probe, digests, near_tests

ROOTS = ("catalog", "alm", "crds", "installers")
HERE = pathlib.Path(__file__).parent
BUILD = os.environ.get("BUILD", "build")
SIM_S = 90  # 20 with faults
UNITS_MAX = 40  # tests tried for a line that more cover: the others see the same
# Tests that the coverage map does not know of: their work is done by a child, which leaves no counts, or they render charts.
BESIDE = {
    "installers": ["test_charts_out"],
    "alm/io/curl_lib": ["test_curl_lib"],
    "alm/io/landlock": ["test_program", "test_process"],
    "alm/io/lane": ["test_machine_fails"],
    "alm/io/process.c": ["test_process"],
    "alm/io/sandbox_fork": ["test_machine_fails", "test_sandbox"],
    "alm/io/program_child": ["test_program", "test_machine_fails"],
    "alm/io/sandbox_child": ["test_sandbox", "test_machine_fails"],
    "alm/audit/verify_lanes": ["test_verify_lanes"],
}
SCRIPTS_MAX = 4  # end-to-end scripts tried, those first that run the fewest lines


class Mutant:
    def __init__(self, path, text, found):
        self.path, self.text = path, text
        self.line, self.column, self.at, self.end, self.new, self.operator = found

    def name(self):
        return f"{self.path}:{self.line}:{self.column}"

    def source(self):
        return self.text[: self.at] + self.new + self.text[self.end :]

    def change(self):
        short = lambda s: " ".join(s.split())[:70]  # noqa: E731
        return f"{short(self.text[self.at:self.end])} -> {short(self.new) or '(nothing)'}"

    def key(self):
        """How equivalent.txt names it: lines move, text stays."""
        return f"{self.path}: {self.change()}"


def chosen(paths, n, seed):
    """N mutants: an operator first, then one of it, so that the most common kind of place does not rule."""
    by_operator = defaultdict(list)
    for root in ROOTS:
        for path in sorted(pathlib.Path(root).rglob("*.c")):
            if paths and not any(str(path).startswith(p) for p in paths):
                continue
            text = path.read_text()
            for found in operators.mutants_of(text):
                m = Mutant(str(path), text, found)
                by_operator[m.operator].append(m)
    rng, out = random.Random(seed), []
    for ms in by_operator.values():
        rng.shuffle(ms)
    while len(out) < n and any(by_operator.values()):
        name = rng.choice(sorted(o for o, ms in by_operator.items() if ms))
        out.append(by_operator[name].pop())
    return out


def equivalent():
    out = {}
    for line in (HERE / "equivalent.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            key, _, reason = line.partition(" # ")
            out[key] = reason
    return out


class Tools:
    """The commands of the Makefile, asked from it once."""

    def __init__(self):
        say = lambda *a: subprocess.run(["make", "-s", *a], capture_output=True, text=True, check=True).stdout  # noqa: E731
        self.compile = say("print-compile")
        self.link = say("print-link")
        self.compile, self.link = shlex.split(self.compile), shlex.split(self.link)
        self.testlib = [f"{BUILD}/obj/{p.with_suffix('.o')}" for p in sorted(pathlib.Path("tests/lib").glob("*.c"))]
        self.sim = [f"{BUILD}/obj/{p.with_suffix('.o')}" for p in sorted(pathlib.Path("tests/sim").glob("*.c"))]
        self.sources = {p.stem: p for p in pathlib.Path("tests/unit").rglob("test_*.c")}
        self.units = {t: f"{BUILD}/obj/{p.with_suffix('.o')}" for t, p in self.sources.items()}

    def build(self, m, folder):
        """The mutant's object, or None if it does not compile."""
        path = folder / m.path
        path.parent.mkdir(parents=True)
        path.write_text(m.source())
        ret = folder / "mutant.o"
        return ret if children.run([*self.compile, "-w", "-g0", "-c", path, "-o", ret]).returncode == 0 else None

    def program(self, test, instead, folder, more=()):
        """Linked with these objects instead of the library's; once."""
        ret = folder / test.replace(":", "-")
        if ret.exists():
            return ret
        crds = f"{BUILD}/obj/alm/main/our_crds.o"
        if test.startswith("fuzz:"):
            parts = (test.replace(":", "_"), "standalone")
            objects = [f"{BUILD}/obj/tests/fuzz/{p}.o" for p in parts]
        elif ":" in test:
            objects = [*self.sim, crds]
        else:
            objects = [self.units[test], *([crds] if test == "test_our_crds" else [])]
        at = self.link.index("@OBJECTS@")
        words = [*self.link[:at], *objects, *self.testlib, *instead, f"{BUILD}/libalm.a", *self.link[at + 1 :], *more]
        children.run_well([*words, "-o", ret])
        return ret


def ends_well(words, seconds, folder, build=BUILD):
    """A busy machine kills no mutant: the limit is of the processor's time."""
    env = {**coverage.ENV, "BUILD": str(build), "TMPDIR": str(folder)}
    return children.run(words, seconds, env=env).returncode == 0


def program_of_users(tools, m, mutant):
    """A build folder with an alm of its own, for the scripts: a name relative to the tree, as they want it."""
    folder = pathlib.Path(BUILD, "mutants", mutant.parent.name)
    folder.mkdir(parents=True)
    mains = [str(p) for p in pathlib.Path(BUILD, "obj/alm/main").glob("*.o")]
    own = f"{BUILD}/obj/{pathlib.Path(m.path).with_suffix('.o')}"
    objects = [str(mutant) if o == own else o for o in sorted(mains)]
    at = tools.link.index("@OBJECTS@")
    words = [*tools.link[:at], *objects, *([] if own in mains else [mutant]), f"{BUILD}/libalm.a", *tools.link[at + 1 :]]
    children.run_well([*words, "-o", folder / "alm"])
    return folder


def scripts_judge(tools, m, mutant, scripts):
    """The name of the script that notices."""
    if not scripts:
        return None
    folder = program_of_users(tools, m, mutant)
    try:
        for s in scripts:
            if not ends_well(coverage.command_of(s, BUILD), SIM_S, mutant.parent, folder) and passes(tools, s):
                return s
        return None
    finally:
        shutil.rmtree(folder)


def compiled(tools, mutants, n, jobs):
    """The first n that compile: (mutant, its folder), whatever the number of jobs."""
    def one(m):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="alm-mutant-"))
        if not tools.build(m, folder):
            shutil.rmtree(folder)
            return m, None
        return m, folder

    out = []
    with ThreadPoolExecutor(jobs) as pool:
        while mutants and len(out) < n:
            batch, mutants = mutants[: n - len(out)], mutants[n - len(out) :]
            out += [x for x in pool.map(one, batch) if x[1]]
    return out


def limit_of(test):
    return TEST_S if ":" not in test else SIM_S


@functools.cache
def passes(tools, test):
    """Without a mutant: one that fails here anyway would kill them all. With --near nothing but objects need be built."""
    with tempfile.TemporaryDirectory(prefix="alm-mutant-") as folder:
        words = coverage.command_of(test, BUILD)
        if not test.startswith("e2e:"):
            words[0] = tools.program(test, [], pathlib.Path(folder))
        ret = ends_well(words, limit_of(test), folder)
    if not ret:
        print(f"# {test} fails without a mutant, and is left out", flush=True)
    return ret


def tests_judge(tools, folder, tests):
    """The name of the test that notices."""
    for test in tests:
        words = [tools.program(test, [folder / "mutant.o"], folder), *coverage.command_of(test, BUILD)[1:]]
        if not ends_well(words, limit_of(test), folder) and passes(tools, test):
            return test
    return None


class Judge:
    """By tests of the coverage map or near the file, then by digests, which are dear: they are asked of the first that survives."""

    def __init__(self, tools, paths, o):
        self.tools, self.paths, self.workers = tools, paths, o.jobs
        self.units = Probe(tools, near_tests(tools, paths), paths, o.jobs) if o.near and not o.digests else None
        self.asks, self.digests, self.lock = not o.tests, None, threading.Lock()

    def of_digests(self):
        with self.lock:
            if not self.digests:
                self.digests = Probe(self.tools, digests(self.paths), self.paths, self.workers)
            return self.digests

    def verdict(self, m, folder, tests, scripts):
        """(verdict, by what). tests: by the coverage map."""
        things = self.units.covering(m) if self.units else []  # they run the line, and the cheapest comes first
        n, digests = len(tests) + len(things), []
        by = (self.units.judge(folder, things) if things else None) or tests_judge(self.tools, folder, tests)
        if not by and self.asks:
            digests = self.of_digests().covering(m)
            by = self.digests.judge(folder, digests)
        by = by or scripts_judge(self.tools, m, folder / "mutant.o", scripts)
        return ("killed", by) if by else ("survived", f"{n} tests, {len(digests)} digests and {len(scripts)} scripts pass")


def sample(tools, jobs):
    """sample.txt: "TEST<tab>PATH: OLD -> NEW"; each is killed by its test alone. The number that is not."""
    wanted = [x.split("\t") for x in (HERE / "sample.txt").read_text().splitlines() if x and not x.startswith("#")]
    known = defaultdict(list)
    for m in chosen(sorted({key.split(":")[0] for _, key in wanted}), 10**9, 0):
        known[m.key()].append(m)

    def one(pair):
        test, key = pair
        if len(known[key]) != 1:
            return f"{len(known[key])} places of the file are so, not one", pair
        with tempfile.TemporaryDirectory(prefix="alm-mutant-") as folder:
            folder = pathlib.Path(folder)
            if not tools.build(known[key][0], folder):
                return "does not compile", pair
            return "killed" if tests_judge(tools, folder, [test]) else "survived", pair

    bad = 0
    with ThreadPoolExecutor(jobs) as pool:
        for n, (verdict, (test, key)) in enumerate(pool.map(one, wanted), 1):
            bad += verdict != "killed"
            print(f"{'ok' if verdict == 'killed' else 'not ok'} {n} - {test} notices {key}", flush=True)
            if verdict != "killed":
                print(f"# {verdict}; choose another line: tests/mutate/mutate.py --only {key.split(':')[0]}:LINE")
    print(f"1..{len(wanted)}")
    return bad


LINE = re.compile(r"(killed|survived|equivalent) +(\S+?):(\d+):\d+ ([^:]+): (.*)  \[(.*)\]$")


def again(file):
    """Of an earlier output: ([mutants that survived, where they are now], [(what was killed, "killed")], how many are gone)."""
    told = [x.groups() for x in map(LINE.match, pathlib.Path(file).read_text().splitlines()) if x]
    places = defaultdict(list)
    for m in chosen(sorted({path for _, path, *_ in told}), 10**9, 0):
        places[m.path, m.operator, m.change()].append(m)
    left, ended, gone = [], [], 0
    for verdict, path, line, operator, change, _ in told:
        found = sorted(places[path, operator, change], key=lambda m: abs(m.line - int(line)))
        if not found:
            gone += 1
        elif verdict == "killed":
            ended.append((found[0], verdict))
        else:
            left.append(found[0])
    return left, ended, gone


def report(verdicts):
    folders = defaultdict(Counter)
    for m, verdict in verdicts:
        room = "/".join(m.path.split("/")[:2]) if m.path.count("/") > 1 else m.path.split("/")[0]
        folders[room][verdict] += 1
        folders["all"][verdict] += 1
    operators_of = defaultdict(Counter)
    for m, verdict in verdicts:
        operators_of[m.operator][verdict] += 1
    print()
    for name, c in sorted(operators_of.items()):
        print(f"{name:<24}{c['killed']:>8}{c['survived']:>10}{c['equivalent']:>12}")
    print(f"\n{'folder':<24}{'killed':>8}{'survived':>10}{'equivalent':>12}{'killed %':>10}")
    for room in sorted(folders, key=lambda r: (r == "all", r)):
        c = folders[room]
        real = c["killed"] + c["survived"]
        share = f"{100 * c['killed'] / real:.1f}" if real else "-"
        print(f"{room:<24}{c['killed']:>8}{c['survived']:>10}{c['equivalent']:>12}{share:>10}")
    c = folders["all"]
    return 100 * c["killed"] / max(1, c["killed"] + c["survived"])


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("paths", nargs="*")
    p.add_argument("-n", type=int, default=100)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--goal", type=float, default=0)
    p.add_argument("--list", action="store_true", help="the mutants, without running them")
    p.add_argument("--only", help="FILE:LINE: every mutant of that line")
    p.add_argument("--near", action="store_true", help="by unit tests of the file and its folder, without a coverage map: cheap")
    p.add_argument("--digests", action="store_true", help="with --near: by digests alone, what unit tests let pass")
    p.add_argument("--tests", action="store_true", help="with --near: by tests alone, without digests")
    p.add_argument("--wider", action="store_true", help="end-to-end scripts for what the others let pass (slow)")
    p.add_argument("--again", metavar="FILE", help="an earlier output: what survived there is tried again, what was killed counts")
    p.add_argument("--sample", action="store_true", help="those of sample.txt, each with its test: make check runs it")
    o = p.parse_args()
    children.stop_cleanly(pathlib.Path(BUILD, "mutants"))
    if o.sample:
        return 1 if sample(Tools(), o.jobs) else 0
    verdicts, gone = [], 0
    if o.again:
        mutants, verdicts, gone = again(o.again)
        o.n = len(mutants)
    elif o.only:
        path, _, line = o.only.partition(":")
        mutants = [m for m in chosen([path], 10**9, 0) if m.line == int(line)]
    else:
        mutants = chosen(o.paths, 3 * o.n, o.seed)  # some do not compile
    if o.list:
        for m in mutants[: o.n]:
            print(f"{m.name()} {m.operator}: {m.change()}")
        return 0
    same, tools = equivalent(), Tools()
    covered = None if o.near else coverage.load(o.jobs)
    scripts = coverage.load_scripts(o.jobs) if o.wider else None
    lock = threading.Lock()
    mutants = compiled(tools, mutants, o.n, o.jobs)
    paths = sorted({m.path for m, _ in mutants})
    judge = Judge(tools, paths, o)
    seconds = []

    def one(pair):
        m, folder = pair
        began = time.monotonic()
        tests = [] if o.near else covered.tests_of(m.path, m.line, m.text)
        tests = tests[:UNITS_MAX] + [t for t in tests[UNITS_MAX:] if ":" in t]
        tests += [t for p, more in BESIDE.items() if m.path.startswith(p) for t in more if t not in tests]
        if m.key() in same:
            verdict, by = "equivalent", same[m.key()]
        else:
            wider = scripts.tests_of(m.path, m.line, m.text)[:SCRIPTS_MAX] if scripts else ()
            verdict, by = judge.verdict(m, folder, [] if o.digests else tests, wider)
        seconds.append(time.monotonic() - began)
        shutil.rmtree(folder, ignore_errors=True)
        with lock:
            verdicts.append((m, verdict))
            print(f"{verdict:<10} {m.name()} {m.operator}: {m.change()}  [{by}]", flush=True)

    with ThreadPoolExecutor(o.jobs) as pool:
        list(pool.map(one, mutants))
    share = report(verdicts)
    more = f", {gone} whose code is gone" if gone else ""
    of = "" if o.again or o.only else f" of seed {o.seed}"
    print(f"\n{len(verdicts)} mutants{of}{more}: {share:.1f} % killed, {sum(seconds) / max(1, len(seconds)):.0f} s each")
    return 0 if share >= o.goal else 1


if __name__ == "__main__":
    sys.exit(main())
