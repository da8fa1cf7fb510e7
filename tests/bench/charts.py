#!/usr/bin/env python3
"""charts.py ALM HELM [ROUNDS]: alm template beside helm template in one run: wall and processor time and peak memory
of the whole process for a small chart (as `helm create` makes it), 20 and 100 subcharts of that kind,
30,000 lines of CRDs, 1,000 tpl calls, 50 deep merges of 2,000 values, 1 MiB through toYaml and fromYaml, and includes
900 deep. Prints medians and ratios, then how ours grows with the subcharts and with the output."""
import os, shutil, statistics, subprocess, sys, tempfile, time


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f: f.write(text)


def scaffold(helm, root, name):
    subprocess.run([helm, "create", name], cwd=root, check=True, capture_output=True)
    return os.path.join(root, name)


def umbrella(helm, root, n):
    top = os.path.join(root, f"umbrella{n}")
    os.makedirs(os.path.join(top, "charts"), exist_ok=True)
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


def yaml(root, keys=16000):
    top = os.path.join(root, f"yaml{keys}")
    write(os.path.join(top, "Chart.yaml"), "apiVersion: v2\nname: yaml\nversion: 1.0.0\n")
    write(os.path.join(top, "values.yaml"), "m:\n" + "".join(f"  key{i}: {{a: {i}, b: [x, y, \"some longer text {i}\"], c: {{d: true}}}}\n" for i in range(keys)))
    write(os.path.join(top, "templates/t.yaml"), "n: {{ .Values.m | toYaml | fromYaml | toYaml | len }}\n")
    return top


def tree(depth, tag, indent):
    if depth == 0: return f" {tag}\n"
    return "\n" + "".join("  " * indent + f"k{i}:" + tree(depth - 1, f"{tag}{i}", indent + 1) for i in range(4))


def merges(root):
    top = os.path.join(root, "merge")
    write(os.path.join(top, "Chart.yaml"), "apiVersion: v2\nname: merge\nversion: 1.0.0\n")
    write(os.path.join(top, "values.yaml"), "a:" + tree(5, "a", 1) + "b:" + tree(5, "b", 1))
    write(os.path.join(top, "templates/t.yaml"), """{{ $sum := dict }}{{ range $i := until 50 }}
{{ $sum = mergeOverwrite (deepCopy $.Values.a) (merge (dict (printf "n%d" $i) $i) $.Values.b) $sum }}
{{ end }}
n: {{ $sum | toJson | len }}
""")
    return top


def depth(root):
    top = os.path.join(root, "depth")
    write(os.path.join(top, "Chart.yaml"), "apiVersion: v2\nname: depth\nversion: 1.0.0\n")
    write(os.path.join(top, "templates/_h.tpl"), '{{ define "down" }}{{ if gt .n 0 }}{{ include "down" (dict "n" (sub .n 1)) }}x{{ end }}{{ end }}')
    write(os.path.join(top, "templates/t.yaml"), '{{ range $i := until 20 }}k{{ $i }}: {{ include "down" (dict "n" 900) | len }}\n{{ end }}')
    return top


def run(command):
    """Wall seconds and what the system counted."""
    start = time.perf_counter()
    null = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
    _, status, usage = os.wait4(os.posix_spawn(command[0], command, os.environ, file_actions=null), 0)
    wall = time.perf_counter() - start
    if status: sys.exit(f"failed: {' '.join(command)}")
    return wall, usage.ru_utime + usage.ru_stime


def measure(binary, chart):
    """Wall seconds, processor seconds, KiB. The peak is of a run of its own through GNU time, a small process: forked
    from this one, this one's memory would count."""
    command = [binary, "template", "r", chart]
    p = subprocess.run(["/usr/bin/time", "-f", "%M"] + command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True)
    return *run(command), int(p.stderr.strip().split("\n")[-1])


def growth(alm, charts, rounds):
    """Best wall milliseconds for each size."""
    best = [min(run([alm, "template", "r", chart])[0] for _ in range(rounds)) * 1e3 for chart in charts]
    return "  ".join(f"{ms:.1f}" for ms in best)


def main():
    alm, helm, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 7
    root = tempfile.mkdtemp(prefix="alm-bench-")
    charts = {"small": scaffold(helm, root, "small"), "umbrella20": umbrella(helm, root, 20), "umbrella100": umbrella(helm, root, 100),
              "crds30k": crds(root), "tpl1000": calls(root), "merge50": merges(root), "yaml1M": yaml(root), "include900": depth(root)}
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
    print("100, 200, 400 subcharts (ms):", growth(alm, [umbrella(helm, root, n) for n in (100, 200, 400)], rounds))
    print("1, 2, 4 MiB of YAML (ms):    ", growth(alm, [yaml(root, n) for n in (16000, 32000, 64000)], rounds))
    shutil.rmtree(root)


main()
