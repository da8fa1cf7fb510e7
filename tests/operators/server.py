"""What runs during a test: `alm up`, or `alm controller` beside a real Kubernetes (ALM_OPERATORS_CLUSTER: a program that
understands `start DIR PORT`, printing the path of a kubeconfig, and `stop DIR`)."""

import os
import re
import socket
import subprocess
import time
import urllib.request

from kube import Kube, Refused

TICK = os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    def __init__(self, alm, directory, cluster=None, soak="1s"):
        self.alm = alm
        self.dir = directory
        self.catalog = os.path.join(directory, "catalog")
        os.makedirs(self.catalog)
        self.cluster = cluster
        self.metrics = free_port()
        self.err = open(os.path.join(directory, "err"), "wb")
        common = ["--data-dir", f"{directory}/data", "--metrics-listen", f"127.0.0.1:{self.metrics}",
                  "--verify-soak", soak, "--catalog-root", self.catalog]
        env = dict(os.environ, HOME=directory)
        if cluster:
            port = 20000 + os.getpid() % 10000
            out = subprocess.check_output([cluster, "start", f"{directory}/cluster", str(port)])
            kubeconfig = out.decode().split()[-1]
            self._verify(kubeconfig)
            self._label_nodes(Kube(kubeconfig))
            env["KUBECONFIG"] = kubeconfig
            args = [alm, "controller", *common]
        else:
            kubeconfig = f"{directory}/data/kubeconfig"
            args = [alm, "up", "--listen", "127.0.0.1:0", *common]
        self.process = subprocess.Popen(args, env=env, stdout=subprocess.DEVNULL, stderr=self.err)
        self.env = dict(env, KUBECONFIG=kubeconfig)
        self.kube = self._ready(kubeconfig)

    def _verify(self, kubeconfig):
        """alm takes neither a kubeconfig that others may read nor one that verifies nothing: the certificate of the server does."""
        ca = os.path.join(os.path.dirname(kubeconfig), "certs", "apiserver.crt")
        with open(kubeconfig, encoding="utf-8") as f:
            text = f.read()
        with open(kubeconfig, "w", encoding="utf-8") as f:
            f.write(text.replace("insecure-skip-tls-verify: true", f'certificate-authority: "{ca}"'))
        os.chmod(kubeconfig, 0o600)

    def _label_nodes(self, kube):
        """Charts choose nodes by what a kubelet says of itself, which a simulated node does not."""
        for node in kube.get("/api/v1/nodes")["items"]:
            kube.patch("/api/v1/nodes/" + node["metadata"]["name"],
                       {"metadata": {"labels": {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}}})

    def died(self):
        """The last words of alm, if it has ended by itself."""
        code = self.process.poll()
        return None if code is None else f"exit {code}: {self.errors()[-1500:]}"

    def _ready(self, kubeconfig):
        end = time.monotonic() + 120
        while time.monotonic() < end and self.process.poll() is None:
            try:
                kube = Kube(kubeconfig)
                if kube.get("/apis/opinstaller.coreos.com/v1beta1/installstrategies"):
                    return kube
            except (OSError, subprocess.SubprocessError, Refused, IndexError, TypeError):
                pass
            time.sleep(0.2)
        self.stop()
        raise RuntimeError("alm does not get ready: " + self.errors()[-500:])

    def run(self, *args, text=None, timeout=300):
        """A command of alm, or of another program; (exit status, output)."""
        r = subprocess.run(args, env=self.env, input=text, capture_output=True, text=True, timeout=timeout, check=False)
        return r.returncode, r.stdout + r.stderr

    def errors(self):
        self.err.flush()
        with open(os.path.join(self.dir, "err"), encoding="utf-8", errors="replace") as f:
            return f.read()

    def requests(self):
        """Requests that the API server has answered so far, those of the harness's own loops left out."""
        try:
            if self.cluster:
                text, name = self.kube.raw("GET", "/metrics").decode(), "apiserver_request_total"
            else:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics}/metrics", timeout=60) as r:
                    text, name = r.read().decode(), "alm_api_requests_total"
        except (OSError, Refused):
            return 0
        total = int(sum(float(v) for v in re.findall(rf"^{name}(?:{{.*}})? (\S+)$", text, re.M)))
        return total - self.kube.count

    def cpu(self):
        """CPU seconds of alm and of what it has started."""
        try:
            with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as f:
                fields = f.read().rsplit(")", 1)[1].split()
        except OSError:
            return 0.0
        return sum(int(fields[i]) for i in (11, 12, 13, 14)) / TICK

    def rss(self, key="VmRSS"):
        """MiB: VmRSS now, VmHWM the peak since forget_peak."""
        try:
            with open(f"/proc/{self.process.pid}/status", encoding="ascii") as f:
                m = re.search(rf"{key}:\s+(\d+) kB", f.read())
        except OSError:
            return 0.0
        return round(int(m[1]) / 1024, 1) if m else 0.0

    def forget_peak(self):
        try:
            with open(f"/proc/{self.process.pid}/clear_refs", "w", encoding="ascii") as f:
                f.write("5")
        except OSError:
            pass

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
        if self.cluster:
            subprocess.run([self.cluster, "stop", f"{self.dir}/cluster"], check=False)
