#!/usr/bin/env python3
"""charts.py ALM HELM [ROUNDS]: alm template beside helm template in one run: wall and processor time and peak memory
of the whole process for a small chart (as `helm create` makes it), 20 and 100 subcharts of that kind,
30,000 lines of CRDs, 1,000 tpl calls and 1 MiB through toYaml and fromYaml. Prints medians and ratios."""
import os, shutil, statistics, subprocess, sys, tempfile, time


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f: f.write(text)


def scaffold(helm, root, name):
    subprocess.run([helm, "create", name], cwd=root, check=True, capture_output=True)
    return os.path.join(root, name)


def umbrella(helm, root, n):
    top = os.path.join(root, f"umbrella{n}")
    os.makedirs(os.path.join(top, "charts"))
    deps = ""
    for i in range(n):
        scaffold(helm, os.path.join(top, "charts"), f"sub{i}")
        deps += f"  - name: sub{i}\n    version: 0.1.0\n    condition: sub{i}.enabled\n"
    write(os.path.join(top, "Chart.yaml"), f"apiVersion: v2\nname: umbrella\nversion: 1.0.0\ndependencies:\n{deps}")
    return top


def crds(root):
    top = os.path.join(root, "crds")
    write(os.path.join(top, "Chart.yaml"), "apiVersion: v2\nname: crds\nversion: 1.0.0\n")
    for k in range(10):
        props = "".join(f"                field{i}:\n                  type: string\n                  description: text of field {i}\n" for i in range(1000))
        write(os.path.join(top, f"templates/crd{k}.yaml"), f"""apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: k{k}s.example.com
spec:
  group: example.com
  names: {{kind: K{k}, plural: k{k}s}}
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
{props}""")
    return top


def calls(root):
    top = os.path.join(root, "tpl")
    write(os.path.join(top, "Chart.yaml"), "apiVersion: v2\nname: tpl\nversion: 1.0.0\n")
    write(os.path.join(top, "values.yaml"), "t: \"{{ .Release.Name }}-{{ printf \\\"%d\\\" 5 }}\"\n")
    write(os.path.join(top, "templates/t.yaml"), "{{ range $i := until 1000 }}k{{ $i }}: {{ tpl $.Values.t $ }}\n{{ end }}")
    return top


def yaml(root):
    top = os.path.join(root, "yaml")
    write(os.path.join(top, "Chart.yaml"), "apiVersion: v2\nname: yaml\nversion: 1.0.0\n")
    write(os.path.join(top, "values.yaml"), "m:\n" + "".join(f"  key{i}: {{a: {i}, b: [x, y, \"some longer text {i}\"], c: {{d: true}}}}\n" for i in range(16000)))
    write(os.path.join(top, "templates/t.yaml"), "n: {{ .Values.m | toYaml | fromYaml | toYaml | len }}\n")
    return top


def measure(binary, chart):
    """Wall seconds, processor seconds, KiB. GNU time forks from a small process; ours would count as peak. Its own clock
    has hundredths only, so the wall time is ours, with its start in it on both sides."""
    start = time.perf_counter()
    p = subprocess.run(["/usr/bin/time", "-f", "%U %S %M", binary, "template", "r", chart], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wall = time.perf_counter() - start
    if p.returncode: sys.exit(f"{binary} failed on {chart}: {p.stderr}")
    user, system, peak = p.stderr.strip().split("\n")[-1].split()
    return wall, float(user) + float(system), int(peak)


def main():
    alm, helm, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 7
    root = tempfile.mkdtemp(prefix="alm-bench-")
    charts = {"small": scaffold(helm, root, "small"), "umbrella20": umbrella(helm, root, 20), "umbrella100": umbrella(helm, root, 100),
              "crds30k": crds(root), "tpl1000": calls(root), "yaml1M": yaml(root)}
    ratios = [], [], []
    print(f"{'chart':12}  {'wall ms':>14} {'ratio':>6}   {'cpu ms':>14} {'ratio':>6}   {'peak MiB':>14} {'ratio':>6}   (alm / helm)")
    for name, chart in charts.items():
        runs = [(measure(alm, chart), measure(helm, chart)) for _ in range(rounds)]
        line = f"{name:12}"
        for k, scale in ((0, 1e3), (1, 1e3), (2, 1 / 1024)):
            ours, theirs = (statistics.median(r[who][k] for r in runs) * scale for who in (0, 1))
            line += f"  {ours:6.1f} {theirs:7.1f} {ours / theirs:6.3f} "
            ratios[k].append(ours / theirs)
        print(line)
    print("median ratios: wall {:.3f}, cpu {:.3f}, peak {:.3f}".format(*map(statistics.median, ratios)))
    shutil.rmtree(root)


main()
