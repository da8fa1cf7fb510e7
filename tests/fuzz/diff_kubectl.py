#!/usr/bin/env python3
"""diff_kubectl.py [--kubectl PATH]... [--rows REGEX] [--verbose], with ALM=build/alm and KUBECONFIG_REAL: the commands of kubectl on a
real Kubernetes 1.36 (which may be written to; ../shared/oracles/cluster start) and on `alm server`, as plain storage and with
--simulate-workloads: what is printed, to which stream, and the exit status. A line for each row that differs, and a total.

kubectl/rows.txt has the rows. A row is a line of shell, in which `k` is kubectl in a namespace of its own; the rows before it have
set up what it needs. Before a colon stands what is particular: 27+ or 27- (of which kubectl's minors), W (workloads: not on plain
storage), again (repeat until both agree: what controllers do takes a while), sort (lines in any order), NAME (a normaliser below)."""
import argparse
import concurrent.futures
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
FILES = (HERE + '/../e2e/kubectl', HERE + '/kubectl')  # NSNAME in them is the namespace
PATIENCE = 15  # seconds

# What a server draws for itself, or a client for its run.
DRAWN = [(re.compile(p, re.M), by) for p, by in (
    (r'[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}', 'UID'),
    (r'202\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)', 'TIME'),
    (r'(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} 202\d \d\d:\d\d:\d\d \+0000', 'TIME'),
    (r'^[EIW]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [\w.]+:\d+\]', 'KLOG'),
    (r'^(---|\+\+\+|diff -u -N) .*$', 'DIFF'),
    (r'(https?://)?127\.0\.0\.1:\d+', 'SERVER'),
    (r'(resourceVersion"?: "?|esource Version: +)\d+', r'\g<1>N'),
    (r'\b10\.(0|9[6-9]|1[01]\d|244)\.\d+\.\d+\b', 'ADDR'),
    (r'((?:odePort"?: +|NodePort: .*|TCP:|\d:)3)\d{4}\b', 'PORT'),
    (r'\beyJ[\w.-]+', 'TOKEN'),
    (r'(pod-template-hash[=:]"?|[a-z]-)[0-9bcdf-hj-np-tv-z]{8,10}\b', r'\g<1>HASH'),
    (r'(?<=[a-z0-9H])-(?=[a-z]*\d|[b-df-hj-np-tv-z]{5})[a-z0-9]{5}(?=\s|$|"|\))', '-RAND'),
    (r'-\d{8}(-|\b)', r'-MINUTE\1'),
    (r'(^|[ \t(])(\d+[smhd])+(?=[ \t)]|$)', r'\1AGE'),
    (r'^status:\n  loadBalancer: \{\}\n', ''),  # an empty struct of Go
    (r'^KLOG .*very short watch.*\n', ''),  # a client that gives up in the first second, now and then
    (r'^  terminatingReplicas: 0\n', ''),  # since 1.35
    (r'202\d-\d\d-\d\d \d\d:\d\d:\d\d \+0000 UTC', 'TIME'),
    (r'<unknown>|<invalid>', 'AGE'),
    (r'/tmp/[\w./-]+', 'FILE'),
    (r'[ \t]{2,}', '  '), (r'[ \t]+$', ''), (r'-{4,}|={3,}', '---'))]


def lines_only(pattern):
    return lambda text: '\n'.join(x for x in text.split('\n') if not re.search(pattern, x))


# Normalisers, each with the reason why the two may differ in it.
NORMALISERS = {
    # ours says 1.33, so that the kubectls from 1.32 on do not warn, and has no fields of a Go build
    'release': lambda t: re.sub(r'\n? *"?(v?1\.\d+\.\d+\S*|(build|compiler|git|go|platform|emul|minComp|major|minor|kustomize).*)|^(Client|Server|Kustomize|WARN).*', '', t, flags=re.I | re.M),
    # ALM's audit log as objects; the versions that clients of long ago ask for; componentstatuses would be the parts of a cluster
    'ours': lines_only(r'auditrecords|audit\.app\.coreos|apiextensions.k8s.io/v1beta1|authentication.k8s.io/v1beta1|^bindings|^componentstatuses'),
    # a Service of type LoadBalancer gets the address of a balancer, which a cluster without a cloud has not
    'balancer': lambda t: re.sub(r'192\.0\.2\.1(?=\s)', '<pending>', t),
    # bytes as they were sent: members in another order, and no end of line
    'json': lambda t: json.dumps(ordered(json.loads(t)), indent=1) if t.startswith('{') else t,
    # 400 instead of 500, as it is the client's fault (kube-api.md 17)
    'typed': lambda t: t.replace(' (BadRequest)', ''),
    # no texts of the built-in kinds and no lists of their values: they would be a megabyte of the program
    'explain': lambda t: re.sub(r'\n+', '\n', re.sub(r'DESCRIPTION:\n(.*\n)*?(?=FIELDS|\Z)|^ .*[a-z.,:"\]]$|^ *enum: .*|^ *(<empty>|<no description>|Possible.*|- `.*|RollingUpdate\.|Rolling.*)$',
                                                    '', t, flags=re.M)),
    # whoever is authenticated may read where tokens are verified
    'wellknown': lines_only(r'/\.well-known'),
    # no controllers of nodes, of autoscalers, of volumes' protection
    'node': lambda t: re.sub(r'\bUnknown  <none>|"taints":\[.*\],|^(Taints| +node.kubernetes.io|Annotations).*\n?|^Conditions:\n( .*\n)*', '', t, flags=re.M),
    # no controller of budgets: an eviction counts for itself
    'budget': lambda t: re.sub(r'(N/A +|disruptions: +|Current: +|Desired: +|Total: +)\d|^Events:(.*\n)*', r'\1', t, flags=re.M),
    # one node for all, that is no object; taints of nodes are nobody's
    'pod': lambda t: re.sub(r'^Tolerations:.*\n( .*\n)*|^Node:.*', '', t, flags=re.M),
    # a command is not run: what ends has ended
    'ends': lambda t: re.sub(r'^(one.*)(1/1  Running|0/1  Completed)', r'\1', t, flags=re.M),
    # a Job that somebody made of it by hand is not counted
    'byhand': lambda t: re.sub(r'^status:\n +lastSuccessfulTime: .*\n', '', t, flags=re.M),
    'scaler': lambda t: re.sub(r'^Conditions:\n( .*\n)*', '', t, flags=re.M),
    'volume': lines_only(r'^Finalizers|^Annotations|bound-by'),
}


def ordered(o):
    if isinstance(o, dict):
        o.pop('serverAddressByClientCIDRs', None)
        return {k: ordered(v) for k, v in sorted(o.items()) if k not in ('apiVersion', 'uid', 'resourceVersion')}
    return sorted(map(ordered, o), key=json.dumps) if isinstance(o, list) else o


def normal(text, names):
    for name in sorted(set(names) - {'sort'}):
        text = NORMALISERS[name](text)
    for pattern, by in DRAWN:
        text = pattern.sub(by, text)
    return '\n'.join(sorted(text.split('\n'))) if 'sort' in names else text.strip('\n')


class Row:
    FORM = re.compile(r'(?:((?:\w+[+-]? )*\w+[+-]?): )?(.*)')

    def __init__(self, line):
        flags, self.command = Row.FORM.fullmatch(line).groups()
        self.flags = set((flags or '').split())
        self.names = [n for n in self.flags if n in NORMALISERS or n == 'sort']

    def applies(self, minor):
        return all(minor >= int(f[:-1]) if f[-1] == '+' else minor <= int(f[:-1]) for f in self.flags if re.fullmatch(r'\d+[+-]', f))


class Target:
    """A server, with a home folder that has a cold cache."""

    def __init__(self, name, kubeconfig, kubectl, minor, top):
        self.name, self.home = name, '%s/%s' % (top, name)
        os.makedirs(self.home + '/.kube')
        shutil.copy(kubeconfig, self.home + '/.kube/config')
        for folder in FILES:
            shutil.copytree(folder, self.home + '/f', dirs_exist_ok=True)
        subprocess.run('sed -i s/NSNAME/dk%d/ *.yaml *.json' % minor, shell=True, check=True, cwd=self.home + '/f')
        self.env = dict(os.environ, HOME=self.home, KUBECTL=kubectl, NS='dk%d' % minor, KUBE_EDITOR='sed -i s/color:.*/color:\\ edited/')
        self.env.pop('KUBECONFIG', None)
        self.run('k config set-context --current --namespace="$NS"')

    def run(self, command):
        """(stdout, stderr, exit status)"""
        p = subprocess.Popen(['bash', '-c', 'k() { "$KUBECTL" "$@"; }\n' + command], cwd=self.home + '/f', env=self.env, text=True, errors='replace',
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        try:
            out, err = p.communicate(timeout=120)
            return out, err, p.returncode
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            out, err = p.communicate()
            return out, err, 'no end'

    def answer(self, row):
        out, err, code = self.run(row.command)
        return tuple(normal(x, row.names) for x in (out, err)) + (code,)


def differences(a, b):
    """Lines of a diff of two answers."""
    found = []
    for stream, x, y in zip(('out', 'err'), a, b):
        if x != y:
            with tempfile.NamedTemporaryFile('w') as f, tempfile.NamedTemporaryFile('w') as g:
                f.write(x + '\n')
                g.write(y + '\n')
                f.flush()
                g.flush()
                d = subprocess.run(['diff', '-U1', f.name, g.name], stdout=subprocess.PIPE, text=True).stdout.split('\n')[3:]
            found += ['%s %s' % (stream, x) for x in d if x]
    return found + (['exit %s, here %s' % (a[2], b[2])] if a[2] != b[2] else [])


def compare(row, targets, pool):
    """{name of the target: lines that differ} of all but the first, which is the real one."""
    here = [t for t in targets if not ('W' in row.flags and t.name == 'plain')]
    end = time.monotonic() + PATIENCE
    while True:
        answers = list(pool.map(lambda t: t.answer(row), here))
        found = {t.name: differences(answers[0], a) for t, a in zip(here[1:], answers[1:])}
        if not any(found.values()) or 'again' not in row.flags or time.monotonic() > end:
            return found
        time.sleep(1)


def start(alm, folder, flags):
    p = subprocess.Popen([alm, 'server', '--data-dir', folder, '--listen', '127.0.0.1:0'] + flags, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True)
    p.stdout.readline()
    return p


def minor_of(kubectl):
    said = subprocess.run([kubectl, 'version', '--client', '-o', 'json'], stdout=subprocess.PIPE, text=True).stdout
    return int(re.search(r'"gitVersion": "v1\.(\d+)', said).group(1))


def play(kubectl, real, servers, rows, options):
    minor = minor_of(kubectl)
    top = tempfile.mkdtemp(prefix='diff-kubectl')
    targets = [Target('real', real, kubectl, minor, top)] + [Target(n, folder + '/kubeconfig', kubectl, minor, top) for n, folder in servers]
    total = differs = 0
    with concurrent.futures.ThreadPoolExecutor(len(targets)) as pool:
        for row in rows:
            if not row.applies(minor):
                continue
            found = compare(row, targets, pool)
            total += 1
            differs += any(found.values())
            for lines in sorted(set(map(tuple, found.values()))):
                if lines or options.verbose:
                    names = ', '.join(n for n in found if tuple(found[n]) == lines)
                    print('%s 1.%d %s: %s' % ('differs' if lines else 'equal  ', minor, names, row.command))
                for x in lines[:options.lines]:
                    print('        ' + x)
            sys.stdout.flush()
    shutil.rmtree(top)
    print('kubectl 1.%d: %d rows, %d differ' % (minor, total, differs))
    return differs


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--kubectl', action='append')
    p.add_argument('--rows', default='')
    p.add_argument('--lines', type=int, default=30)
    p.add_argument('--verbose', action='store_true')
    options = p.parse_args()
    real = os.environ.get('KUBECONFIG_REAL')
    if not real or not os.path.exists(real):
        print('diff_kubectl: SKIP: KUBECONFIG_REAL names no kubeconfig of a real Kubernetes')
        return 0
    with open(HERE + '/kubectl/rows.txt', encoding='utf-8') as f:
        rows = [Row(x) for x in f.read().split('\n') if x and not x.startswith('#')]
    rows = [r for r in rows if re.search(options.rows, r.command)]
    with tempfile.TemporaryDirectory(prefix='diff-kubectl') as folder:
        servers = [('plain', folder + '/plain'), ('simulated', folder + '/simulated')]
        alm = os.environ.get('ALM', 'build/alm')
        programs = [start(alm, servers[0][1], []), start(alm, servers[1][1], ['--simulate-workloads'])]
        try:
            return 1 if sum([play(k, real, servers, rows, options) for k in options.kubectl or [shutil.which('kubectl')]]) else 0
        finally:
            for p in programs:
                p.terminate()
                p.wait()


if __name__ == '__main__':
    sys.exit(main())
