"""Which test runs which line: every test once in a build with --coverage, kept as JSON beside that build.

A test is a unit test program or one simulation scenario. The map is made anew when a source or a test is newer.
gcov counts the first line of a statement only: what stands on a later one is run by the tests of the first, and a table
outside of all functions by all tests of its file.
"""
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

BUILD = "build-coverage"
MAP = pathlib.Path(BUILD, "map2.json.gz")
SCENARIOS = """toy server install upgrade story remove again race drift catalog migrate writers versions stalled detached ways
first oneoff interval resource""".split()
ENV = {**os.environ, "CMOCKA_MESSAGE_OUTPUT": "tap", "LC_ALL": "C", "TZ": "UTC"}
RUN_S = 300


def command_of(test, build):
    """["build/tests/test_map"] for "test_map", sim's arguments for "sim:story"."""
    kind, _, scenario = test.partition(":")
    return [f"{build}/sim", "--scenario", scenario, "--fault", "none"] if kind == "sim" else [f"{build}/tests/{test}"]


def tests_of():
    units = sorted(p.stem for p in pathlib.Path("tests/unit").rglob("test_*.c"))
    return units + [f"sim:{s}" for s in SCENARIOS]


def newest():
    roots = ("alm", "catalog", "crds", "installers", "tests/unit", "tests/sim", "tests/lib")
    return max(p.stat().st_mtime for r in roots for p in pathlib.Path(r).rglob("*.[ch]"))


def lines_of(prefix):
    """({file: [line]} of what ran, of all that gcov counts), from the counts below prefix."""
    ran, known = {}, {}
    for count in pathlib.Path(prefix).rglob("*.gcda"):
        notes = pathlib.Path("/", count.relative_to(prefix)).with_suffix(".gcno")
        if "/obj/tests/" in str(count) or not notes.exists():
            continue
        os.symlink(notes, count.with_suffix(".gcno"))
        out = subprocess.run(["gcov", "--json-format", "--stdout", count.name], cwd=count.parent, capture_output=True, check=False)
        for text in out.stdout.splitlines():
            for f in json.loads(text)["files"]:
                if f["file"].endswith(".c") and not f["file"].startswith("/"):
                    known.setdefault(f["file"], set()).update(x["line_number"] for x in f["lines"])
                    ran.setdefault(f["file"], set()).update(x["line_number"] for x in f["lines"] if x["count"])
    return {f: sorted(lines) for f, lines in ran.items() if lines}, known


def one(test):
    prefix = tempfile.mkdtemp(prefix="alm-cover-")
    try:
        env = {**ENV, "GCOV_PREFIX": prefix, "BUILD": BUILD}
        subprocess.run(command_of(test, BUILD), env=env, capture_output=True, timeout=RUN_S, check=False)
        return (test, *lines_of(prefix))
    finally:
        shutil.rmtree(prefix)


class Coverage:
    """The map: {test: {file: [line]}}, and {file: [line]} of all lines that gcov counts."""

    def __init__(self, ran, known):
        size = {t: sum(map(len, files.values())) + 10**6 * t.startswith("sim:") for t, files in ran.items()}
        self.known = {f: set(lines) for f, lines in known.items()}
        self.by_line, self.by_file = {}, {}
        for test in sorted(ran, key=lambda t: (size[t], t)):
            for f, lines in ran[test].items():
                self.by_file.setdefault(f, []).append(test)
                for line in lines:
                    self.by_line.setdefault((f, line), []).append(test)

    def tests_of(self, path, line, text):
        """Those that run the line; first those that run the least."""
        lines, known = text.splitlines(), self.known.get(path, ())
        for at in range(line, 0, -1):
            if at in known:
                return self.by_line.get((path, at), [])
            if at < line and lines[at - 1].startswith("}"):
                break
        return self.by_file.get(path, [])


def load(jobs):
    if not MAP.exists() or MAP.stat().st_mtime < newest():
        print("# the coverage map is made", flush=True)
        make = ["make", f"BUILD={BUILD}", "CC=" + os.environ.get("CC", "gcc"), "OPT=-O0 --coverage", "LDSAN=--coverage", "WERROR=",
                "STATIC=", "unit", "sim"]
        subprocess.run(make, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        ran, known = {}, {}
        with ThreadPoolExecutor(jobs) as pool:
            for test, hit, lines in pool.map(one, tests_of()):
                ran[test] = hit
                for f, more in lines.items():
                    known.setdefault(f, set()).update(more)
        known = {f: sorted(lines) for f, lines in known.items()}
        MAP.write_bytes(gzip.compress(json.dumps([ran, known]).encode()))
    return Coverage(*json.loads(gzip.decompress(MAP.read_bytes())))
