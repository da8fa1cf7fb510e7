#!/usr/bin/env python3
"""diff_api_record.py [--rich] [--kinds=REGEX] CLASSES.. URL TOKEN URL TOKEN >tests/golden/kube-api/differs.jsonl: of the classes that diff_api.py
--out wrote of an earlier build, the requests that agree now, as lines of a recording; the objects they are about come first. What is
told of owners is recorded of classes that were about them."""
import json
import re
import sys

rich = sys.argv[1] == '--rich' and bool(sys.argv.pop(1))
kinds = sys.argv.pop(1)[len('--kinds='):] if sys.argv[1].startswith('--kinds=') else ''
sys.argv, files, servers = sys.argv[:1] + ['--runs', '0'] + sys.argv[-4:], sys.argv[1:-4], sys.argv[-4:]
import diff_api as d  # noqa: E402

real, ours = d.Server(*servers[:2]), d.Server(*servers[2:])
out = []


def header(warning):
    return '299 - "' + warning + ('""' if warning.endswith('\\') else '"')


for path, body in d.BASES + (d.RICH if rich else []):
    if not re.search(kinds, path):
        continue
    body = d.named(path, body)
    other = body if d.is_review(path) else dict(body, metadata=dict(body['metadata'], name=body['metadata']['name'] + '1'))
    told = real.send('POST', path + '?dryRun=All', other)[2]
    out.append({'method': 'POST', 'path': path, 'body': json.dumps(body), 'type': d.JSON, 'code': 201, 'warnings': [header(w) for w in told]})
seen = set()
for f in files:
    for line in open(f):
        q, about = json.loads(line)['request'], json.loads(line)['class']
        key = json.dumps(q)
        if key in seen or len(key) > (4000 if 'definitions' in q[1] else 1500):  # a rich definition is all of 2,000
            continue
        seen.add(key)
        a, b = real.send(*q), ours.send(*q)
        if a[0] == 500 and b[0] == 400 and re.search('typed patch object|to convert new object', a[1].get('message') or ''):
            a = (400,) + a[1:]  # a client's fault is none of the server here
        x, y = [(c, json.loads(d.neutral(json.dumps(d.bare(o, c)))), w) for c, o, w in (a, b)]
        if x != y:
            continue
        row = {'method': q[0], 'path': q[1], 'body': json.dumps(q[2]), 'type': q[3], 'code': a[0], 'warnings': [header(w) for w in a[2]]}
        told = a[1].get('message') or ''
        if d.neutral(told) != told or 'errors:' in told:  # drawn there, or in the order of a Go map
            continue
        if 'conflict' in told and told != b[1].get('message'):
            continue
        if a[0] >= 400:
            if 'patch: Invalid value' in told and told != b[1].get('message'):
                continue
            row['message'] = a[1].get('message'); row['fields'] = {k: a[1].get(k) for k in ('reason', 'details')}
            if 'uid' in (row['fields']['details'] or {}):
                continue
            if re.search('typed patch object|to convert new object', told):
                row['fields'] = {}
        else:
            row['fields'] = {k: v for k, v in a[1].items() if k not in ('metadata', 'kind', 'apiVersion', 'status') and v and d.emptied(v) == v and not re.search('ADDR|TIME', d.neutral(json.dumps(v)))}
            owners = [m['metadata'].get('managedFields') or [] for m in (a[1], b[1])]
            if 'managedFields' in about and [m.get('fieldsV1') for m in owners[0]] == [m.get('fieldsV1') for m in owners[1]]:
                for i, m in enumerate(owners[0]):
                    row['fields'].update({'metadata.managedFields[%d].%s' % (i, k): m.get(k) for k in ('fieldsV1', 'operation', 'subresource')})
                    if 'time' not in m:
                        row['fields']['metadata.managedFields[%d].time' % i] = None
        out.append(row)
for r in out:
    print(json.dumps(r).replace('conflict with \\"unknown\\" using', 'conflict with \\"test\\" using'))  # as the client of the test is called
