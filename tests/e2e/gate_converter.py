#!/usr/bin/env python3
"""A conversion webhook: gate_converter.py PORT CERT KEY. Widgets say size in v1 and count in v2."""
import http.server
import json
import ssl
import sys


def converted(o, to):
    spec = dict(o.get("spec") or {})
    old, new = ("size", "count") if to.endswith("/v2") else ("count", "size")
    if old in spec:
        spec[new] = spec.pop(old)
    return {**o, "apiVersion": to, "spec": spec}


class Converter(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        q = review.pop("request")
        review["response"] = {"uid": q["uid"], "result": {"status": "Success"},
                              "convertedObjects": [converted(o, q["desiredAPIVersion"]) for o in q["objects"]]}
        body = json.dumps(review).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Converter)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[2], sys.argv[3])
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
