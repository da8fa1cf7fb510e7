"""A Kubernetes API server as JSON over HTTP: what a kubeconfig names, with a token or a client certificate or nothing."""

import base64
import http.client
import json
import ssl
import subprocess
import tempfile
from urllib.parse import urlsplit


class Refused(Exception):
    """An answer of 400 and more: code, the Status object."""

    def __init__(self, code, status):
        super().__init__(f"{code} {status.get('message', '')}")
        self.code = code
        self.status = status


def _file(data):
    f = tempfile.NamedTemporaryFile(suffix=".pem")
    f.write(base64.b64decode(data))
    f.flush()
    return f


class Kube:
    def __init__(self, kubeconfig):
        self.kubeconfig = kubeconfig
        text = subprocess.check_output(
            ["kubectl", "config", "view", "--raw", "--minify", "-o", "json", "--kubeconfig", kubeconfig],
            stderr=subprocess.DEVNULL)
        config = json.loads(text)
        cluster = config["clusters"][0]["cluster"]
        user = (config.get("users") or [{"user": {}}])[0]["user"]
        self.url = urlsplit(cluster["server"])
        self.headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if user.get("token"):
            self.headers["Authorization"] = "Bearer " + user["token"]
        self.tls = None
        if self.url.scheme == "https":
            self.tls = ssl.create_default_context()
            if cluster.get("insecure-skip-tls-verify"):
                self.tls.check_hostname = False
                self.tls.verify_mode = ssl.CERT_NONE
            elif cluster.get("certificate-authority-data"):
                self.tls.load_verify_locations(
                    cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
            elif cluster.get("certificate-authority"):
                self.tls.load_verify_locations(cluster["certificate-authority"])
            if user.get("client-certificate-data"):
                cert, key = _file(user["client-certificate-data"]), _file(user["client-key-data"])
                self.tls.load_cert_chain(cert.name, key.name)
        self.paths = {}
        self.count = 0  # requests made by this program

    def raw(self, method, path, body=None, content_type=None):
        if self.tls:
            c = http.client.HTTPSConnection(self.url.hostname, self.url.port, timeout=120, context=self.tls)
        else:
            c = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=120)
        self.count += 1
        headers = dict(self.headers)
        if content_type:
            headers["Content-Type"] = content_type
        try:
            c.request(method, path, None if body is None else json.dumps(body), headers)
            r = c.getresponse()
            text = r.read()
        finally:
            c.close()
        if r.status >= 400:
            try:
                status = json.loads(text)
            except ValueError:
                status = {"message": text.decode("utf-8", "replace")[:300]}
            raise Refused(r.status, status)
        return text

    def call(self, method, path, body=None, content_type=None):
        return json.loads(self.raw(method, path, body, content_type))

    def get(self, path):
        """The object or list, or None."""
        try:
            return self.call("GET", path)
        except Refused as e:
            if e.code == 404:
                return None
            raise

    def patch(self, path, body):
        return self.call("PATCH", path, body, "application/merge-patch+json")

    def resource(self, api_version, kind):
        """(plural, namespaced) of a kind, or None."""
        if (api_version, kind) not in self.paths:
            group = "/api/" if "/" not in api_version else "/apis/"
            for r in (self.get(group + api_version) or {}).get("resources", []):
                if "/" not in r["name"]:
                    self.paths[api_version, r["kind"]] = (r["name"], r["namespaced"])
        return self.paths.get((api_version, kind))

    def path(self, api_version, kind, namespace, name=""):
        """Where such an object is; None if the server has no such kind."""
        r = self.resource(api_version, kind)
        if not r:
            return None
        p = ("/api/" if "/" not in api_version else "/apis/") + api_version
        if r[1] and namespace:
            p += "/namespaces/" + namespace
        return f"{p}/{r[0]}" + (f"/{name}" if name else "")
