"""Random texts for the template fuzzers: strings, numbers, regular expressions, versions, dates, formats.

Every function takes a random.Random and returns text; quoted() makes a template constant of it."""
import json

WORDS = ["", "a", "abc", "hello world", "Hello-World_x2", "HTTPServerURL", "é€😀", "a,b,,c", "  pad  ", "line1\nline2\n", "true", "null",
         "a: b", "- x", "x=1", "%d%s", "http://u:p@h:80/p?q=1#f", "mailto:a@b", "/a/b/../c.tar.gz", "a//b/./c/", "..", "YWJj", "YWJ", "ME======",
         "\t\x01\u2028", "a\\b\"c", "yes", "2020-01-02", "1:30", "#c", "word " * 30, "a  b\n  c", "\n", "e\u0301", "100%", "<a href='x'>&</a>",
         "ǅ ß ŉ", "日本 語", "foo.bar-baz_qux", "--x--", "aaa", "abcabc", "one two  three", "<no value>", "\r\n", "\u00a0x\u0085", "K\u212aſ", "\ufeffb"]
NUMBERS = ["0", "1", "-5", "012", "0x1F", "0b101", "0o17", "1_000", "1e3", "1.5", "1.00", "-2.5e-3", "08", " 5", "5 ", "9223372036854775807",
           "9223372036854775808", "-9223372036854775808", "1e400", ".5", "5.", "+7", "inf", "NaN", "0x1p-2", "1__0", "_1", "12abc", "٣", "0.1", "1E+2"]
INTS = ["0", "1", "2", "3", "-1", "7", "10", "100", "1000000", "-3", "0x1f", "'x'", "0b11", "0o17", "017", "1_000", "'\\n'", "9223372036854775807",
        "-9223372036854775808", "4294967296", "2.0"]
FLOATS = ["0.0", "1.5", "-2.25", "1e6", "1e21", "0.1", "1e-7", "123456.789", "3.0", "1e300", "0x1p4", "-0.0", "2.5", "-1.5", "0.5", "1e20", "99999.95",
          "1.7976931348623157e308", "5e-324", "1_0.5", "100.0"]
LETTERS = "aAbBzZ09-_.,:;/\\ \t\n\"'#%{}[]()<>&|!?*+=@$^~`éß€日😀"


def quoted(text):
    """A template constant: double-quoted as Go reads it."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\x7f").replace("\u0085", "\\u0085").replace("\u2028", "\\u2028").replace("\ufeff", "\\ufeff")


def string(r):
    k = r.random()
    if k < 0.6:
        return r.choice(WORDS)
    if k < 0.75:
        return r.choice(NUMBERS)
    return "".join(r.choice(LETTERS) for _ in range(r.randint(0, 14)))


def atom(r, depth):
    k = r.random()
    if k < 0.35:
        return r.choice(["a", "b", "l", "o", "x", "é", " ", "-", "1", "\\.", "\\-", "\\n", "\\t", "\\x41", "\\x{e9}", "\\101", "\\a", "\\f", "\\v", "\\z", "\\A"])
    if k < 0.55:
        return r.choice([".", "\\d", "\\w", "\\s", "\\D", "\\W", "\\S", "\\b", "\\B", "^", "$", "\\pL", "\\p{Lu}", "\\P{L}", "\\p{Greek}", "\\p{^Lu}", "\\QA.b\\E", "\\C"])
    if k < 0.75:
        body = "".join(r.choice(["a", "a-f", "0-9", "^", "-", "\\d", "\\s", "\\]", "é", "[:alpha:]", "[:^digit:]", ".", "\\b", "z-a", "]", "\\w", "[", "\\pL", "&&", "A-z"])
                       for _ in range(r.randint(0, 4)))
        return "[" + r.choice(["", "", "^"]) + body + "]"
    if depth <= 0:
        return "a"
    return "(" + r.choice(["", "", "", "?:", "?P<n>", "?<m>", "?i:", "?s-i:", "?U:", "?m:", "?P=n", "?=", "?!", "?<=", "?i", "?P<1>", "?x:", "?-:", "?"]) + regex(r, depth - 1) + ")"


def regex(r, depth=2):
    text = ""
    for _ in range(r.randint(0, 3)):
        text += atom(r, depth)
        if r.random() < 0.4:
            text += r.choice(["*", "+", "?", "*?", "+?", "??", "{2}", "{1,}", "{0,2}", "{,2}", "{2,1}", "{1001}", "{0}", "{1,2}?", "**", "a{", "{x}", "*+"])
    if r.random() < 0.2:
        text += "|" + regex(r, depth - 1) if depth > 0 else "|b"
    return text


def replacement(r):
    return "".join(r.choice(["$1", "${1}", "$0", "$$", "$n", "${n}", "x", "-", "$", "${", "$1x", "${1}x", "\\1", "é", "$10", "${2", "$_"]) for _ in range(r.randint(0, 3)))


def version(r):
    text = r.choice(["", "", "", "v"]) + ".".join(r.choice(["0", "1", "2", "3", "10", "01", "20240101"]) for _ in range(r.choice([3, 3, 3, 3, 1, 2, 4])))
    if r.random() < 0.35:
        text += "-" + ".".join(r.choice(["rc", "1", "alpha", "0", "01", "x-y", "10", "a_b", ""]) for _ in range(r.randint(1, 3)))
    if r.random() < 0.2:
        text += "+" + r.choice(["b", "build.1", "01", "", "a+b"])
    return text


def constraint(r):
    def one():
        v = version(r) if r.random() < 0.6 else r.choice(["1", "1.2", "1.x", "1.2.x", "*", "x", "1.*.3", "X", "1.2.*", "0", "0.0", "0.0.x", ""])
        return r.choice(["", "=", "!=", ">", "<", ">=", "<=", "=<", "=>", "~", "~>", "^", "", ">= ", "^ ", "==", "><"]) + v
    text = one()
    for _ in range(r.choice([0, 0, 1, 2])):
        text += r.choice([", ", " ", " || ", "||", ",", " - ", "-", "  "]) + one()
    return text


def layout(r):
    return "".join(r.choice(["2006", "06", "January", "Jan", "01", "1", "_2", "02", "2", "002", "__2", "Monday", "Mon", "15", "03", "3", "04", "4", "05", "5", "PM", "pm", "MST",
                             "-0700", "-07:00", "-07", "Z0700", "Z07:00", "Z07", "-07:00:00", ".000", ".999", ",000", ".0", "-", ":", "T", " ", "/", "x", "é", "2006x", "January2"])
                   for _ in range(r.randint(1, 7)))


def duration(r):
    return r.choice(["1h", "24h", "1h30m", "90m", "100h", "-1.5h", "1s", "95", "1m35s", "2ns", "1us", "1µs", "3ms", "8761h", "800h", "0", "", "x", "1d", "1.5", "-0", "+5m", "1h1h", "1e3s",
                     "2562047h47m16.854775807s", "9999999h", ".5s", "5.s"])


def fmt(r):
    """A printf format with flags, width, precision, argument indexes and all verbs."""
    text = ""
    for _ in range(r.randint(1, 4)):
        text += r.choice(["", "", " ", "|", "é", "a"])
        if r.random() < 0.05:
            text += r.choice(["%", "%%", "%!", "% ", "%-", "%[", "%[x]d", "%[0]d", "%[1]", "%.", "%z", "%é"])
            continue
        text += "%" + "".join(r.choice("+-# 0") for _ in range(r.choice([0, 0, 0, 1, 1, 2])))
        text += r.choice(["", "", "", "[1]", "[2]", "[3]", "[9]"]) if r.random() < 0.3 else ""
        text += r.choice(["", "", "", "1", "5", "12", "*", "20"]) + r.choice(["", "", "", ".0", ".1", ".3", ".10", ".", ".*"])
        text += r.choice("vvvvsssqqdddxxXTtbcoOUeEfFgGw")
    return text


def toml(r):
    def scalar():
        return r.choice(["1", "-2", "1.5", "1e6", "true", "\"x\"", "'lit\\n'", "1979-05-27", "1979-05-27T07:32:00Z", "07:32:00", "0xff", "0o17", "1_000", "inf", "nan", "\"\"\"a\nb\"\"\"",
                         "[1, 2.5]", "[]", "{a = 1, b = [true]}", "'''\nx'''", "1979-05-27 07:32:00.5-07:00", "\"\\u00e9\"", "[[1], [\"x\"]]", "1__0", "x", "", "+5", "1979-05-27T07:32:00"])
    text = ""
    for _ in range(r.randint(0, 5)):
        k = r.random()
        name = r.choice(["a", "b", "c", "a.b", "\"q k\"", "x-y", "'l'", "1"])
        if k < 0.65:
            text += "%s%s = %s%s\n" % (r.choice(["", "", "  "]), name, scalar(), r.choice(["", "", " # c"]))
        elif k < 0.8:
            text += "[%s]\n" % name
        elif k < 0.95:
            text += "[[%s]]\n" % name
        else:
            text += r.choice(["# c\n", "\n", "=\n", "[a\n", "a\n", "\ufeff"])
    return text
