#!/usr/bin/env python3
"""predicates.py FILE...: what is named like a question, or answers with a bool, plans nothing (alm/engine/plan.h).

A function plans when it calls one of plan.h that takes a plan it may change, or gives a strategy another phase, or
calls a function that does, however far below. Questions are is_x, has_x, may_x and their like, behind the name of
their module or not, and all that return bool. Not seen: calls through pointers. A callback, whose first parameter is
void *, answers whether to go on, and may plan. Prints file:line and the calls that lead to the plan.
"""
import re
import sys

QUESTION = re.compile(r"(^|_)(is|are|has|have|may|can|must|needs|wants|lacks)_")
FUNCTION = re.compile(r"^((?:[\w]+[ \*]+)+)(\w+)\(([^{};]*)\)\n\{(.*?)^\}", re.S | re.M)
SAMPLE = {
    "plan.h": "void plan_init(struct plan *p, struct arena *a);\nvoid plan_add(struct plan *p, int type);\n"
              "bool plan_has_writes(const struct plan *p);\n",
    "a.c": "static int add(struct s *s)\n{\n\tplan_add(s->plan, 1);\n}\n\n"
           "static bool is_done(struct s *s)\n{\n\treturn add(s) == 0;\n}\n\n"
           "int s_has_turn(struct s *s)\n{\n\ts->phase = 2;\n}\n\n"
           "static bool each(void *arg)\n{\n\treturn add(arg);\n}\n\n"
           "bool is_free(const struct s *s)\n{\n\treturn !plan_has_writes(s->plan); /* plan_add() */\n}\n",
    "plan.c": "void plan_add(struct plan *p, int type)\n{\n}\n",
    "b.c": "static void add(void)\n{\n}\n\nstatic bool is_mine(void)\n{\n\tadd();\n\treturn true;\n}\n",
}


def code_of(text):
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text)


def check(files):
    """The findings of {path: text}, one line each."""
    functions, public, plans = {}, {}, {}
    for path, text in files.items():
        text = code_of(text)
        if path.endswith("plan.h"):
            for name in re.findall(r"(\w+)\(struct plan \*", text):
                plans["", name] = name
        for m in FUNCTION.finditer(text) if path.endswith(".c") else ():
            kind, name, args, body = m.groups()
            functions[path, name] = (kind, args, body, text.count("\n", 0, m.start()) + 1)
            if "static" not in kind.split():
                public[name] = path, name
    plans.pop(("", "plan_init"), None)
    calls = {}
    for key, (_, _, body, _) in functions.items():
        if re.search(r"->phase = ", body):
            plans[key] = key[1] + " -> phase ="
        names = set(re.findall(r"\b(\w+)\s*\(", body))
        calls[key] = [("", n) if ("", n) in plans else
                      (key[0], n) if (key[0], n) in functions else public.get(n) for n in sorted(names)]
    more = True
    while more:
        more = False
        for key, called in calls.items():
            way = next((plans[c] for c in called if c in plans), None)
            if way and key not in plans:
                plans[key] = key[1] + " -> " + way
                more = True
    found = []
    for (path, name), (kind, args, _, line) in functions.items():
        callback = args.startswith("void *")
        question = QUESTION.search(name) or ("bool" in kind.split() and not callback)
        if question and (path, name) in plans:
            found.append("%s:%d: a question plans: %s" % (path, line, plans[path, name]))
    return found


def main(paths):
    sample = [f.split(": ")[-1] for f in check(SAMPLE)]
    if sample != ["is_done -> add -> plan_add", "s_has_turn -> phase ="]:
        print("predicates.py: of its own sample it finds", sample)
        return 2
    files = {}
    for path in paths:
        with open(path, encoding="utf-8") as f:
            files[path] = f.read()
    found = check(files)
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
