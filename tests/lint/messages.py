#!/usr/bin/env python3
"""messages.py FILE...: nobody decides by the words of a message. What decides is a code or a reason (alm/base/error.h), a field.

A message is a member or a variable with the name msg or message, what is read from a path that ends in message, and
whatever a function makes out of one by an assignment. It may be printed, copied and compared with another message (has
it changed?); a call that looks into one, or compares it with anything else, is a finding. Not seen: what another
function makes of its argument, unless the parameter says what it is. MAY has the places that may, each with its reason.
"""
import re
import sys

LOOKS = ("strcmp strncmp strcasecmp strncasecmp strstr strcasestr strchr strrchr strpbrk strspn strcspn memcmp memchr "
         "memmem sscanf fnmatch regexec cstr_eq cstr_in cstr_has_prefix cstr_has_suffix str_is str_eq str_cmp "
         "str_has_prefix str_has_suffix str_cut str_rcut str_next str_find str_ends str_starts").split()
EQUAL = {"strcmp", "cstr_eq", "str_eq", "str_cmp"}
PASS = "str_of str_trim str_skip str_sub str_n arena_strdup arena_strndup xstrdup strdup".split()
READ = "obj_str obj_get obj_path obj_text".split()
FUNCTION = re.compile(r"^((?:[\w]+[ \*]+)+)(\w+)\(([^{};]*)\)\n\{(.*?)^\}", re.S | re.M)
LOOK = re.compile(r"\b(%s)\(" % "|".join(LOOKS))
ASSIGN = re.compile(r"(?<![.>\w])(\w+) = ([^;]*);")
MAY = {
    "alm/audit/row_text.c: add_message": "shows digests with fewer digits",
    "alm/audit/row_text.c: transition": "does not show the version twice",
    "alm/cli/app/cmd_diff.c: print_findings": "shows the rule in a column of its own, not twice",
    "alm/cli/app/overview.c: add_available": "UpgradeAvailable has a version and a time in one text, to be shown apart",
    "alm/client/client.c: is_no_field": "Kubernetes answers 500 without any reason",
    "alm/controllers/app/approval_review.c: approval_review_wants": "a name that a ValidatingAdmissionPolicy or webhook can say in its message alone",
    "alm/controllers/apptype/app_metrics.c: judged_resource": "shows the resource as a label",
    "alm/controllers/fleet/install_of.c: add_row": "shows of a step's message the line of one object",
    "alm/controllers/fleet/install_of.c: why_of": "shows of a step's message the line of one object",
    "alm/sources/remote.c: name_url": "shows the address once, not twice",
    "alm/unit/switches.c: switches_is_immutable": "no reason and no cause of Kubernetes tells an immutable field from another 422",
    "installers/tmpl/failure.c: before_next": "Helm cuts its messages so, to show them",
}
SAMPLE = {"a.c": """static bool a(const struct error *err)
{
	return strstr(err->msg, "gone"); /* strstr(err->msg, "x") */
}

static bool b(const struct obj *c)
{
	const char *text = obj_str(c, "status.message");
	struct str s = str_of(text);
	return str_has_prefix(s, STR("plan"));
}

static bool c(const struct outcome *o, const struct error *err)
{
	return cstr_eq(o->msg, err->msg) && cstr_eq(o->reason, "Gone") && print(err->msg, "gone");
}

static bool d(const char *message)
{
	return !strcmp(message,
		       "gone");
}
"""}


def bare(text):
    return re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)


def arguments(text, at):
    """Those of the call whose bracket opens before at."""
    out, depth, start, quote = [], 0, at, False
    for i in range(at, len(text)):
        c = text[i]
        if c == '"' and text[i - 1] != "\\":
            quote = not quote
        elif quote:
            continue
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
            if depth < 0:
                return out + [text[start:i]]
        elif c == "," and not depth:
            out.append(text[start:i])
            start = i + 1
    return out


def is_message(e, names):
    """Does the expression e give the text of a message?"""
    e = e.strip().lstrip("!&*").strip()
    while e.startswith("(") and arguments(e, 1)[0] == e[1:-1]:
        e = e[1:-1].strip()
    choice = re.match(r"[^?\"]*\?(.*):([^:]*)$", e, re.S)
    if choice:
        return any(is_message(part, names) for part in choice.groups())
    call = re.match(r"(\w+)\(", e)
    if call and call.group(1) in PASS:
        return any(is_message(a, names) for a in arguments(e, call.end()))
    if call and call.group(1) in READ:
        return bool(re.match(r"\"([\w.]*\.)?message\"$", arguments(e, call.end())[-1].strip()))
    last = re.match(r"[\w.>\-\[\] ]*?(\w+)(\[\w+\])?(\.ptr)?$", e)
    return bool(last) and (last.group(1) in ("msg", "message") or e in names)


def check(files):
    found, unused = [], set(MAY)
    for path, text in files.items():
        text = bare(text)
        for m in FUNCTION.finditer(text):
            _, name, _, body = m.groups()
            names, more = set(), {""}
            while more:
                more = {a.group(1) for a in ASSIGN.finditer(body) if is_message(a.group(2), names)} - names
                names |= more
            for call in LOOK.finditer(body):
                args = [is_message(a, names) for a in arguments(body, call.end())]
                if not any(args) or (call.group(1) in EQUAL and all(args[:2])):
                    continue
                if "%s: %s" % (path, name) in MAY:
                    unused.discard("%s: %s" % (path, name))
                    continue
                line = text.count("\n", 0, m.start(4) + call.start()) + 1
                found.append("%s:%d: %s() looks into a message, in %s()" % (path, line, call.group(1), name))
    return found, unused


def main(paths):
    sample = [f.rsplit(" ", 1)[1] for f in check(SAMPLE)[0]]
    if sample != ["a()", "b()", "d()"]:
        print("messages.py: of its own sample it finds", sample)
        return 2
    files = {}
    for path in paths:
        with open(path, encoding="utf-8") as f:
            files[path] = f.read()
    found, unused = check(files)
    found += ["tests/lint/messages.py: MAY names %s, which needs it no more" % u for u in sorted(unused)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
