#!/usr/bin/env python3
"""kubectl.py URL TOKEN >kubectl.jsonl: what tests/fuzz/diff_kubectl.py found that ours answered otherwise, as requests with the
answers of a real kube-apiserver. tests/unit/alm/apiserver/test_differs.c sends the same to ours. Recorded on 1.36."""
from recorder import JSON, MERGE, PATCH, ask

STRATEGIC = 'application/strategic-merge-patch+json'
MAPS, CRONS, CSRS = '/api/v1/namespaces/default/configmaps', '/apis/batch/v1/namespaces/default/cronjobs', '/apis/certificates.k8s.io/v1/certificatesigningrequests'
POD = {'restartPolicy': 'Never', 'containers': [{'name': 'x', 'image': 'i:1'}]}
ask('POST', MAPS, {'metadata': {'name': 'kc'}, 'data': {'a': 'b'}})
for body in ('x', [1], 3, 1.5, True):
    for kind in (MERGE, STRATEGIC):
        ask('PATCH', MAPS + '/kc', body, kind)
for body in ([{'path': '/x'}], [{'op': 'add'}], [{'op': 'copy', 'path': '/x'}], [{'op': 'nothing', 'path': '/x'}]):
    ask('PATCH', MAPS + '/kc', body, PATCH)
for at in (MAPS, '/api/v1/pods', '/apis/apps/v1/deployments', '/apis/batch/v1/jobs', CRONS, '/api/v1/nodes', '/apis/storage.k8s.io/v1/csidrivers'):
    ask('GET', at + '?fieldSelector=spec.none%3Db')
for text in ('', 'x', '* * * *', '* * * * * *', '60 * * * *', '* * 0 * *', '* * * 13 *', '5-1 * * * *', '*/0 * * * *', '1- * * * *', '1-2-3 * * * *',
             '1/2/3 * * * *', '-1 * * * *', '@never', '@every x', '@every 10ms', 'TZ=UTC * * * * *', '0 0 1 jan sun', '  0 0 * * *', '*,5 * * * *', ', * * * *'):
    ask('POST', CRONS + '?dryRun=All', {'metadata': {'name': 'kc'}, 'spec': {'schedule': text, 'jobTemplate': {'spec': {'template': {'spec': POD}}}}},
        JSON, ('spec.schedule',))
ask('DELETE', MAPS + '/kc')
