"""What a realistic bug looks like in C text: each operator yields (line, column, end, replacement, operator).

Works on tokens, never on the text of comments, strings and preprocessor lines; only inside of functions. Deterministic:
the same text gives the same list in the same order. A mutant that does not compile is no mutant (mutate.py drops it).
"""
import re

TOKEN = re.compile(
    r'(?P<skip>/\*.*?\*/|//[^\n]*|\s+|\\\n)|(?P<str>"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\')'
    r"|(?P<word>[A-Za-z_]\w*)|(?P<num>\.?\d[\w.]*)"
    r"|(?P<op><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)",
    re.S,
)
OPEN, CLOSE = "([{", ")]}"
WORDS = set("if else for while do switch case default return goto break continue sizeof static const struct enum union".split())
# Calls without which only memory, a log line or speed would change: no test is asked to notice.
QUIET = re.compile(r"free|release|unref|_reset$|^log_|arena|assert|^va_|CLEANUP|prefetch|trim|shrink|munmap|close$|usage_count")
OFF_BY_ONE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
# The larger or smaller of two: of equals either is.
LARGER = re.compile(r"([\w.>\-\[\]]+(?: [-+] 1)?) [<>]=? ([\w.>\-\[\]]+(?: [-+] 1)?) \? (\1|\2) : (\1|\2)")


class Token:
    __slots__ = ("text", "at", "end", "kind")

    def __init__(self, text, at, end, kind):
        self.text, self.at, self.end, self.kind = text, at, end, kind


def tokens_of(text):
    plain = re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.M)
    out = []
    for m in TOKEN.finditer(plain):
        if m.lastgroup != "skip":
            out.append(Token(m.group(), m.start(), m.end(), m.lastgroup))
    return out


def pairs_of(tokens):
    """Index of the partner of each bracket."""
    partner, stack = {}, []
    for i, t in enumerate(tokens):
        if t.text in OPEN and t.kind == "op":
            stack.append(i)
        elif t.text in CLOSE and t.kind == "op" and stack:
            j = stack.pop()
            partner[i], partner[j] = j, i
    return partner


def functions_of(tokens, partner):
    """(first, last) of each body: a brace at depth 0 behind a parenthesis."""
    i = 0
    while i < len(tokens):
        t = tokens[i]
        if t.text == "{" and i in partner:
            if i and tokens[i - 1].text == ")":
                yield i, partner[i]
            i = partner[i]
        elif t.text in "([" and i in partner:
            i = partner[i]
        i += 1


def split_at(tokens, partner, first, last, separator):
    """Parts of tokens[first:last] between separators of this level."""
    parts, start, i = [], first, first
    while i < last:
        if tokens[i].text in OPEN and i in partner:
            i = partner[i]
        elif tokens[i].text == separator:
            parts.append((start, i))
            start = i + 1
        i += 1
    parts.append((start, last))
    return parts


class Mutants:
    def __init__(self, text):
        self.text, self.found = text, []
        self.t = tokens_of(text)
        self.partner = pairs_of(self.t)
        for first, last in functions_of(self.t, self.partner):
            self.function(first, last)
        self.found.sort()

    def src(self, first, last):
        """Text of tokens[first:last]."""
        return self.text[self.t[first].at : self.t[last - 1].end] if last > first else ""

    def add(self, first, last, new, operator):
        at, end = self.t[first].at, self.t[last - 1].end
        self.found.append((at, end, new, operator))

    def function(self, first, last):
        in_for = in_assert = -1
        for i in range(first + 1, last):
            t = self.t[i]
            if t.kind == "word" and t.text == "assert" and i + 1 in self.partner:
                in_assert = self.partner[i + 1]  # what a correct program never fails: one that asks for less is as good
            if i <= in_assert:
                continue
            if t.kind == "word" and t.text == "for" and i + 1 in self.partner:
                in_for = max(in_for, self.partner[i + 1])
            if t.kind == "word" and t.text in ("if", "while") and i + 1 in self.partner:
                self.condition(t.text, i + 2, self.partner[i + 1])
            elif t.kind == "word" and t.text == "return":
                self.returned(i)
            elif t.kind == "op" and i > in_for:
                self.operator(i)
            if self.t[i - 1].text in ("{", "}", ";", ")", "else", ":") and t.kind == "word":
                self.statement(i)
            if t.text == "." and self.t[i - 1].text in ("{", ",") and self.t[i + 1].kind == "word":
                self.member(i)

    def condition(self, word, first, last):
        whole = self.src(first, last)
        if word == "if":
            self.add(first, last, f"!({whole})", "negate a condition")
            after = self.t[last + 1].text
            inner = self.t[last + 2].text if after == "{" else after
            if inner in ("return", "goto", "continue", "break"):
                self.add(first, last, f"0 && ({whole})", "drop a guard")
        self.junctions(first, last)

    def junctions(self, first, last):
        for word in ("||", "&&"):
            parts = split_at(self.t, self.partner, first, last, word)
            if len(parts) < 2:
                continue
            for k, (a, b) in enumerate(parts):
                rest = [self.src(x, y) for n, (x, y) in enumerate(parts) if n != k]
                if all(rest) and self.src(a, b):
                    self.add(first, last, f" {word} ".join(rest), "drop a condition")
            return

    def returned(self, i):
        end = i
        while self.t[end].text != ";":
            end = self.partner.get(end, end) + 1 if self.t[end].text in OPEN else end + 1
        value = self.src(i + 1, end)
        if re.match(r"-\s*(err->code|E_\w+|rc|r)\b", value) or re.match(r"(error_set|fail\w*|\w+_fail\w*)\s*\(", value):
            self.add(i + 1, end, "0", "swallow an error")
        self.junctions(i + 1, end)
        m = re.match(r"(\w*cmp\w*)\s*\(", value)
        if m and self.t[i + 2].text == "(" and self.partner.get(i + 2) == end - 1:
            args = split_at(self.t, self.partner, i + 3, end - 1, ",")
            if len(args) >= 2:
                (a, b), (c, d) = args[0], args[1]
                self.add(a, d, f"{self.src(c, d)}, {self.src(a, b)}", "reverse an order")

    def operator(self, i):
        t, before, after = self.t[i], self.t[i - 1], self.t[i + 1]
        if t.text in OFF_BY_ONE and (before.kind in ("word", "num") or before.text in ")]"):
            if self.is_larger_of_two(t.at):
                return
            self.add(i, i + 1, OFF_BY_ONE[t.text], "off by one")
        elif t.text in ("+", "-") and after.text == "1" and (before.kind == "word" or before.text in ")]"):
            self.add(i, i + 2, "", "off by one")
        elif t.text == "(" and before.kind == "word" and before.text not in WORDS and i in self.partner:
            if QUIET.search(before.text):
                return
            args = split_at(self.t, self.partner, i + 1, self.partner[i], ",")
            for a, b in args if len(args) > 1 else []:
                old = self.src(a, b)
                if re.fullmatch(r"[A-Za-z_][\w.>-]*", old) and old not in ("NULL", "err", "true", "false", "a", "v", "arena"):
                    self.add(a, b, "0", "drop an argument")

    def is_larger_of_two(self, at):
        line = self.text.rfind("\n", 0, at) + 1
        return any(m.start() <= at < m.end() for m in LARGER.finditer(self.text[: at + 200], line))

    def statement(self, i):
        """A call whose answer nobody takes, or an assignment to a member."""
        t = self.t[i]
        if t.text in WORDS:
            return
        end = i
        while end < len(self.t) and self.t[end].text not in (";", "{", "}"):
            end = self.partner.get(end, end) + 1 if self.t[end].text in "([" else end + 1
        if end >= len(self.t) or self.t[end].text != ";":
            return
        whole = self.src(i, end)
        if re.fullmatch(r"\w+\s*\(.*\)", whole, re.S) and self.partner.get(i + 1) == end - 1:
            if not QUIET.search(t.text):
                self.add(i, end, "(void)0", "skip a call")
        elif re.match(r"[A-Za-z_][\w\[\]]*(->|\.)[^=!<>]*=[^=]", whole) and "(" not in whole.split("=")[0]:
            self.add(i, end, "(void)0", "lose a field")

    def member(self, i):
        end = i
        while self.t[end].text not in (",", "}"):
            end = self.partner.get(end, end) + 1 if self.t[end].text in OPEN else end + 1
        zero = end == i + 4 and self.t[i + 3].text in ("0", "false", "NULL")  # as one that is left out
        if self.t[i + 2].text == "=" and not zero:
            self.add(i, end + (self.t[end].text == ","), "", "lose a field")


def mutants_of(text):
    """Sorted, each once: (line, column, at, end, new, operator)."""
    out, seen = [], set()
    for at, end, new, operator in Mutants(text).found:
        if (at, end, new) in seen:
            continue
        seen.add((at, end, new))
        line = text.count("\n", 0, at) + 1
        out.append((line, at - text.rfind("\n", 0, at), at, end, new, operator))
    return out
