#!/usr/bin/env python3
"""catalog_server.py DIR LOG: an HTTPS server of Helm repositories, good and bad ones, for the tests.

Makes its own authority DIR/ca.crt, prints its port, and serves on 127.0.0.1 (also as "localhost").
LOG gets a line a request: status, path, host, whether an Authorization header came.
  /repo/*            the files of DIR/repo with ETag and Last-Modified; 304 when asked conditionally
  /basic/* /bearer/* the same for user:secret, or token t0ken
  /moved/*           302 to the same path below /repo on the host "localhost", another origin
  /token             what a registry sends its callers to: for user:secret a token for the scope that is asked for
  /to/URL            302 to URL
  /v2/realm/PORT/*   a registry that names https://127.0.0.1:PORT as its token service
  /bad/names/*       the files of DIR/names
  /bad/NAME/*        see BAD
"""
import base64, hashlib, http.server, json, os, subprocess, sys, time, urllib.parse
import tls_server

root, log = sys.argv[1], sys.argv[2]
DIGEST = "a" * 64


def entry(package, version, more=""):
    return f"  - {{name: {package}, version: {version}, digest: {DIGEST}, urls: [{package}-{version}.tgz]{more}}}\n"


def index(body):
    return ("apiVersion: v1\nentries:\n  etcd-operator:\n" + body).encode()


def annotation(text):
    return f', annotations: {{app.coreos.com/package: "{text}"}}'


# What stands below /bad/NAME/index.yaml.
BAD = {
    "html": b"<html><body>Sign in</body></html>",
    "binary": bytes(range(256)) * 100,
    "bomb": b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(
        b"%c: &%c [%s]\n" % (98 + i, 98 + i, b",".join([b"*%c" % (97 + i)] * 9)) for i in range(9)),
    "deep": b"apiVersion: v1\nentries: " + b"[" * 100000,
    "bigline": b"apiVersion: v1\nentries: {a: [{name: a, version: " + b"9" * (1 << 20) + b"}]}\n",
    "many": None,  # 500,001 versions, made when asked for
    "nodigest": index("  - {name: etcd-operator, version: 0.9.4, urls: [x.tgz]}\n"),
    "lying": None,  # digests of other bytes
    "twice": index(entry("etcd-operator", "1.0.0") + entry("etcd-operator", "1").replace(DIGEST, "b" * 64)),
    "backwards": index(entry("etcd-operator", "0.9.4", annotation("replaces: 1.0.0"))),
    "cycle": index(entry("etcd-operator", "0.9.4", annotation("replaces: 0.9.5"))
                   + entry("etcd-operator", "0.9.5", annotation("skips: [0.9.6]"))
                   + entry("etcd-operator", "0.9.6", annotation("replaces: 0.9.4"))),
    "schemes": index("".join(
        f"  - {{name: etcd-operator, version: 0.{i}.0, digest: {DIGEST}, urls: [\"{u}\"]}}\n"
        for i, u in enumerate(["http://h/x.tgz", "file:///etc/passwd", "ftp://h/x"]))),
}


def token(service, scope):
    """A JSON web token as docker-registry wants it (distribution, "Token Authentication Specification")."""
    def text(raw):
        return base64.urlsafe_b64encode(raw).rstrip(b"=")

    kind, name, actions = scope.split(":") if scope else ("", "", "")
    now = int(time.time())
    with open(f"{root}/server.crt") as f:
        certificate = "".join(line.strip() for line in f if "-----" not in line)
    head = {"typ": "JWT", "alg": "RS256", "x5c": [certificate]}
    claims = {"iss": "test", "sub": "user", "aud": service, "exp": now + 300, "nbf": now - 300, "iat": now, "jti": "1",
              "access": [{"type": kind, "name": name, "actions": actions.split(",")}] if scope else []}
    signed = text(json.dumps(head).encode()) + b"." + text(json.dumps(claims).encode())
    signature = subprocess.run(["openssl", "dgst", "-sha256", "-sign", "server.key"], input=signed, check=True,
                               stdout=subprocess.PIPE, cwd=root).stdout
    return (signed + b"." + text(signature)).decode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def note(self, status):
        with open(log, "a") as f:
            f.write(f"{status} {self.path} {self.headers['Host'].split(':')[0]} "
                    f"{'auth' if self.headers['Authorization'] else 'plain'}\n")

    def answer(self, status, body=b"", headers=None, length=None):
        self.note(status)
        self.send_response(status)
        for k, v in (headers or {}).items():
            self.send_header(k, v)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def send_file(self, path, folder="repo"):
        try:
            with open(os.path.join(root, folder, os.path.basename(path)), "rb") as f:
                body = f.read()
        except OSError:
            return self.answer(404)
        etag = '"%s"' % hashlib.sha256(body).hexdigest()[:16]
        if self.headers["If-None-Match"] == etag:
            return self.answer(304, headers={"ETag": etag})
        return self.answer(200, body, {"ETag": etag, "Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT"})

    def stream(self, chunk, pause, forever):
        self.note(200)
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            while forever:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
                time.sleep(pause)
            time.sleep(pause)
        except OSError:
            pass
        self.close_connection = True

    def bad(self, name, rest):
        here = f"https://{self.headers['Host']}"
        if name == "truncated":
            self.answer(200, b"apiVersion: v1\nentries:\n", length=10000)
            self.close_connection = True
        elif name == "endless":
            self.stream(b"#" * (1 << 20), 0, True)
        elif name == "silent":
            self.stream(b"", 60, False)
        elif name == "toohttp":
            self.answer(302, headers={"Location": "http://127.0.0.1/index.yaml"})
        elif name == "tofile":
            self.answer(302, headers={"Location": "file:///etc/passwd"})
        elif name == "round":
            self.answer(302, headers={"Location": here + self.path})
        elif name == "500":
            self.answer(500)
        elif name == "many":
            self.answer(200, b"apiVersion: v1\nentries:\n  a:\n" + b"".join(
                b"  - {name: a, version: 0.0.%d, digest: %s, urls: [a]}\n" % (i, DIGEST.encode()) for i in range(500001)))
        elif name == "lying" and rest.endswith(".tgz"):
            self.answer(200, b"these are other bytes")
        elif name == "lying":
            with open(f"{root}/repo/index.yaml", "rb") as f:
                self.answer(200, f.read())
        elif name == "names":
            self.send_file(rest, "names")
        elif name in BAD:
            self.answer(200, BAD[name])
        else:
            self.answer(404)

    def do_GET(self):
        part = self.path.split("/", 3)
        authorization = self.headers["Authorization"] or ""
        if part[1] == "basic" and authorization != "Basic " + base64.b64encode(b"user:secret").decode():
            return self.answer(401)
        if part[1].startswith("token?"):
            if authorization != "Basic " + base64.b64encode(b"user:secret").decode():
                return self.answer(401)
            q = urllib.parse.parse_qs(part[1][6:])
            body = {"token": token(q["service"][0], q.get("scope", [""])[0]), "expires_in": 300}
            return self.answer(200, json.dumps(body).encode(), {"Content-Type": "application/json"})
        if part[1] == "bearer" and authorization != "Bearer t0ken":
            return self.answer(401)
        if part[1] == "moved":
            port = self.server.server_address[1]
            return self.answer(302, headers={"Location": f"https://localhost:{port}/repo/{self.path[7:]}"})
        if part[1] == "to":
            return self.answer(302, headers={"Location": self.path[4:].removesuffix("/index.yaml")})
        if self.path.startswith("/v2/realm/"):
            realm = f"https://127.0.0.1:{part[3].split('/')[0]}/token"
            return self.answer(401, headers={"WWW-Authenticate": f'Bearer realm="{realm}",service="x"'})
        if part[1] == "bad":
            return self.bad(part[2], part[3] if len(part) > 3 else "")
        return self.send_file(self.path)


tls_server.certificates(root)
tls_server.serve(root, Handler)
