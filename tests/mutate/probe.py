"""Which of the tests near a file, and of the digests, run which of its lines: no coverage build of the product is needed.

The chosen files alone are compiled with --coverage and put in front of the library, as a mutant is; each test runs once with them,
which also tells what it comes to without a mutant. What a mutant is judged by are those that run its line, the cheapest first.
"""
import os
import pathlib
import re
import subprocess
import tempfile
import time
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

import children
import coverage

BUILD = os.environ.get("BUILD", "build")
TEST_S = 60  # of the processor; a unit test takes less than 10 s
DIGEST_S = 20  # a digest that takes longer is left out

# Recorded answers of a real server, which hold what a folder's own tests leave to them: tried after those.
RECORDED = {
    "alm/apiserver/": ["test_differs", "test_generated_api"],
    "alm/obj/schema/": ["test_differs", "test_generated_api"],
}

# test: what tools.program() links; digest: what counts is the number it prints, not how it ends alone
Thing = namedtuple("Thing", "name test words digest")


def outcome(thing, program, seconds, folder, **env):
    """(what it came to or None, seconds)."""
    began = time.monotonic()
    env = {**coverage.ENV, "BUILD": BUILD, "TMPDIR": str(folder), **env}
    done = children.run([program, *thing.words], seconds, env=env)
    found = re.findall(rb"(?m)^(?:# )?digest ([0-9a-f]+)$", done.stdout) if thing.digest else [b"passes"]
    return found[-1] if done.returncode == 0 and found else None, time.monotonic() - began


def direct(tools, path):
    """Unit tests that include the file's header."""
    header = f'#include "{pathlib.Path(path).with_suffix(".h")}"'
    return sorted(t for t, p in tools.sources.items() if header in p.read_text())


def near(tools, path):
    """Those, then those of its folder, or of the one above where there is none; then RECORDED."""
    ret = direct(tools, path)
    for folder in pathlib.Path(path).parents:
        tests = sorted(t for t, p in tools.sources.items() if p.is_relative_to(pathlib.Path("tests/unit", folder)))
        if tests:
            ret += tests
            break
    ret += [t for folder, more in RECORDED.items() if path.startswith(folder) for t in more]
    return list(dict.fromkeys(ret))


def corpus(name):
    runs = 200 if name in ("api", "apiseq", "audit") else 2000
    return (f"-runs={runs}", *map(str, sorted(pathlib.Path("tests/fuzz/corpus", name).iterdir())))


def harnesses(path):
    """Those that include a header of the file's folder."""
    header = f'#include "{pathlib.Path(path).parent}/'
    also = {"alm/apiserver": ["api", "apiseq"], "alm/client": ["watch"]}
    names = {p.stem.removeprefix("fuzz_") for p in pathlib.Path("tests/fuzz").glob("fuzz_*.c") if header in p.read_text()}
    names |= {x for folder, more in also.items() if path.startswith(folder) for x in more}
    return [Thing(f"fuzz_{name}", f"fuzz:{name}", corpus(name), True) for name in sorted(names)]


def jobs_of_sim():
    """Those of test_sim.sh, of each the first seed; without those that try every point."""
    said = subprocess.run(["sh", "tests/sim/test_sim.sh", "--list"], capture_output=True, text=True, check=True).stdout
    out = []
    for name, *words in map(str.split, said.splitlines()):
        if {"--exhaustive", "--crash-only", "--disk", "--upgrade", "--twice"} & set(words):
            continue
        if "--runs" in words:
            words[words.index("--runs") + 1] = "1"
        out.append(Thing(f"digest of {name}", "sim:", tuple(words), True))
    return out


def near_tests(tools, paths):
    return [Thing(t, t, (), False) for t in sorted({t for path in paths for t in near(tools, path)})]


def digests(paths):
    return sorted({x for path in paths for x in harnesses(path)}) + jobs_of_sim()


class Probe:
    def __init__(self, tools, things, paths, workers):
        self.tools, self.known, seconds, ran, lines = tools, {}, {}, {}, {}
        with tempfile.TemporaryDirectory(prefix="alm-probe-") as folder:
            folder = pathlib.Path(folder)
            with ThreadPoolExecutor(workers) as pool:
                objects = list(pool.map(lambda p: self.compiled(p, folder), paths))
                tests = sorted({x.test for x in things})
                linked = dict(zip(tests, pool.map(lambda t: self.linked(t, objects, folder), tests)))
                things = [x for x in things if linked[x.test]]
                for x, (value, took, hit, more) in zip(things, pool.map(lambda x: self.asked(x, folder), things)):
                    if not value:
                        value, took, hit = self.without_counts(x, paths)
                    if not value:
                        print(f"# {x.name} fails without a mutant, and is left out", flush=True)
                        continue
                    self.known[x] = value
                    seconds[x], ran[x] = took, hit
                    for f, which in more.items():
                        lines.setdefault(f, set()).update(which)
        what = "digests" if any(x.digest for x in things) else "tests"
        print(f"# {len(ran)} {what} of {sum(seconds.values()):.0f} s in all", flush=True)
        self.map = coverage.Coverage(ran, lines, lambda x: (seconds[x], x.name))
        self.seconds = seconds

    def compiled(self, path, folder):
        ret = folder / pathlib.Path(path).with_suffix(".o")
        ret.parent.mkdir(parents=True, exist_ok=True)
        children.run_well([*self.tools.compile, "-w", "--coverage", "-c", path, "-o", ret])
        return ret

    def linked(self, test, objects, folder):
        """False: it has functions of its own instead of some of the files'."""
        try:
            return bool(self.tools.program(test, objects, folder, ["--coverage"]))
        except RuntimeError:
            return False

    def asked(self, x, folder):
        program = self.tools.program(x.test, [], folder)
        with tempfile.TemporaryDirectory(prefix="alm-cover-") as prefix:
            value, took = outcome(x, program, DIGEST_S if x.digest else TEST_S, prefix, GCOV_PREFIX=prefix)
            return (value, took, *(coverage.lines_of(prefix) if value else ({}, {})))

    def without_counts(self, x, paths):
        """A child behind closed doors cannot write its counts, and fails: such a test is tried for all lines of what it is of."""
        with tempfile.TemporaryDirectory(prefix="alm-cover-") as folder:
            folder = pathlib.Path(folder)
            value, took = outcome(x, self.tools.program(x.test, [], folder), DIGEST_S if x.digest else TEST_S, folder)
        of = [p for p in paths if x.test in direct(self.tools, p)]
        return value, took, {p: range(1, pathlib.Path(p).read_text().count("\n") + 1) for p in of}

    def covering(self, m):
        """A line that none was seen to run may run in a child, which leaves no counts: those of the file itself are asked."""
        seen = self.map.tests_of(m.path, m.line, m.text)
        of = direct(self.tools, m.path)
        return seen or sorted((x for x in self.known if x.test in of and not x.digest), key=lambda x: self.seconds[x])

    def judge(self, folder, things):
        """The name of the first of them that notices."""
        for x in things:
            program = self.tools.program(x.test, [folder / "mutant.o"], folder)
            if outcome(x, program, int(3 * self.seconds[x]) + 5, folder)[0] != self.known[x]:
                return x.name
        return None
