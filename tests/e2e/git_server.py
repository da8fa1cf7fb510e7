#!/usr/bin/env python3
"""git_server.py DIR LOG: repositories over HTTPS, by git http-backend behind TLS and Basic auth, for the tests.

Makes its own authority DIR/ca.crt, prints its port and serves on 127.0.0.1 (also as "localhost", and as what else the file
DIR/names says, one name a line). DIR/password has USER:PASSWORD and is read at each request. LOG gets a line a request:
status, path, host, whether an Authorization header came.
  /git/*    the repositories of DIR/repos; 401 without the right Authorization
  /open/*   the same without a password
  /hang/*   takes the request and never answers
  /moved/*  302 to the same path below /git on the host 127.0.0.1, another origin
  /echo/*   500 with the Authorization header in what it says
"""
import base64, http.server, os, subprocess, sys, threading
import tls_server

root, log = sys.argv[1], sys.argv[2]
end = threading.Event()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status, body=b"", headers=()):
        with open(log, "a", encoding="utf-8") as f:
            f.write(f"{status} {self.path} {self.headers['Host'].split(':')[0]} "
                    f"{'auth' if self.headers['Authorization'] else 'plain'}\n")
        self.send_response(status)
        for k, v in headers:
            self.send_header(k, v)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def is_allowed(self):
        with open(f"{root}/password", "rb") as f:
            want = b"Basic " + base64.b64encode(f.read().strip())
        return (self.headers["Authorization"] or "").encode() == want

    def backend(self, path):
        path, _, query = path.partition("?")
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        env = {"PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": f"{root}/repos", "GIT_HTTP_EXPORT_ALL": "1",
               "GIT_CONFIG_NOSYSTEM": "1", "HOME": root, "PATH_INFO": path, "QUERY_STRING": query,
               "REQUEST_METHOD": self.command, "CONTENT_TYPE": self.headers["Content-Type"] or "",
               "CONTENT_LENGTH": str(len(body)), "HTTP_CONTENT_ENCODING": self.headers["Content-Encoding"] or "",
               "GIT_PROTOCOL": self.headers["Git-Protocol"] or "", "GIT_CONFIG_COUNT": "1",
               "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
        said = subprocess.run(["git", "http-backend"], input=body, env=env, stdout=subprocess.PIPE, check=False).stdout
        head, _, body = said.partition(b"\r\n\r\n")
        headers = [tuple(line.split(": ", 1)) for line in head.decode().split("\r\n") if ": " in line]
        status = [int(v.split()[0]) for k, v in headers if k == "Status"] or [200]
        self.answer(status[0], body, [h for h in headers if h[0] not in ("Status", "Content-Length")])

    def do_GET(self):
        place, rest = self.path[1:].partition("/")[::2]
        port = self.server.server_address[1]
        if place == "git" and not self.is_allowed():
            self.answer(401, headers=[("WWW-Authenticate", 'Basic realm="git"')])
        elif place in ("git", "open"):
            self.backend("/" + rest)
        elif place == "hang":
            end.wait()
        elif place == "moved":
            self.answer(302, headers=[("Location", f"https://127.0.0.1:{port}/git/{rest}")])
        elif place == "echo":
            said = f"ERR you are {self.headers['Authorization']}\n".encode()
            self.answer(200, b"001e# service=git-upload-pack\n0000" + b"%04x" % (len(said) + 4) + said,
                        [("Content-Type", "application/x-git-upload-pack-advertisement")])
        else:
            self.answer(404)

    do_POST = do_GET


names = ["localhost"]
if os.path.exists(f"{root}/names"):
    with open(f"{root}/names", encoding="utf-8") as f:
        names += f.read().split()
tls_server.certificates(root, names)
tls_server.serve(root, Handler)
