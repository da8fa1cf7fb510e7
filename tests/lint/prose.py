#!/usr/bin/env python3
"""prose.py ALM [FILE...]: commands inside of sentences (messages, conditions, help, descriptions of CRDs) are commands of this program.

A command in a sentence is what stands between backticks, or behind ": ", "by " and the like, and begins with alm. Its
words must be commands that ALM has, and its flags those that the help of the command lists. Words to be replaced are in
capitals, or %s. (A step on a line of its own is steps.py's.) Prints what is not, and exits 1.
"""
import glob
import re
import subprocess
import sys

NO_CLUSTER = {"KUBECONFIG": "/nonexistent", "HOME": "/nonexistent"}  # whose types would be completed
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
TICKED = re.compile(r"`(alm [^`]+)`")
PLAIN = re.compile(r"(?:: |\bby |\bsee |\bor |\bthen )(alm (?:[a-z-]+ ?)+(?:(?:--?[a-z-]+|%s|[A-Z][A-Z.=]*)(?:[ ;,.]|$))*)")
WORD = re.compile(r"^[a-z][a-z-]*$")


def literals(text):
    """Adjacent ones joined; PRId64 and the like are one word."""
    text = re.sub(r'" *PRI[a-zA-Z0-9]+ *"', "d", text)
    text = re.sub(r'"[ \t\n]+"', "", text)
    for m in STRING.finditer(text):
        yield m.start(), m[1].replace("\\n", "\n").replace('\\"', '"')


def sources():
    names = []
    for root in ("alm", "catalog", "crds", "installers"):
        names += glob.glob(root + "/**/*.c", recursive=True) + glob.glob(root + "/**/*.yaml", recursive=True)
    return sorted(names)


class Alm:
    def __init__(self, path):
        self.path, self.pages = path, {}

    def page(self, words):
        """Help of a command; None: there is none."""
        key = " ".join(words)
        if key not in self.pages:
            got = subprocess.run([self.path, *words, "--help"], capture_output=True, text=True, check=False, env=NO_CLUSTER)
            self.pages[key] = got.stdout + got.stderr if got.returncode == 0 else None
        return self.pages[key]

    def fault(self, command):
        words = re.split(r"[ |]+", command.strip(" .;,"))[1:]
        path = []
        for word in words:
            if not WORD.match(word) or not self.has_child(path, word):
                break
            path.append(word)
        rest = words[len(path):]
        if not path:
            return None if not words or not WORD.match(words[0]) or words[0] == "help" else "there is no command " + words[0]
        children = self.children(path)
        if rest and children and WORD.match(rest[0]) and rest[0] not in children:
            return "alm %s has no command %s" % (" ".join(path), rest[0])
        for flag in rest:
            name = flag.strip("[].,;()").split("=")[0]
            if name.startswith("--") and len(name) > 2 and name not in self.page(path) and name not in (self.page([]) or ""):
                return "alm %s has no flag %s" % (" ".join(path), name)
        return None

    def children(self, path):
        got = subprocess.run([self.path, "completion", "words", "--", *path, ""], capture_output=True, text=True, check=False, env=NO_CLUSTER)
        return {line.split("\t")[0].split(" ")[0] for line in got.stdout.splitlines() if line and not line.startswith("-")}

    def has_child(self, path, word):
        return word in self.children(path)


def main():
    alm, bad, n = Alm(sys.argv[1]), [], 0
    for name in sys.argv[2:] or sources():
        with open(name, encoding="utf-8") as f:
            text = f.read()
        parts = literals(text) if name.endswith(".c") else [(0, text)]
        for at, part in parts:
            found = TICKED.findall(part) + PLAIN.findall(TICKED.sub("", part))
            for command in found:
                n += 1
                fault = alm.fault(command)
                if fault:
                    bad.append("%s:%d: `%s`: %s" % (name, text.count("\n", 0, at) + 1, command, fault))
    if n < 50:
        bad.append("only %d commands were found" % n)
    print("\n".join(bad), end="\n" if bad else "")
    return 1 if bad else 0


sys.exit(main())
