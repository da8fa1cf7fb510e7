#!/usr/bin/env python3
"""sizes.py FILE...: refuses files and functions that are too long to be found and seen at once.

A .c or .h of the product has at most FILE_MAX lines, one of the tests TEST_FILE_MAX; a function has at most FUNCTION_MAX
between its braces, unless a comment "NOLINT...(readability-function-size): why" stands right before it. A file that may be longer is a line of
sizes.txt, "PATH: LINES why", with the most lines that it may have. Prints what is too long there and here, and each line
of sizes.txt that has no use, and exits 1."""
import pathlib
import re
import sys

FILE_MAX = 500
TEST_FILE_MAX = 700
FUNCTION_MAX = 70
LIST = "tests/lint/sizes.txt"
ALLOWED = re.compile(r"NOLINT(NEXTLINE|BEGIN)\([^)]*readability-function-size[^)]*\): \S")


def limit_of(path):
    return TEST_FILE_MAX if path.startswith("tests/") else FILE_MAX


def functions(lines):
    """(line of its brace, lines between, is it allowed) of each function."""
    begin, allowed = None, False
    for number, line in enumerate(lines, 1):
        if ALLOWED.search(line):
            allowed = True
        if line == "{":
            begin = number
        elif line == "}" and begin:
            yield begin, number - begin - 1, allowed
            begin = None
            allowed = False
        elif line.startswith("}") or line.endswith(";") and not line.startswith("\t"):
            allowed = False


def listed(text):
    for number, line in enumerate(text.splitlines(), 1):
        if line and not line.startswith("#"):
            path, _, rest = line.partition(": ")
            lines, _, why = rest.partition(" ")
            yield number, path, int(lines) if lines.isdigit() else 0, why


def findings(files, rows):
    """files: path -> list of lines."""
    may = {}
    for number, path, most, why in rows:
        if not most or not why:
            yield f"{LIST}:{number}: want PATH: LINES why"
            continue
        if path in may:
            yield f"{LIST}:{number}: {path} is there twice"
        elif path not in files:
            yield f"{LIST}:{number}: {path} is gone: take the line away"
        elif len(files[path]) <= limit_of(path):
            yield f"{LIST}:{number}: {path} has {len(files[path])} lines, which each file may have: take the line away"
        may[path] = most
    for path, lines in files.items():
        most = may.get(path, limit_of(path))
        if len(lines) > most:
            yield f"{path}: {len(lines)} lines, of at most {most}: divide it where a newcomer would look for a part by its name"
        for begin, n, allowed in functions(lines):
            if n > FUNCTION_MAX and not allowed:
                yield f"{path}:{begin}: a function of {n} lines, of at most {FUNCTION_MAX}"


def self_test():
    long, note = ["\tf();"] * 71, "/* NOLINTNEXTLINE(readability-function-size): a flat switch */"
    files = {
        "a/long.c": ["x;"] * 501,  # found
        "a/fits.c": ["x;"] * 500,
        "tests/fits.c": ["x;"] * 700,
        "tests/long.c": ["x;"] * 701,  # found
        "a/table.c": ["x;"] * 600,
        "a/grown.c": ["x;"] * 601,  # found
        "a/small.c": ["x;"],  # its row is found
        "a/function.c": ["int f(void)", "{", *long, "}", "int g(void)", "{", *long[1:], "}"],  # f is found
        "a/allowed.c": [note, "int f(void)", "{", *long, "}"],
        "a/once.c": [note, "int f(void)", "{", "}", "int g(void)", "{", *long, "}"],  # g is found
        "a/reason.c": ["/* NOLINTNEXTLINE(readability-function-size) */", "int f(void)", "{", *long, "}"],  # found
    }
    text = "# rows\n\na/table.c: 600 a table\na/grown.c: 600 a table\na/small.c: 600 a table\na/gone.c: 600 a table\na/fits.c: some\n"
    found = list(findings(files, list(listed(text))))
    assert len(found) == 9, found
    for part in ("a/long.c:", "tests/long.c:", "a/grown.c:", "a/small.c", "a/gone.c", "a/function.c:2:", "a/once.c:6:", "a/reason.c:3:", ":7: want"):
        assert any(part in f for f in found), (part, found)


def main():
    self_test()
    files = {p: pathlib.Path(p).read_text(encoding="utf-8").splitlines() for p in sys.argv[1:]}
    found = list(findings(files, list(listed(pathlib.Path(LIST).read_text(encoding="utf-8")))))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


sys.exit(main())
