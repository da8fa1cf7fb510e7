#!/usr/bin/env python3
"""admission_server.py ROOT: webhooks for the tests. Prints its port; ROOT/ca.crt is its authority.

POST /NAME is answered with the response in ROOT/NAME.json (delay: seconds before it; until: a file of ROOT that it waits for;
raw: a text instead of a review), and the review goes to ROOT/log, one a line, with the path.
"""
import base64, http.server, json, os, sys, time
import tls_server

root = sys.argv[1]


class Hook(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with open(f"{root}/log", "a", encoding="utf-8") as f:
            f.write(json.dumps({"path": self.path, "host": self.headers["Host"], "review": review}) + "\n")
        with open(f"{root}/{self.path.split('?')[0].strip('/')}.json", encoding="utf-8") as f:
            answer = json.load(f)
        time.sleep(answer.pop("delay", 0))
        until = answer.pop("until", None)
        while until and not os.path.exists(f"{root}/{until}"):
            time.sleep(0.05)
        raw = answer.pop("raw", None)
        if "ops" in answer:
            answer.update(patchType="JSONPatch", patch=base64.b64encode(json.dumps(answer.pop("ops")).encode()).decode())
        body = raw if raw is not None else json.dumps({"kind": "AdmissionReview", "apiVersion": review["apiVersion"],
                                                       "response": dict(answer, uid=review["request"]["uid"])})
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *args):
        pass


tls_server.certificates(root, ("localhost", "hook.default.svc"))
tls_server.serve(root, Hook, host="0.0.0.0")  # a Service leads to an address that is no loopback one
