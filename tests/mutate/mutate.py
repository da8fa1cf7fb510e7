#!/usr/bin/env python3
"""mutate.py [PATH...] [-n N] [--seed SEED] [OPTION...]: is a realistic bug noticed?

Puts N bugs (operators.py), one at a time, into the product's files below PATH and runs the tests that cover the line
(coverage.py), those first that run the least; then the digests (tests/lib/digests.h) of a part of the simulation's jobs and of
fuzz harnesses, and with --wider end-to-end scripts that run the line.
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
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor

import coverage
import operators

ROOTS = ("catalog", "alm", "crds", "installers")
HERE = pathlib.Path(__file__).parent
BUILD = os.environ.get("BUILD", "build")
TEST_S = 60  # of the processor; a unit test takes less than 10 s
SIM_S = 90  # 20 with faults
WAIT = 10  # times as long by the clock: others use the machine, too, and come first
UNITS_MAX = 40  # tests tried for a line that more cover: the others see the same
# Tests that the coverage map does not know of: their work is done by a child, which leaves no counts, or they render charts.
BESIDE = {
    "installers": ["test_charts_out"],
    "alm/io/program_child": ["test_program"],
    "alm/io/sandbox_child": ["test_sandbox"],
    "alm/audit/verify_lanes": ["test_verify_lanes"],
}
RUNS_MAX = 1  # of a job of the simulation: the first seeds of test_sim.sh's; a digest of them that changes changes the job's
JOBS_MAX = 25  # the cheapest
DIGEST_S = 20  # a job that takes longer for these is left out
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
        done = subprocess.run([*self.compile, "-w", "-g0", "-c", path, "-o", ret], capture_output=True, check=False)
        return ret if done.returncode == 0 else None

    def program(self, test, mutant, folder):
        ret = folder / test.replace(":", "-")
        crds = f"{BUILD}/obj/alm/main/our_crds.o"
        if test.startswith("fuzz:"):
            parts = (test.replace(":", "_"), "standalone")
            objects = [f"{BUILD}/obj/tests/fuzz/{p}.o" for p in parts]
        elif ":" in test:
            ret = folder / "sim"
            if ret.exists():
                return ret
            objects = [*self.sim, crds]
        else:
            objects = [self.units[test], *([crds] if test == "test_our_crds" else [])]
        at = self.link.index("@OBJECTS@")
        words = [*self.link[:at], *objects, *self.testlib, mutant, f"{BUILD}/libalm.a", *self.link[at + 1 :]]
        subprocess.run([*words, "-o", ret], check=True, capture_output=True)
        return ret


def ends_well(words, seconds, folder, build=BUILD):
    """A busy machine kills no mutant: the limit is of the processor's time."""
    env = {**coverage.ENV, "BUILD": str(build), "TMPDIR": str(folder)}

    def limit():
        # soft alone: the hard one would be that of ALM's children, which ask for theirs and could not start
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.getrlimit(resource.RLIMIT_CPU)[1]))

    try:
        done = subprocess.run(words, env=env, capture_output=True, timeout=WAIT * seconds, check=False, preexec_fn=limit)
        return done.returncode == 0
    except subprocess.TimeoutExpired:
        return False


def program_of_users(tools, m, mutant):
    """A build folder with an alm of its own, for the scripts: a name relative to the tree, as they want it."""
    folder = pathlib.Path(BUILD, "mutants", mutant.parent.name)
    folder.mkdir(parents=True)
    mains = [str(p) for p in pathlib.Path(BUILD, "obj/alm/main").glob("*.o")]
    own = f"{BUILD}/obj/{pathlib.Path(m.path).with_suffix('.o')}"
    objects = [str(mutant) if o == own else o for o in sorted(mains)]
    at = tools.link.index("@OBJECTS@")
    words = [*tools.link[:at], *objects, *([] if own in mains else [mutant]), f"{BUILD}/libalm.a", *tools.link[at + 1 :]]
    subprocess.run([*words, "-o", folder / "alm"], check=True, capture_output=True)
    return folder


def scripts_judge(tools, m, mutant, scripts):
    """The name of the script that notices."""
    if not scripts:
        return None
    folder = program_of_users(tools, m, mutant)
    try:
        for s in scripts:
            if not ends_well(coverage.command_of(s, BUILD), SIM_S, mutant.parent, folder) and passes(s):
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


def direct(tools, path):
    """Unit tests that include the file's header."""
    header = f'#include "{pathlib.Path(path).with_suffix(".h")}"'
    return sorted(t for t, p in tools.sources.items() if header in p.read_text())


def near(tools, path):
    """Those, then those of its folder, or of the one above where there is none."""
    ret = direct(tools, path)
    for folder in pathlib.Path(path).parents:
        tests = sorted(t for t, p in tools.sources.items() if p.is_relative_to(pathlib.Path("tests/unit", folder)))
        if tests:
            return ret + [t for t in tests if t not in ret]
    return ret


def limit_of(test):
    return TEST_S if ":" not in test else SIM_S


@functools.cache
def passes(test):
    """Without a mutant: one that fails here anyway would kill them all."""
    with tempfile.TemporaryDirectory(prefix="alm-mutant-") as folder:
        ret = ends_well(coverage.command_of(test, BUILD), limit_of(test), folder)
    if not ret:
        print(f"# {test} fails without a mutant, and is left out", flush=True)
    return ret


@functools.cache
def jobs_of_sim():
    """[(name, arguments)] of test_sim.sh, of each the first seeds; without those that try every point."""
    said = subprocess.run(["sh", "tests/sim/test_sim.sh", "--list"], capture_output=True, text=True, check=True).stdout
    out = []
    for name, *words in map(str.split, said.splitlines()):
        if {"--exhaustive", "--crash-only", "--disk", "--upgrade", "--twice"} & set(words):
            continue
        if "--runs" in words:
            at = words.index("--runs") + 1
            words[at] = str(min(RUNS_MAX, int(words[at])))
        out.append((name, words))
    return out


def harnesses(path):
    """Those that include a header of the file's folder."""
    header = f'#include "{pathlib.Path(path).parent}/'
    also = {"alm/apiserver": ["api", "apiseq"], "alm/client": ["watch"]}
    return sorted(
        {p.stem.removeprefix("fuzz_") for p in pathlib.Path("tests/fuzz").glob("fuzz_*.c") if header in p.read_text()}
        | {x for folder, more in also.items() if path.startswith(folder) for x in more}
    )


def digest(words, seconds):
    """(the digest or None, seconds of the processor)."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.getrlimit(resource.RLIMIT_CPU)[1]))

    try:
        done = subprocess.run(["sh", "-c", '"$@"; times >&2', "sh", *words], capture_output=True, env=coverage.ENV, check=False,
                              timeout=WAIT * seconds, preexec_fn=limit)
    except subprocess.TimeoutExpired:
        return None, seconds
    found = re.findall(rb"(?m)^(?:# )?digest ([0-9a-f]+)$", done.stdout)
    user = re.findall(rb"(\d+)m([\d.]+)s", done.stderr.splitlines()[-1] if done.stderr else b"")
    return found[-1] if found else None, sum(60 * int(a) + float(b) for a, b in user)


def corpus(name):
    runs = 200 if name in ("api", "apiseq", "audit") else 2000
    return [f"-runs={runs}", *map(str, sorted(pathlib.Path("tests/fuzz/corpus", name).iterdir()))]


@functools.cache
def known_digests():
    """[(name, arguments, digest, seconds)] without a mutant, the cheapest first."""
    def one(job):
        return (*job, *digest([f"{BUILD}/sim", *job[1]], DIGEST_S))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        known = [x for x in pool.map(one, jobs_of_sim()) if x[2]]
    known = sorted(known, key=lambda x: x[3])[:JOBS_MAX]
    print(f"# {len(known)} digests of {sum(x[3] for x in known):.0f} s in all", flush=True)
    return known


@functools.cache
def known_digest(name):
    return digest([f"{BUILD}/fuzz/fuzz_{name}", *corpus(name)], DIGEST_S)


def digests_judge(tools, m, folder):
    """The name of the harness or job whose digest changes."""
    for name in harnesses(m.path):
        known, seconds = known_digest(name)
        program = tools.program(f"fuzz:{name}", folder / "mutant.o", folder)
        if known and digest([program, *corpus(name)], int(3 * seconds) + 5)[0] != known:
            return f"fuzz_{name}"
    program = tools.program("sim:", folder / "mutant.o", folder)
    for name, words, known, seconds in known_digests():
        if digest([program, *words], int(3 * seconds) + 5)[0] != known:
            return f"digest of {name}"
    return None


def tests_judge(tools, folder, tests):
    """The name of the test that notices."""
    for test in tests:
        words = [tools.program(test, folder / "mutant.o", folder), *coverage.command_of(test, BUILD)[1:]]
        if not ends_well(words, limit_of(test), folder) and passes(test):
            return test
    return None


def judge(tools, m, folder, tests, scripts=(), digests_after=None):
    """(verdict, by what). digests_after: so many of the tests come first; None: digests are not asked."""
    first = len(tests) if digests_after is None else digests_after
    by = tests_judge(tools, folder, tests[:first])
    by = by or (digests_judge(tools, m, folder) if digests_after is not None else None)
    by = by or tests_judge(tools, folder, tests[first:]) or scripts_judge(tools, m, folder / "mutant.o", scripts)
    return ("killed", by) if by else ("survived", f"{len(tests)} tests and {len(scripts)} scripts pass")


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
            return judge(tools, known[key][0], folder, [test])[0], pair

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
    p.add_argument("--wider", action="store_true", help="end-to-end scripts for what the others let pass (slow)")
    p.add_argument("--again", metavar="FILE", help="an earlier output: what survived there is tried again, what was killed counts")
    p.add_argument("--sample", action="store_true", help="those of sample.txt, each with its test: make check runs it")
    o = p.parse_args()
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
    known_digests()

    def one(pair):
        m, folder = pair
        tests = near(tools, m.path) if o.near else covered.tests_of(m.path, m.line, m.text)
        tests = tests[:UNITS_MAX] + [t for t in tests[UNITS_MAX:] if ":" in t]
        tests += [t for p, more in BESIDE.items() if m.path.startswith(p) for t in more if t not in tests]
        if m.key() in same:
            verdict, by = "equivalent", same[m.key()]
        else:
            wider = scripts.tests_of(m.path, m.line, m.text)[:SCRIPTS_MAX] if scripts else ()
            first = len(direct(tools, m.path)) if o.near else len(tests)
            verdict, by = judge(tools, m, folder, [] if o.digests else tests, wider, 0 if o.digests else first)
        shutil.rmtree(folder, ignore_errors=True)
        with lock:
            verdicts.append((m, verdict))
            print(f"{verdict:<10} {m.name()} {m.operator}: {m.change()}  [{by}]", flush=True)

    with ThreadPoolExecutor(o.jobs) as pool:
        list(pool.map(one, compiled(tools, mutants, o.n, o.jobs)))
    share = report(verdicts)
    more = f", {gone} whose code is gone" if gone else ""
    print(f"\n{len(verdicts)} mutants{'' if o.again else f' of seed {o.seed}'}{more}: {share:.1f} % killed")
    return 0 if share >= o.goal else 1


if __name__ == "__main__":
    sys.exit(main())
