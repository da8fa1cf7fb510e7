#!/usr/bin/env python3
"""parameters.py FILE...: a parameter that its function casts to void and uses nowhere is there because a table or a callback wants
that signature. A function that is only ever called has no such reason: the parameter goes. Of the tests nothing is reported."""
import re
import sys

FUNCTION = re.compile(r"^(static )?[\w \t*]*?\b(\w+)\(([^;{}]*)\)\n\{\n(.*?)^\}", re.M | re.S)
sources = {path: re.sub(r"""/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+'""", " ", open(path).read(), flags=re.S) for path in sys.argv[1:]}
values = {path: set(re.findall(r"\b(\w+)\b(?!\s*\()", text)) for path, text in sources.items()}
bad = False
for path, text in sources.items():
    if path.startswith("tests/"):
        continue
    for static, name, parameters, body in FUNCTION.findall(text):
        for unused in re.findall(r"^\s*\(void\)(\w+);", body, re.M):
            is_value = name in values[path] if static else any(name in v for v in values.values())
            if not is_value and not name.isupper() and re.search(rf"\b{unused}\b", parameters) and len(re.findall(rf"\b{unused}\b", body)) == 1:
                print(f"{path}: {name}() is only called, and does not use {unused}: take the parameter away")
                bad = True
sys.exit(bad)
