"""Random values and YAML texts of every style for the fuzzers: flow and block, all scalar styles, anchors, merge keys, comments, documents."""
import json
import re

WORDS = ["a", "b1", "a10", "A", "x-y", "x.y", "yes", "n", "true", "null", "~", "1", "01", "0x1F", "1e3", "1.5", "-1", ".5", "", " ", "a b", "a: b", "a #b", "#a", "- a", "-", "?",
         "[a", "{a", "'a", "\"a", "a'b", "%a", "@a", "`a", "2020-01-02", "2020-13-02", "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43", "1:30", "12:30:45", "1_000", "0o17", "0b11",
         "é", "日本", "😀", "a\tb", "a\nb", "a\nb\n", "a\n\nb\n\n", "\na", " a\nb", "a \nb", "x" * 90, "word " * 30, ("ab  " * 40).strip(), "<<", "=", "*a", "&a", "!a", "|", ">", "---",
         "--- a", "...", "a:", ":a", "on", "Off", "\u2028x", "a\u0085b", "\u00a0", "a\rb", "\ufeffa", "0", "00", "+5", "1.", "1e", "0x", "08", "1e400", "NULL", "nULL", "Y",
         "{{ x }}", "a,b", "a]", "<a>", "a&b", "\\", "\"", "it's", "a\\nb", "\x07", "\x1b", "-0", "0.0", "1e+06", "0o8", "0b2", "tRUE", "\t", "\ta", "a\t", "a\r\nb\r\n", "- ", "a: |"]
PLAIN = ["yes", "No", "ON", "off", "y", "n", "~", "null", "", "0o14", "014", "0x1f", "0b11", "1_000", "1e3", "1.", ".5", "-0", "+1", "685_230.15", "190:20:30", "2001-12-14",
         "<<", "=", "12345678901234567890", "-.5e-3", "0.1", "1e21", "9007199254740993", "a b", "a#b", "a:b", "-a", "?a", ":a", "x,y", "http://a/b", "08", "true", "Null",
         "0777", "!!str 1", "!foo 3", "!!str", "1 # c", "'a''b'", "\"a\\tb\\u00e9\\x41\\\n    c\"", "'two\n  lines'", "plain\n  more", "1,000", "0.", "1e-7", "a\tb",
         "1e400", "*", "!!int \"3\"", "!!float 1", "!!bool yes", "!!null x", "!!binary YWI=", "! 5", "\"esc \\/ \\' \\e\"", "- a", "a: b", "[a, b", "%x", "@x", "`x", "0x",
         "- - a", "? a", "|", "!!timestamp 2001-12-14", "\ttab"]
USUAL = 53  # so many of them are fine


def scalar(r):
    k = r.random()
    if k < 0.55:
        return r.choice(WORDS)
    if k < 0.65:
        return r.choice([True, False, None])
    if k < 0.75:
        return r.randint(-10, 2000000)
    if k < 0.82:
        return r.choice([0, 1000000, 9007199254740993, 12345678901234567890, 2**63, -2**63, 10**21, 1e-7, 1e21, 0.1, -0.0, 1e6, 1e20])
    if k < 0.9:
        return round(r.uniform(-1e6, 1e6), r.randint(0, 6))
    return "".join(r.choice("ab:#-?,[]{}'\" \n\t01.é_\\%@!&*|>~=") for _ in range(r.randint(0, 12)))


def key(r):
    return r.choice(WORDS) if r.random() < 0.3 else "".join(r.choice("abAB019-_.") for _ in range(r.randint(1, 6)))


def value(r, depth=0):
    k = r.random()
    if depth > 4 or k < 0.5:
        return scalar(r)
    if k < 0.75:
        return [value(r, depth + 1) for _ in range(r.randint(0, 4))]
    return {key(r): value(r, depth + 1) for _ in range(r.randint(0, 5))}


def exact(v):
    """v as JSON that YAML reads the same: no raw line separators, no surrogate pairs."""
    def joined(m):
        return "\\U%08x" % (0x10000 + ((int(m[1], 16) & 0x3ff) << 10) + (int(m[2], 16) & 0x3ff))
    return re.sub(r"\\u(d[89ab]..)\\u(d[c-f]..)", joined, json.dumps(v))


class Document:
    """A YAML text of random style; often valid, sometimes not."""

    def __init__(self, r, wild=0.03):
        self.r, self.wild, self.anchors, self.maps = r, wild, [], []

    def comment(self):
        return self.r.choice([" # c", "\t# c", " #"]) if self.r.random() < 0.08 else ""

    def between(self, pad):
        """What may stand between two entries: nothing, blank lines, comments at any column."""
        k = self.r.random()
        return "" if k < 0.85 else self.r.choice(["\n", "# c\n", pad + "# c\n", " " * 7 + "# c\n", "  \n", "\n\n"]) if self.r.random() > self.wild else "\t\n"

    def name(self):
        r = self.r
        if r.random() < self.wild:
            return r.choice(["? a\n", "[a]", "{a: b}", "\"a\\nb\"", "1.5", "yes", "0x10", "!!str 1", "a b", "- a"])
        return r.choice(["a", "b", "c", "d", "e", "k1", "k10", "x-y", "'q'", "\"dq\"", "on", "1", "A", "é"])

    def leaf(self, pad):
        r = self.r
        k = r.random()
        if k < 0.35:
            return r.choice(PLAIN[:USUAL]) if r.random() > self.wild * 3 else r.choice(PLAIN)
        if k < 0.5:
            return json.dumps(scalar(r), ensure_ascii=r.random() < 0.5)
        if k < 0.6:
            return "'" + str(scalar(r)).replace("'", "''").replace("\n", "\n\n" + pad + "  ") + "'"
        if k < 0.75:
            return self.block_text(pad)
        if k < 0.8 and self.anchors:
            return "*" + r.choice(self.anchors)
        return r.choice(["a", "b", "text", "1", "2.5", "true", "[]", "{}"])

    def block_text(self, pad):
        r = self.r
        inner = pad + " " * r.choice([1, 2, 2, 2, 3, 4])
        indicator = r.choice(["", "", "", "-", "+"]) if r.random() > self.wild else r.choice(["2", "1-", "+1", "0", "x"])
        lines = [r.choice(["", "", " ", "  "]) + r.choice(["a", "b c", "", "# no", "- x", "k: v", "a \\", "..", "é", "x: |", "'", "long " * 20, "trail "]) for _ in range(r.randint(0, 5))]
        body = "".join((inner + line if line.strip() or r.random() < 0.3 else "") + "\n" for line in lines)
        return r.choice("||>") + indicator + self.comment() + "\n" + body.rstrip("\n" if r.random() < 0.7 else "")

    def flow(self, depth):
        r = self.r
        k = r.random()
        if depth <= 0 or k < 0.5:
            return r.choice(["a", "1", "'x'", "\"y\"", "~", "true", "1.5", "a b", "", "x:y", "0x1f"]) if r.random() > self.wild else r.choice(["a: b", "#c", "*", "b:", "?x", "- a", "\"a\n b\"", "&x 1"])
        sep = r.choice([", ", ",", " , ", ",\n      "])
        if k < 0.75:
            return "[" + sep.join(self.flow(depth - 1) for _ in range(r.randint(0, 3))) + r.choice(["", "", ",", " "]) + "]"
        return "{" + sep.join("%s: %s" % (self.name(), self.flow(depth - 1)) for _ in range(r.randint(0, 3))) + r.choice(["", "", ",", " "]) + "}"

    def anchor(self):
        if self.r.random() < 0.12:
            name = self.r.choice(["x", "y", "z1"]) if self.r.random() > self.wild else "é"
            self.anchors.append(name)
            return "&%s " % name
        return ""

    def map_anchor(self):
        text = self.anchor()
        self.maps += [text.strip("& ")] if text else []
        return text

    def node(self, indent, depth, in_map):
        """The text after `key:` or `-`; starts with a blank or a newline."""
        r = self.r
        k = r.random()
        pad = " " * indent
        if depth <= 0 or k < 0.5:
            return " " + self.anchor() + self.leaf(pad) + self.comment()
        if k < 0.62:
            return " " + self.anchor() + self.flow(2) + self.comment()
        if k < 0.85:
            start = " " + self.map_anchor() if r.random() < 0.3 else ""
            return start.rstrip() + self.comment() + "\n" + self.mapping(indent + r.choice([1, 2, 2, 2, 4]), depth - 1).rstrip("\n")
        start = " " + self.anchor() if r.random() < 0.3 else ""
        extra = r.choice([0, 2, 2]) if in_map else 2
        return start.rstrip() + self.comment() + "\n" + self.sequence(indent + extra, depth - 1).rstrip("\n")

    def mapping(self, indent, depth):
        r = self.r
        pad = " " * indent
        text = ""
        for _ in range(r.randint(1, 4)):
            shift = " " if r.random() < self.wild / 3 else ""
            text += self.between(pad)
            anchors = self.maps if r.random() > self.wild else self.anchors
            if anchors and r.random() < 0.15:
                text += pad + "<<: " + r.choice(["*%s", "[*%s]", "[*%s, {a: 1}]", "[{b: 2}, *%s]"]) % r.choice(anchors) + "\n"
                continue
            if r.random() < 0.02:
                text += pad + "? " + r.choice(["a", "[a]", "k x"]) + "\n" + pad + ": b\n"
                continue
            text += pad + shift + self.name() + r.choice([":", ":", ":", " :"]) + self.node(indent, depth, True) + "\n"
        return text

    def sequence(self, indent, depth):
        r = self.r
        pad = " " * indent
        text = ""
        for _ in range(r.randint(1, 3)):
            text += self.between(pad)
            k = r.random()
            if depth > 0 and k < 0.25:
                text += pad + "- " + self.mapping(indent + 2, depth - 1).lstrip(" ").rstrip("\n") + "\n"
            elif depth > 0 and k < 0.35:
                text += pad + "- " + self.sequence(indent + 2, depth - 1).lstrip(" ").rstrip("\n") + "\n"
            else:
                text += pad + "-" + self.node(indent, depth, False) + "\n"
        return text

    def text(self, root="map"):
        r = self.r
        text = r.choice(["", "", "", "", "# head\n", "---\n", "\n\n", "--- # c\n"])
        if r.random() < self.wild:
            text = r.choice(["%YAML 1.1\n---\n", "\ufeff", "--- !!map\n", "...\n", "%TAG ! tag:x,2000:\n---\n", "--- |\n"])
        text += self.mapping(0, 3) if root == "map" or r.random() < 0.8 else self.sequence(0, 2)
        if r.random() < 0.06:
            text += r.choice(["---\n", "...\n", "---\n" + self.mapping(0, 1), "--- a\n", "...\n# c\n", "\t\n", "  # end"])
        k = r.random()
        if k < 0.06:
            text = text.replace("\n", "\r\n")
        elif k < 0.06 + self.wild / 2:
            text = text.replace("  ", "\t", 1)
        elif k < 0.09 + self.wild:
            at = r.randrange(len(text) + 1)
            text = text[:at] + r.choice([":", " ", "\n", "-", "{", "]", "\"", "'", "\t", "&", "*", "#", ",", "|", "\x01", "%", "?", "!"]) + text[at + r.randint(0, 1):]
        return text


def document(r, root="any", wild=0.03):
    return Document(r, wild).text(root)
