#!/usr/bin/env python3
"""diff_api_record.py CLASSES.. URL TOKEN URL TOKEN >tests/golden/kube-api/differs.jsonl: of the classes that diff_api.py --out wrote of
an earlier build, the requests that agree now, as lines of a recording; the objects they are about come first."""
import json
import sys

sys.argv, files, servers = sys.argv[:1] + ['--runs', '0'] + sys.argv[-4:], sys.argv[1:-4], sys.argv[-4:]
import diff_api as d  # noqa: E402

real, ours = d.Server(*servers[:2]), d.Server(*servers[2:])
out = []
for path, body in d.BASES:
    body = d.named(path, body)
    other = body if d.is_review(path) else dict(body, metadata=dict(body['metadata'], name=body['metadata']['name'] + '1'))
    told = real.send('POST', path + '?dryRun=All', other)[2]
    out.append({'method': 'POST', 'path': path, 'body': json.dumps(body), 'type': d.JSON, 'code': 201, 'warnings': ['299 - "' + w + '"' for w in told]})
seen = set()
for f in files:
    for line in open(f):
        q = json.loads(line)['request']
        key = json.dumps(q)
        if key in seen or len(key) > 1500:
            continue
        seen.add(key)
        a, b = real.send(*q), ours.send(*q)
        x, y = [(c, json.loads(d.neutral(json.dumps(d.bare(o, c)))), w) for c, o, w in (a, b)]
        if x != y:
            continue
        row = {'method': q[0], 'path': q[1], 'body': json.dumps(q[2]), 'type': q[3], 'code': a[0], 'warnings': ['299 - "' + w + ('""' if w.endswith('\\') else '"') for w in a[2]]}
        if 'conflict' in (a[1].get('message') or ''):
            continue
        if a[0] >= 400:
            if 'patch: Invalid value' in (a[1].get('message') or ''):
                continue
            row['message'] = a[1].get('message'); row['fields'] = {k: a[1].get(k) for k in ('reason', 'details')}
            if 'uid' in (row['fields']['details'] or {}):
                continue
        else:
            row['fields'] = {k: v for k, v in a[1].items() if k not in ('metadata', 'kind', 'apiVersion', 'status') and v and d.emptied(v) == v and 'ADDR' not in d.neutral(json.dumps(v))}
        out.append(row)
for r in out:
    print(json.dumps(r))
