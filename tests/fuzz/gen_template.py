"""Random Go templates for the differential fuzzer: expressions over every reproducible function, methods, and all actions.

NEVER names the functions that are left out since their result is not reproducible."""
import json

import gen_text
import gen_value
from gen_text import quoted

NEVER = set("""ago bcrypt encryptAES genCA genCAWithKey genPrivateKey genSelfSignedCert genSelfSignedCertWithKey genSignedCert genSignedCertWithKey
htpasswd now randAlpha randAlphaNum randAscii randBytes randInt randNumeric shuffle uuidv4""".split())
PATHS = [".Values.str", ".Values.int", ".Values.float", ".Values.t", ".Values.nil", ".Values.list", ".Values.map", ".Values.map.a", ".Values.map.deep.x", ".Values.nope",
         ".Values.empty", ".Values.mixed", ".Values.text", "$.Values.big", ".Values.map.deep.y.z", ".Values.emptymap", ".Values.maps", ".Values", ".Values.nil.x", ".Values.map.a.b",
         "(.Values.nil).x.y", ".Values.nums", ".", "$", ".Values.yamls"]
METHODS = [".Chart.Name", ".Chart.Version", ".Chart.AppVersion", ".Chart.Annotations", ".Chart.Annotations.k", ".Chart.Keywords", ".Chart.Maintainers", ".Chart.Dependencies",
           ".Chart.Type", ".Chart.KubeVersion", ".Chart.IsRoot", ".Chart.Home", ".Chart.Sources", ".Chart.Deprecated", ".Chart.Nope", ".Chart.name", ".Chart", ".Release", ".Release.Name",
           ".Release.Namespace", ".Release.IsInstall", ".Release.Revision", ".Release.Service", ".Release.Nope", ".Template.Name", ".Template.BasePath", ".Template", ".Subcharts",
           ".Capabilities.KubeVersion", ".Capabilities.KubeVersion.Version", ".Capabilities.KubeVersion.Major", ".Capabilities.KubeVersion.GitVersion", ".Capabilities.KubeVersion.String",
           ".Capabilities.APIVersions", "(.Capabilities.APIVersions.Has \"apps/v1\")", "(.Capabilities.APIVersions.Has \"x/v1\")", ".Capabilities.HelmVersion.Version",
           ".Capabilities.HelmVersion.GoVersion", ".Capabilities.Nope", "(.Files.Get \"f.txt\")", "(.Files.Get \"nope\")", "(.Files.GetBytes \"f.txt\")", "(.Files.Lines \"f.txt\")",
           "(.Files.Glob \"d/*\").AsConfig", "(.Files.Glob \"**.txt\").AsSecrets", "(.Files.Glob \"{f,d/*}.txt\")", "(.Files.Glob \"[a-z].txt\").AsConfig", ".Files.AsConfig", ".Files",
           "(index .Files \"f.txt\")", "(.Files.Lines \"nope\")", "(.Files.Lines \"e.txt\")", "(.Files.Get)", "(.Files.Get 1)", ".Files.Nope", "(.Values.AsMap)", ".Values.AsMap", ".Values.YAML",
           "(.Values.Table \"map.deep\")", "(.Values.Table \"map.a\")", "(.Values.PathValue \"map.deep.x\")", "(.Values.PathValue \"nope.x\")", "(.Values.PathValue \"str\")", ".Values.Nope",
           ".Subcharts.sub.Values", ".Subcharts.sub.Chart.Name", ".Subcharts.nope", ".Subcharts.sub.Template.Name", ".Subcharts.sub.Files", ".Subcharts.sub.Release.Name"]
TIMES = ["Format \"2006-01-02\"", "Unix", "Year", "Month", "Day", "Weekday", "YearDay", "Hour", "UTC", "AddDate 0 1 -1", "UnixNano", "IsZero", "String", "UnixMilli", "Nope", "Format 1"]
VERSIONS = ["Major", "Minor", "Patch", "Prerelease", "Metadata", "Original", "String", "IncMajor", "IncMinor", "IncPatch", "Nope"]
# name: (result, parameters). s string, i int, k small int, f float, b bool, l list, m map, v anything, r pattern, P replacement, L layout,
# t time, V version, R constraint, D duration, T TOML, Y YAML, J JSON, F format, N named template, Z zone, B base64, X template text, K typed kind name
FUNCTIONS = {}


def table(text):
    for line in text.split("\n"):
        if line.strip():
            result, params, names = line.split(None, 2)
            for name in names.split():
                FUNCTIONS[name] = (result, "" if params == "-" else params)


table("""
s s upper lower title untitle trim nospace initials swapcase snakecase camelcase kebabcase sha1sum sha256sum sha512sum adler32sum b64enc b32enc
s s regexQuoteMeta base dir clean ext osBase osDir osClean osExt getHostByName
s v squote js html urlquery toString quote toYaml mustToYaml toJson mustToJson toPrettyJson mustToPrettyJson toRawJson mustToRawJson typeOf kindOf print println toYamlPretty toToml
s B b64dec b32dec
b s isAbs osIsAbs
s is trunc wrap abbrev
s ks indent nindent repeat
s iis substr abbrevboth
s ss trimSuffix trimPrefix trimAll trimall
s sss replace
s vv cat print println quote squote
s sl join
s ssi plural
s iss wrapWith
s - hello
s F printf
s Fv printf
s Fvv printf
s Fvvv printf
b ss contains hasPrefix hasSuffix
b rs regexMatch mustRegexMatch
s rs regexFind mustRegexFind
s rsP regexReplaceAll regexReplaceAllLiteral mustRegexReplaceAll mustRegexReplaceAllLiteral
l rsi regexFindAll regexSplit mustRegexFindAll mustRegexSplit
l ss splitList
m ss split
m sis splitn
l k until
l kkk untilStep
s k seq
s kk seq
s kkk seq
l l rest initial reverse uniq compact toStrings sortAlpha mustRest mustInitial mustReverse mustUniq mustCompact
v l first last mustFirst mustLast
l lv append prepend without push mustAppend mustPrepend mustPush mustWithout
l lvv without mustWithout
l ll concat
l l concat
l l slice
l lk slice
l lkk slice mustSlice
l kl chunk mustChunk
b vl has mustHas
l vv list
l vvv list tuple
l - list
m sv dict
m svsv dict
m vvv dict
m - dict
v ms get
m msv set
m ms unset pick omit
m mss pick omit
b ms hasKey
l sm pluck
l smm pluck
v mm merge mergeOverwrite mustMerge mustMergeOverwrite
v mmm merge mergeOverwrite
v ssvm dig
v svm dig
v v deepCopy mustDeepCopy
v vv default coalesce
v vvb ternary
b v empty not
b vv deepEqual and or any all
v vvv and or coalesce any all
b ii eq ne lt le gt ge
b ff eq lt ge
b ss eq ne lt
b vv eq ne lt le gt ge
b vvv eq
b Kv typeIs kindIs typeIsLike
i v int len
i s atoi
i n atoi
i n int int64 float64 toDecimal
i v int64 add1 floor ceil float64 toDecimal
i vv add sub mul max min div mod biggest
i vvv add mul max min
i nn div mod max
f vv addf subf mulf divf maxf minf
f v add1f
f nn addf subf mulf divf
f vi round
f nif round
m Y fromYaml
m J fromJson
m s fromYaml fromJson urlParse
v J mustFromJson
m T fromToml
l Y fromYamlArray
l J fromJsonArray
s m urlJoin toToml
v li index
v ms index
v lii index
v mss index
v v index
s Lt date htmlDate
s LtZ dateInZone date_in_zone
s tZ htmlDateInZone
s t htmlDate unixEpoch
t Dt dateModify date_modify mustDateModify must_date_modify
t LS toDate mustToDate
s D duration durationRound
s v duration durationRound
b RV semverCompare
v V semver
s Nv include
s Xv tpl
v sv required
s s fail
m ssss lookup
s kKsss derivePassword
s sB decryptAES
v BB buildCustomCert
v v call
""")
FUNCTIONS["htmlDate"] = ("s", "t")


class Template:
    """One random template; wild is the chance that an argument is of another kind."""

    def __init__(self, rnd, wild=0.06, names=("h.self", "h.args", "h.count", "h.none", "c/templates/f000.yaml")):
        self.r, self.vars, self.wild, self.names, self.loops, self.used = rnd, [], wild, list(names), 0, set()

    def special(self, kind):
        """A constant of one of the kinds that stand for a language of their own."""
        r = self.r
        texts = {"L": gen_text.layout, "R": gen_text.constraint, "V": gen_text.version, "r": gen_text.regex, "P": gen_text.replacement, "D": gen_text.duration, "T": gen_text.toml,
                 "F": gen_text.fmt, "Y": gen_value.document, "J": self.json, "S": lambda r: r.choice(["2021-03-04", "Mon Jan  2 15:04:05 2006", "01/02/06", "x", "2020-02-30"])}
        if kind in texts:
            return quoted(texts[kind](r))
        if kind == "k":
            return r.choice(["0", "1", "2", "3", "5", "-2", "-1", "12"])
        if kind == "n":
            return r.choice(gen_text.INTS + gen_text.FLOATS + [quoted(n) for n in gen_text.NUMBERS] + ["true", "nil", ".Values.nil", ".Values.int", "(int64 3)"])
        if kind == "B":
            return quoted(r.choice(["YWJj", "YWJ", "YQ==", "YQ=", "Y", "ME======", "ME", "a b", "YW\nJj", "é", "====", "-_-_", "MFRGG==="]))
        if kind == "t":
            return r.choice(["(toDate \"2006-01-02\" \"2021-03-04\")", "1600000000", "(int64 0)", "(int64 1600000000)", "(\"1h\" | dateModify (toDate \"2006\" \"2020\"))",
                             "((int64 86400) | toString | toDate \"2006\")", "-1"])
        if kind == "Z":
            return quoted(r.choice(["UTC", "", "Local", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "No/Where", "EST"]))
        if kind == "K":
            return quoted(r.choice(["string", "int", "map", "slice", "float64", "bool", "invalid", "int64", "[]interface {}", "map[string]interface {}", "common.Values", "long", "pin", "struct"]))
        if kind == "N":
            return quoted(r.choice(self.names)) if r.random() < 0.95 else r.choice(["\"nope\"", "(print \"h.\" \"none\")", "(print .Template.BasePath \"/f001.yaml\")"])
        if kind == "X":
            if r.random() < 0.3:
                return r.choice([".Values.tpls.a", ".Values.tpls.b", ".Values.tpls.bad", "(index .Values.tpls.l 0)", "(toYaml .Values.tpls)", ".Values.tpls.nest"])
            inner = Template(r, self.wild, self.names)
            text = inner.body(1)
            self.used |= inner.used
            if r.random() < 0.2:
                text = "{{ define \"in\" }}" + inner.body(0) + "{{ end }}" + text + "{{ include \"in\" . }}"
            return quoted(text)
        return None

    @staticmethod
    def json(r):
        text = json.dumps(gen_value.value(r), ensure_ascii=r.random() < 0.5, indent=r.choice([None, None, 2]))
        if r.random() < 0.12:
            at = r.randrange(len(text) + 1)
            text = text[:at] + r.choice([",", "}", "x", "\"", "]", ":", "1", "\\", " ", "nul"]) + text[at + r.randint(0, 2):]
        return text

    def expr(self, kind, depth):
        r = self.r
        if r.random() < self.wild and kind in "sifblmvrLRVDTYJBn":
            kind = r.choice("sifblmv")
        if kind in "tV" and r.random() < 0.1:
            return "(toDate \"2006-01-02\" \"2021-03-04\").%s" % r.choice(TIMES) if kind == "t" else quoted(gen_text.version(r))
        text = self.special(kind)
        if text is not None:
            return text
        if depth <= 0 or r.random() < 0.25:
            return self.leaf(kind)
        names = [n for n, (res, _) in FUNCTIONS.items() if res == kind or kind == "v"]
        return "(" + self.call(r.choice(names), depth - 1) + ")"

    def leaf(self, kind):
        r = self.r
        if kind == "s":
            return quoted(gen_text.string(r)) if r.random() < 0.8 else r.choice([".Values.str", ".Values.text", "`raw\\n`", "`a\nb`", ".Release.Name", ".Chart.Name"])
        if kind == "i":
            return r.choice(gen_text.INTS)
        if kind == "f":
            return r.choice(gen_text.FLOATS)
        if kind == "b":
            return r.choice(["true", "false", ".Values.t"])
        if kind == "l":
            return r.choice(["(list)", "(list 1 \"a\" nil 2.5)", ".Values.list", ".Values.mixed", "(splitList \",\" \"b,a\")", "(until 3)", ".Values.maps", "(list (list 1) (dict \"a\" nil))",
                             "(list \"b\" \"a\" \"b\")", "(index .Values.nums)", "(tuple 1 1.0 \"1\" true)", ".Chart.Keywords", ".Values.yamls", "(chunk 2 (list 1 2 3))"])
        if kind == "m":
            return r.choice(["(dict)", "(dict \"a\" 1 \"b\" (dict \"c\" \"d\"))", ".Values.map", ".Values.map.deep", "(fromYaml \"a: {b: [1, null]}\\nc: 1.5\")", ".Values.emptymap",
                             "(split \",\" \"a,b\")", ".Chart.Annotations", ".Release", "(dict \"a\" nil \"b\" \"\" \"c\" false \"d\" list)", "(index .Values.maps 0)", ".Values", "(urlParse \"http://h/p\")"])
        pool = [self.leaf(k) for k in "sifblm"] + [r.choice(PATHS), r.choice(PATHS), r.choice(METHODS), "nil", "(%s)" % r.choice(PATHS)]
        if self.vars:
            pool += self.vars + [r.choice(self.vars) + r.choice([".a", ".b.c", ".Name"])]
        if r.random() < 0.04:
            pool = ["(semver \"1.2.3-rc.1+b\").%s" % r.choice(VERSIONS), "(toDate \"2006-01-02\" \"2021-03-04\").%s" % r.choice(TIMES), "1i", "(len)", "(1 | 2)", "$undeclared", "\"x\".y"]
        return r.choice(pool)

    def call(self, name, depth):
        params = FUNCTIONS[name][1]
        self.used.add(name)
        args = [self.expr(p, depth) for p in params]
        if name == "keys" or name == "values":
            return "%s %s | sortAlpha" % (name, args[0])
        if self.r.random() < self.wild / 3:
            args = args[:-1] if self.r.random() < 0.5 else args + [self.leaf("v")]
        if args and self.r.random() < 0.3 and not args[-1].startswith("-"):
            return "%s | %s" % (args.pop(), " ".join([name] + args))
        return " ".join([name] + args)

    def pipe(self, depth):
        r = self.r
        if r.random() < 0.08:
            self.used |= {"keys", "values"}
            return "%s %s | sortAlpha%s" % (r.choice(["keys", "values", "keys", "values"]), self.expr("m", 1), r.choice(["", " | toJson", " | join \",\""]))
        text = self.call(r.choice(list(FUNCTIONS)), depth) if r.random() < 0.85 else self.leaf("v")
        while r.random() < 0.2:
            text += " | " + r.choice(["toString", "quote", "toJson", "default 1", "toYaml", "upper", "len", "nindent 2", "trim", "kindOf", "int", "printf \"%v|%v\" 1", "b64enc", "list", "first", "not",
                                      "dict \"k\"", "fromYaml", "toYaml | fromYaml", "sha256sum", "typeOf", "empty", "ternary 1 2", "eq 1", "index .Values.list", "get .Values.map"])
        return text

    def action(self, depth):
        r = self.r
        what = r.random()
        trim = (r.choice(["", "", "- "]), r.choice(["", "", " -"]))
        if what < 0.5 or depth <= 0:
            return "{{%s %s%s }}" % (trim[0], self.pipe(r.randint(0, 3)), trim[1])
        if what < 0.6:
            middle = "{{ else if %s }}%s" % (self.expr("v", 1), self.body(depth - 1)) if r.random() < 0.3 else ""
            return "{{%s if %s%s }}%s%s{{ else }}%s{{ end }}" % (trim[0], self.expr("v", 2), trim[1], self.body(depth - 1), middle, self.body(depth - 1))
        if what < 0.74:
            return self.loop(depth)
        if what < 0.82:
            name = "$w%d" % len(self.vars)
            head = "%s := %s" % (name, self.expr("v", 2)) if r.random() < 0.4 else self.expr("v", 2)
            middle = "{{ else with %s }}%s" % (self.expr("v", 1), self.body(depth - 1)) if r.random() < 0.3 else ""
            return "{{ with %s }}%s%s{{ else }}%s{{ end }}" % (head, self.scoped([name] if ":=" in head else [], depth), middle, self.body(depth - 1))
        if what < 0.87:
            self.used |= {"include"}
            arg = r.choice([".", "$", "nil", "(dict \"n\" 3 \"Values\" .Values)", self.expr("v", 1)])
            return r.choice(["{{ template %s %s }}", "{{ include %s %s }}", "{{ include %s %s | indent 2 }}"]) % (self.special("N") if r.random() < 0.1 else quoted(r.choice(self.names)), arg)
        if what < 0.89:
            return r.choice(["{{/* c */}}", "{{- /* c\nd */ -}}", "{{ /* bad */ }}", "{{ }}", "{{ 1 | }}", "{{`{{`}}", "{{\"}}\"}}", "{{-3}}", "{{- 3 -}}", "{{ break }}", "{{ continue }}",
                             "{{ nil }}", "{{ (nil) }}", "{{ $ }}", "{{ true.x }}", "{{ .a.b.c }}", "{{ ..a }}", "{{ 1 2 }}", "{{ nil | quote }}", "{{ end }}", "{{ .Values.\u00e9 }}", "{{ 'ab' }}"])
        if self.vars and what < 0.94:
            return "{{ %s = %s }}" % (r.choice(self.vars), self.expr("v", 2))
        name = "$x%d" % len(self.vars)
        text = "{{ %s := %s }}" % (name, self.expr("v", 2))
        self.vars.append(name)
        return text + "{{ %s }}" % name

    def loop(self, depth):
        r = self.r
        over = self.expr(r.choice("lmmlv"), 2) if r.random() < 0.7 else r.choice(["3", "(until 4)", "(int 2)", "0", "-1", "\"abc\"", "(int64 2)", ".Values.int", ".Values.map", "nil", "1.5", "true",
                                                                                  ".Values.maps", ".Files", "(list 3 1 2)", "(dict \"b\" 1 \"a\" 2 \"é\" 3 \"\" 4)", ".Capabilities.APIVersions"])
        names = r.choice([[], [], ["$v"], ["$k", "$v"], ["$k", "$v"]])
        head = ", ".join(names) + (" := " if r.random() < 0.93 or not self.vars else " = ") if names else ""
        self.loops += 1
        body = self.scoped(names, depth)
        if r.random() < 0.3:
            leave = "{{ if %s }}{{ %s }}{{ end }}" % (self.expr("b", 1), r.choice(["break", "continue"]))
            body = r.choice([leave + body, body + leave, body + leave + "x"])
        self.loops -= 1
        return "{{ range %s%s }}%s%s{{ end }}" % (head, over, body, "{{ else }}" + self.body(depth - 1) if r.random() < 0.4 else "")

    def scoped(self, names, depth):
        mark = len(self.vars)
        self.vars += names
        text = self.body(depth - 1)
        if self.r.random() < 0.5:
            text += "{{ . }}" if self.r.random() < 0.7 or not names else "{{ %s }}" % names[-1]
        del self.vars[mark:]
        return text

    def body(self, depth):
        mark = len(self.vars)
        text = ""
        for _ in range(self.r.randint(1, 3)):
            text += self.r.choice(["", " ", "\n", "text ", "a: ", "é", "{ }", " \n\t"]) + self.action(depth)
        del self.vars[mark:]
        return text
