#!/usr/bin/env python3
"""A module has a test of its own: a unit test of its name, or one that includes its header. One that has none is a line of
untested.txt, "PATH: TEST why", which names what shows it instead: a unit test program, a script of tests/e2e or the
simulation. Prints each module that is missing there, that has a test by now, or whose test is not there, and exits 1."""
import pathlib
import re
import sys

ROOTS = ("alm", "catalog", "crds", "installers")
LIST = "tests/lint/untested.txt"


def tests_there():
    units = {p.stem for p in pathlib.Path("tests/unit").rglob("test_*.c")}
    return units | {p.name for p in pathlib.Path("tests/e2e").glob("test_*.sh")} | {"sim"}


def without_test():
    # that a destructor takes NULL is no test of its module
    units = [p for p in pathlib.Path("tests/unit").rglob("*.[ch]") if not p.stem.endswith("_freed")]
    included = set(re.findall(r'#include "([^"]+)"', "".join(p.read_text() for p in units)))
    named = {p.stem.removeprefix("test_") for p in units}
    for root in ROOTS:
        for header in sorted(pathlib.Path(root).rglob("*.h")):
            if header.with_suffix(".c").exists() and str(header) not in included and header.stem not in named:
                yield str(header.with_suffix(".c"))


def listed():
    for number, line in enumerate(pathlib.Path(LIST).read_text().splitlines(), 1):
        if line and not line.startswith("#"):
            path, _, why = line.partition(": ")
            yield number, path, why


def findings(modules, lines, tests):
    seen = set()
    for number, path, why in lines:
        test, _, reason = why.partition(" ")
        if path in seen:
            yield f"{LIST}:{number}: {path} is there twice"
        elif path not in modules:
            yield f"{LIST}:{number}: {path} has a test of its own, or is gone: take the line away"
        elif test not in tests:
            yield f"{LIST}:{number}: {path}: no test {test or '(none)'}"
        elif not reason:
            yield f"{LIST}:{number}: {path}: no reason"
        seen.add(path)
    for path in sorted(set(modules) - seen):
        yield f"{path}: no unit test includes its header: write one, or give {LIST} the test that shows it"


SELF = list(findings(["a.c", "b.c", "c.c", "e.c"], [(1, "a.c", "sim why"), (2, "b.c", "test_gone why"), (3, "c.c", "sim"), (4, "d.c", "sim why"),
                                                    (5, "a.c", "sim why")], {"sim"}))
assert len(SELF) == 5, SELF

found = list(findings(list(without_test()), list(listed()), tests_there()))
print("\n".join(found), end="\n" if found else "")
sys.exit(1 if found else 0)
