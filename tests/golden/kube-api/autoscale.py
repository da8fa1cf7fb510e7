#!/usr/bin/env python3
"""autoscale.py URL TOKEN >autoscale.jsonl: HorizontalPodAutoscalers written as autoscaling/v1 and read as v2, and the other way, by a
real kube-apiserver. tests/unit/alm/apiserver/test_autoscale.c sends the same to ours. Recorded on 1.36."""
from recorder import APPLY, MERGE, PATCH, ask

V1, V2 = ('/apis/autoscaling/%s/namespaces/default/horizontalpodautoscalers' % v for v in ('v1', 'v2'))
SEEN = ('kind', 'apiVersion', 'spec', 'metadata.annotations', 'metadata.labels')
NOTE = 'autoscaling.alpha.kubernetes.io/'
TARGET = {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'd'}
TIME = '2026-01-02T03:04:05Z'


def scaler(name, version, annotations=None, **spec):
    meta = dict({'name': name}, **({'annotations': annotations} if annotations else {}))
    return {'apiVersion': 'autoscaling/' + version, 'kind': 'HorizontalPodAutoscaler', 'metadata': meta,
            'spec': dict({'scaleTargetRef': TARGET, 'maxReplicas': 5}, **spec)}


def both(name, status=False):
    fields = SEEN + (('status',) if status else ())
    for at in (V1, V2):
        ask('GET', '%s/%s' % (at, name), fields=fields)



def resource(name, **target):
    return {'type': 'Resource', 'resource': {'name': name, 'target': target}}


METRICS = [
    resource('memory', type='AverageValue', averageValue='100Mi'),
    {'type': 'Pods', 'pods': {'metric': {'name': 'pp', 'selector': {'matchLabels': {'a': 'b'}}}, 'target': {'type': 'AverageValue', 'averageValue': '1500m'}}},
    {'type': 'Object', 'object': {'describedObject': {'apiVersion': 'v1', 'kind': 'Service', 'name': 's'}, 'metric': {'name': 'oo'},
                                  'target': {'type': 'Value', 'value': '10k'}}},
    {'type': 'Object', 'object': {'describedObject': {'kind': 'Service', 'name': 's', 'apiVersion': 'x/v1'}, 'metric': {'name': 'o2'},
                                  'target': {'type': 'AverageValue', 'averageValue': '3'}}},
    {'type': 'External', 'external': {'metric': {'name': 'ee', 'selector': {'matchExpressions': [{'key': 'k', 'operator': 'In', 'values': ['<x>&']}]}},
                                      'target': {'type': 'Value', 'value': '7'}}},
    {'type': 'External', 'external': {'metric': {'name': 'e2'}, 'target': {'type': 'AverageValue', 'averageValue': '8'}}},
    {'type': 'ContainerResource', 'containerResource': {'name': 'cpu', 'container': 'c', 'target': {'type': 'Utilization', 'averageUtilization': 30}}},
    resource('cpu', type='Utilization', averageUtilization=60),
]
BEHAVIOR = {'scaleUp': {'policies': [{'type': 'Pods', 'value': 2, 'periodSeconds': 60}], 'stabilizationWindowSeconds': 30, 'tolerance': '50m'}}
STATUS = {'currentReplicas': 2, 'desiredReplicas': 3, 'observedGeneration': 1, 'lastScaleTime': TIME, 'conditions': [
    {'type': 'AbleToScale', 'status': 'True', 'lastTransitionTime': TIME, 'reason': 'R', 'message': 'a <b> & "c"'},
    {'type': 'ScalingActive', 'status': 'False', 'lastTransitionTime': TIME}], 'currentMetrics': [
        {'type': 'Resource', 'resource': {'name': 'cpu', 'current': {'averageUtilization': 12, 'averageValue': '120m'}}},
        {'type': 'Pods', 'pods': {'metric': {'name': 'pp'}, 'current': {'averageValue': '2'}}},
        {'type': 'Object', 'object': {'describedObject': {'kind': 'Service', 'name': 's'}, 'metric': {'name': 'oo'}, 'current': {'value': '5'}}},
        {'type': 'External', 'external': {'metric': {'name': 'ee'}, 'current': {'averageValue': '9', 'value': '1'}}},
        {'type': 'ContainerResource', 'containerResource': {'name': 'cpu', 'container': 'c', 'current': {'averageValue': '1'}}}]}

# what each version makes of the other
ask('POST', V1, scaler('bare', 'v1'), fields=SEEN)
both('bare')
ask('POST', V1, scaler('cpu', 'v1', targetCPUUtilizationPercentage=50, minReplicas=2), fields=SEEN)
both('cpu')
ask('POST', V2, scaler('all', 'v2', metrics=METRICS, behavior=BEHAVIOR), fields=SEEN)
both('all')
ask('PATCH', V2 + '/all/status', {'status': STATUS}, MERGE, fields=SEEN + ('status',))
both('all', status=True)
# and back, whole: nothing is lost, another client's status stays
ask('PATCH', V1 + '/all', {'spec': {'maxReplicas': 6}}, MERGE, fields=SEEN + ('status',))
both('all', status=True)
ask('PATCH', V1 + '/all', {'metadata': {'annotations': None}}, MERGE, fields=SEEN + ('status',))
both('all', status=True)
ask('PATCH', V1 + '/cpu', {'metadata': {'annotations': {NOTE + 'conditions': '[{"type":"x","status":"True"}]', NOTE + 'current-metrics': '[]', 'mine': '1'}}},
    MERGE, fields=SEEN)
both('cpu')
ask('PATCH', V1 + '/cpu/status', {'status': {'currentReplicas': 4, 'desiredReplicas': 4, 'currentCPUUtilizationPercentage': 33},
                                  'spec': {'maxReplicas': 9}}, MERGE, fields=SEEN + ('status',))
both('cpu', status=True)
# annotations by hand
for n, (key, text) in enumerate((
        ('metrics', '[{"type":"Resource","resource":{"name":"memory","targetAverageUtilization":40}}]'),
        ('metrics', '[{"type":"Pods","pods":{"metricName":"m","targetAverageValue":"5"}},{"type":"External","external":{"metricName":"e","targetValue":"7"}}]'),
        ('metrics', '[{"type":"Object","object":{"target":{"kind":"Service","name":"s","apiVersion":"v1"},"metricName":"m","targetValue":"0","averageValue":"4"}}]'),
        ('metrics', '[]'), ('metrics', 'null'), ('metrics', '{}'), ('metrics', '[7]'), ('metrics', 'x'), ('metrics', ''),
        ('metrics', '[{"type":"Resource","resource":{"name":7}}]'), ('metrics', '[{"type":"Nope"}]'),
        ('metrics', '[{"type":"Resource","resource":{"name":"memory"}}]'),
        ('metrics', '[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"x"}}]'),
        ('behavior', '{"ScaleUp":{"Policies":[{"Type":"Pods","Value":1,"PeriodSeconds":5}]}}'),
        ('behavior', '{"scaleDown":{"selectPolicy":"Disabled","policies":[{"type":"Percent","value":10,"periodSeconds":60}],"tolerance":"0.1"}}'),
        ('behavior', '{}'), ('behavior', '[]'), ('behavior', 'null'), ('behavior', '{"ScaleUp":7}'), ('behavior', '{"ScaleUp":{}}'),
        ('behavior', '{"ScaleUp":{"Policies":[{"Type":"Nope","Value":-1,"PeriodSeconds":9999}]}}'),
        ('conditions', '[{"type":"x","status":"True"}]'), ('scale-up-tolerance', '1'), ('other', '1'))):
    ask('POST', V1, scaler('by-hand-%d' % n, 'v1', {NOTE + key: text}, targetCPUUtilizationPercentage=70), fields=SEEN)
    both('by-hand-%d' % n)
ask('POST', V1, scaler('no-target', 'v1', {NOTE + 'metrics': '[{"type":"Resource","resource":{"name":"memory","targetAverageUtilization":40}}]'}), fields=SEEN)
both('no-target')
# what v2 keeps of v1's annotations
ask('POST', V2, scaler('noted', 'v2', {NOTE + 'metrics': '[{"type":"Pods"}]', 'mine': '2'}), fields=SEEN)
both('noted')
# refused
for more in ({'maxReplicas': 0}, {'maxReplicas': 1, 'minReplicas': 2}, {'minReplicas': 0}, {'minReplicas': -1}, {'maxReplicas': -1},
             {'targetCPUUtilizationPercentage': 0}, {'targetCPUUtilizationPercentage': -5}, {'targetCPUUtilizationPercentage': 'x'},
             {'scaleTargetRef': {}}, {'scaleTargetRef': {'kind': 'a/b', 'name': 'x%', 'apiVersion': 'apps/v1'}}, {'scaleTargetRef': dict(TARGET, apiVersion='v1')},
             {'scaleTargetRef': dict(TARGET, apiVersion='a/b/c')}, {'metrics': METRICS}, {'scaleTargetRef': dict(TARGET, apiVersion='')}):
    ask('POST', V1 + '?dryRun=All', scaler('bad', 'v1', **more), fields=SEEN)
    ask('POST', V1 + '?dryRun=All&fieldValidation=Strict', scaler('bad', 'v1', **more), fields=SEEN)
    if 'targetCPUUtilizationPercentage' not in more:
        ask('POST', V2 + '?dryRun=All', scaler('bad', 'v2', **more), fields=SEEN)
RULES = {'policies': [{'type': 'Pods', 'value': 1, 'periodSeconds': 1}]}
for rules in (dict(RULES, stabilizationWindowSeconds=-1), dict(RULES, stabilizationWindowSeconds=3601), dict(RULES, selectPolicy='x'),
              {'policies': [{'type': 'x', 'value': 0, 'periodSeconds': 0}]}, {'policies': [{'type': 'Percent', 'value': -2, 'periodSeconds': 1801}]},
              dict(RULES, tolerance='-1'), dict(RULES, tolerance='0'), {}, dict(RULES, selectPolicy='Disabled')):
    for way in ('scaleUp', 'scaleDown'):
        ask('POST', V2 + '?dryRun=All', scaler('bad', 'v2', behavior={way: rules}), fields=SEEN)
REF = {'kind': 'Service', 'name': 's', 'apiVersion': 'v1'}
for m in ({'type': 'Resource'}, {'type': ''}, {'type': 'x'}, {'type': 'Pods'}, {'type': 'Object'}, {'type': 'External'}, {'type': 'ContainerResource'},
          resource('', type='Utilization', averageUtilization=1), resource('cpu', type='x', averageUtilization=0), resource('cpu', type=''),
          resource('cpu', type='AverageValue', averageValue='0'), resource('cpu', type='Value', value='-1'),
          resource('cpu', type='Utilization', averageUtilization=1, averageValue='1'),
          {'type': 'Pods', 'pods': {'metric': {'name': ''}, 'target': {'type': 'AverageValue'}}},
          {'type': 'Pods', 'pods': {'metric': {'name': 'a/b'}, 'target': {'type': 'AverageValue', 'averageValue': '1'}}},
          {'type': 'Object', 'object': {'describedObject': {}, 'metric': {'name': '..'}, 'target': {'type': 'Value'}}},
          {'type': 'Object', 'object': {'describedObject': REF, 'metric': {'name': 'm'}, 'target': {'type': 'Value', 'value': '1', 'averageValue': '1'}}},
          {'type': 'External', 'external': {'metric': {'name': 'm'}, 'target': {'type': 'Value', 'value': '1', 'averageValue': '1'}}},
          {'type': 'External', 'external': {'metric': {'name': 'm'}, 'target': {'type': 'Value'}}},
          {'type': 'ContainerResource', 'containerResource': {'name': 'cpu', 'container': '', 'target': {'type': 'Utilization'}}},
          {'type': 'ContainerResource', 'containerResource': {'name': '', 'container': 'A_', 'target': {'type': 'Utilization', 'averageUtilization': 1, 'averageValue': '1'}}},
          {'type': 'ContainerResource', 'containerResource': {'name': 'nope', 'container': 'a', 'target': {'type': 'Utilization', 'averageUtilization': 1}}},
          {'type': 'ContainerResource', 'containerResource': {'name': 'x/y z', 'container': 'a', 'target': {'type': 'Utilization', 'averageUtilization': 1}}},
          dict(resource('cpu', type='Utilization', averageUtilization=1), pods={'metric': {'name': 'm'}, 'target': {'type': 'AverageValue', 'averageValue': '1'}})):
    ask('POST', V2 + '?dryRun=All', scaler('bad', 'v2', metrics=[m]), fields=SEEN)
# patches and appliers of v1
ask('PATCH', V1 + '/bare', [{'op': 'replace', 'path': '/spec/targetCPUUtilizationPercentage', 'value': 20}], PATCH, fields=SEEN)
both('bare')
ask('PATCH', V1 + '/bare', {'spec': {'targetCPUUtilizationPercentage': None, 'minReplicas': None}}, 'application/strategic-merge-patch+json', fields=SEEN)
both('bare')
ask('PATCH', V1 + '/applied?fieldManager=me', scaler('applied', 'v1', targetCPUUtilizationPercentage=45), APPLY, fields=SEEN)
both('applied')
ask('PATCH', V1 + '/applied?fieldManager=me', scaler('applied', 'v1'), APPLY, fields=SEEN)
both('applied')
ask('PUT', V1 + '/cpu', scaler('cpu', 'v1', minReplicas=1), fields=SEEN + ('status',))
both('cpu', status=True)
ask('PUT', V2 + '/cpu', scaler('cpu', 'v2', metrics=[resource('memory', type='Utilization', averageUtilization=5)]), fields=SEEN)
both('cpu')
