#!/usr/bin/env python3
"""Every step that is printed is a command, and some script runs it as it stands.

A step is made by nextstep_new() (alm/obj/nextstep.h). Its format must be a line of tests/e2e/steps.txt
with the script of tests/e2e that runs what is printed (run_step of lib.sh, which checks at the end that each format
of its script was run), or "-" and why none does. Said wrongly:
  * a format that begins with no program, or with words to be replaced in it;
  * a list of steps that is filled by anything but nextstep_add().
"""
import os
import re
import sys

TABLE = "tests/e2e/steps.txt"
CALL = re.compile(r'nextstep_new\(')
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
BYPASS = re.compile(r'obj_append\(\s*(?:[a-z_]+(?:->|\.))?steps\b')
PLACEHOLDER = re.compile(r"\b(FILE|CRD|NAME|VERSION|APP|KIND|NAMESPACE)\b|<[a-z]")
MACROS = {"ANNOTATION_OWNER": '"app.coreos.com/owner"', "ASK_WHY_NOT": '"alm why-not "'}


def sources():
    for top in ("alm", "catalog", "crds", "installers"):
        for folder, _, names in os.walk(top):
            for name in sorted(names):
                if name.endswith(".c"):
                    yield os.path.join(folder, name)


def arguments(text, at):
    """The arguments of the call whose parenthesis opens before at."""
    depth, start, quoted, out = 0, at, False, []
    i = at
    while i < len(text):
        c = text[i]
        if quoted:
            if c == "\\":
                i += 1
            elif c == '"':
                quoted = False
        elif c == '"':
            quoted = True
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            if depth == 0:
                return out + [text[start:i]]
            depth -= 1
        elif c == "," and depth == 0:
            out.append(text[start:i])
            start = i + 1
        i += 1
    return out


def literal(argument):
    for name, value in MACROS.items():
        argument = re.sub(r"\b%s\b" % name, lambda _, v=value: v, argument)
    parts = STRING.findall(argument)
    return "".join(parts).replace('\\"', '"').replace("\\\\", "\\") if parts else None


def formats(path, text, problems):
    for call in CALL.finditer(text):
        if path == "alm/obj/nextstep.c":
            continue
        args = arguments(text, call.end())
        fmt = literal(args[2]) if len(args) > 2 else None
        line = text.count("\n", 0, call.start()) + 1
        if fmt is None:
            problems.append("%s:%d: the format of a step is no literal" % (path, line))
        elif fmt.replace("%s", "").strip() in ("", "/", "--reason TEXT"):
            continue  # a note or a name for a command that was made before
        elif not fmt.startswith(("alm ", "kubectl ", "helm ")):
            problems.append("%s:%d: a step begins with alm, kubectl or helm: %s" % (path, line, fmt))
        elif PLACEHOLDER.search(fmt):
            problems.append("%s:%d: words to be replaced in a step: %s" % (path, line, fmt))
        else:
            yield fmt, "%s:%d" % (path, line)


def table(problems):
    rows = {}
    with open(TABLE, encoding="utf-8") as lines:
        for n, line in enumerate(lines, 1):
            if not line.strip() or line.startswith("#"):
                continue
            fmt, tab, script = line.rstrip("\n").partition("\t")
            script = script.strip()
            if not tab or not script or script == "-":
                problems.append("%s:%d: want FORMAT, a tab, and a script or \"- why not\"" % (TABLE, n))
            elif not script.startswith("- "):
                path = "tests/e2e/" + script
                text = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
                if "steps_ran" not in text:
                    problems.append("%s:%d: %s does not say steps_ran at its end" % (TABLE, n, path))
            rows[fmt] = n
    return rows


def main():
    problems, found = [], {}
    for path in sources():
        with open(path, encoding="utf-8") as f:
            text = f.read()
        for m in BYPASS.finditer(text):
            if path != "alm/obj/nextstep.c":
                line = text.count("\n", 0, m.start()) + 1
                problems.append("%s:%d: steps are added by nextstep_add()" % (path, line))
        for fmt, where in formats(path, text, problems):
            found.setdefault(fmt, where)
    rows = table(problems)
    for fmt, where in found.items():
        if fmt not in rows:
            problems.append("%s: not in %s: %s" % (where, TABLE, fmt))
    for fmt, n in rows.items():
        if fmt not in found:
            problems.append("%s:%d: no step has this format" % (TABLE, n))
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems or not found else 0


if __name__ == "__main__":
    sys.exit(main())
