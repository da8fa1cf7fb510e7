#!/usr/bin/env python3
"""scripts.py FILE...: shell tests that cannot fail or wait blindly.

  - "|| true" hides the failure that a test is there to see;
  - "sleep" outside of a loop waits for a fixed time: what is to come is polled for (soon, until), and that nothing comes is
    watched with quiet_for of tests/e2e/lib.sh, the one place that may sleep so;
  - `is NAME "" "$(COMMAND)"`, or 0 and a count of lines, holds when COMMAND fails, too: none, lacks or seek of tests/e2e/lib.sh;
  - a script whose end does not say how many tests there were could end in the middle: finish, "1..N" (in a comment if another program prints it), or exec.

A line may say why it is right: "# sleep: REASON", "# empty: REASON"."""
import re
import sys

OPENS = re.compile(r"(^|[;&|\s(])(do)(\s|$)")
CLOSES = re.compile(r"(^|[;\s])done(\s|$|[)|<>&;])")
SLEEP = re.compile(r"(^|[;&|\s(])sleep \$?[0-9\"{a-zA-Z]")
ENDS = re.compile(r"^finish$|1\.\.[N$%]|^exec ")
EMPTY = re.compile(r"""\bis ("[^"]*"|\S+) (""|'') .*\$\(""")
COUNT = re.compile(r"""\bis ("[^"]*"|\S+) (0|"0") .*\$\(.*\b(wc -l|grep -\w*c)""")
HEREDOC = re.compile(r"<<-?\s*['\"]?([A-Za-z_]+)['\"]?")


def findings(path):
    depth, until, ends = 0, None, False
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")
    for number, line in enumerate(lines, 1):
        whole = line[:-1] + lines[number] if line.endswith("\\") and number < len(lines) else line
        if until:
            until = None if line.strip() == until else until
            continue
        code = line if line.lstrip().startswith("#") is False else ""
        ends = ends or bool(ENDS.search(line))
        if "|| true" in code:
            yield number, '"|| true" hides a failure'
        if SLEEP.search(code) and not depth and not OPENS.search(code) and "# sleep: " not in line:
            yield number, "a fixed sleep: poll with soon, or quiet_for"
        if (EMPTY.search(whole) or COUNT.search(whole)) and code and "# empty: " not in whole:
            yield number, "holds when the command fails, too: none or lacks"
        depth += len(OPENS.findall(code)) - len(CLOSES.findall(code))
        if heredoc := HEREDOC.search(code):
            until = heredoc.group(1)
    if not ends and "/test_" in path:
        yield len(lines), "no plan at its end: finish"


bad = [f"{path}:{number}: {what}" for path in sys.argv[1:] for number, what in findings(path)]
print("\n".join(bad), end="\n" if bad else "")
sys.exit(bool(bad))
