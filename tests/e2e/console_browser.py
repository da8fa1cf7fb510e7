#!/usr/bin/env python3
"""console_browser.py URL EXPRESSION...: a page in headless chromium, driven through its debugging pipe.

Waits until each JavaScript expression is neither empty nor false, in order, and prints its value, a line each. Exit 1
after 60 s without, with the text of the page, and at any exception, refused resource or policy violation on the page.
"""

import itertools
import json
import os
import select
import subprocess
import sys
import tempfile
import time

DEADLINE_S = 60
OPTIONS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
           "--disable-component-update", "--no-first-run", "--ignore-certificate-errors", "--remote-debugging-pipe"]


class Browser:
    def __init__(self, folder):
        to_read, self.to = os.pipe()
        self.back, back_write = os.pipe()
        # chromium reads 3 and writes 4
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{to_read} 4>&{back_write}', "sh", "chromium", *OPTIONS,
             f"--user-data-dir={folder}", "about:blank"],
            pass_fds=(to_read, back_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(back_write)
        self.ids, self.bytes, self.faults, self.session = itertools.count(1), b"", [], None

    def receive(self, end):
        while b"\0" not in self.bytes:
            if not select.select([self.back], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError
            chunk = os.read(self.back, 65536)
            if not chunk:
                raise EOFError("chromium ended")
            self.bytes += chunk
        message, self.bytes = self.bytes.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        this = next(self.ids)
        message = {"id": this, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + DEADLINE_S
        while True:
            answer = self.receive(end)
            if answer.get("id") == this:
                return answer.get("result", answer)
            entry = answer.get("params", {}).get("entry", {})
            if answer.get("method") == "Runtime.exceptionThrown" or entry.get("level") == "error":
                self.faults.append(json.dumps(answer["params"])[:500])

    def open(self, url):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Page"):
            self.call(domain + ".enable")
        self.call("Page.navigate", url=url)

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        return result.get("result", {}).get("value")

    def wait(self, expression):
        end = time.monotonic() + DEADLINE_S
        while time.monotonic() < end:
            got = self.value(expression)
            if got:
                return got
            time.sleep(0.1)
        raise TimeoutError(expression + "\n" + str(self.value("document.body.innerText")))

    def close(self):
        self.process.kill()
        self.process.wait()


def main():
    url, expressions = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder)
        try:
            browser.open(url)
            for expression in expressions:
                print(browser.wait(expression), flush=True)
        except (TimeoutError, EOFError) as fault:
            print("not seen:", fault)
            return 1
        finally:
            browser.close()
    for fault in browser.faults:
        print("fault:", fault)
    return 1 if browser.faults else 0


sys.exit(main())
