#!/usr/bin/env python3
"""together.py CHARTS...: the newest version of several operators in one `alm up`, each with its samples. Prints the memory
after each, and at rest; fails when that is over --limit MiB."""

import argparse
import os
import sys
import tempfile
import time

from admin import APPS
from kube import Refused
from run import SPACE, Lifecycle
from server import Server

REST_S = 60


class OneOfMany(Lifecycle):
    def first(self, s):
        try:
            super().first(s)
        except Refused:  # the catalog is there
            self.kube.call("POST", APPS, {
                "apiVersion": "app.coreos.com/v1beta1", "kind": "AppType", "metadata": {"name": self.app},
                "spec": {"type": self.admin.type, "package": self.package, "drift": "Report",
                         "upgrade": {"mode": "Manual", "approveFirst": True}}})
            return self.admin.install(self.charts[-1][0], s) and self.compare(s, -1)
        return True

    def create_samples(self, s):
        if not self.kube.get(f"/api/v1/namespaces/{SPACE}"):
            return super().create_samples(s)
        self.make_samples(s, "sample")
        self.crs = self.read_crs()
        return True

    def put(self, n):
        super().put(-1)

    def compare(self, s, n):
        return super().compare(s, len(self.charts) - 1)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("charts", nargs="+")
    p.add_argument("--alm", default=os.environ.get("ALM", "build/alm"))
    p.add_argument("--limit", type=int, default=96)
    options = p.parse_args()
    options.no_waivers, options.no_diff, options.samples = False, True, None
    with tempfile.TemporaryDirectory(prefix="alm-operators-") as folder:
        server = Server(os.path.abspath(options.alm), folder)
        try:
            for charts in options.charts:
                one = OneOfMany(server, charts, options)
                one.charts = one.charts[-1:]
                ok = one.step("install", one.first) and one.step("samples", one.create_samples)
                print(f"  {'ok' if ok else 'STOP'}, {len(one.crs)} samples, {server.rss()} MiB", flush=True)
            time.sleep(REST_S)
            rest, cpu = server.rss(), server.cpu()
            time.sleep(10)
            print(f"{len(options.charts)} operators at rest: {rest} MiB, {server.cpu() - cpu:.1f} s of CPU in 10 s")
        finally:
            server.stop()
    return rest > options.limit


if __name__ == "__main__":
    sys.exit(main())
