"""A valid object of each built-in kind, for diff_api.py."""
POD = {'containers': [{'name': 'c', 'image': 'i:1', 'ports': [{'containerPort': 80, 'name': 'http'}],
                       'env': [{'name': 'A', 'value': '1'}, {'name': 'B', 'valueFrom': {'secretKeyRef': {'name': 's', 'key': 'k'}}}],
                       'resources': {'requests': {'cpu': '100m'}, 'limits': {'cpu': '1', 'memory': '1Gi'}},
                       'volumeMounts': [{'name': 'v', 'mountPath': '/v'}],
                       'livenessProbe': {'httpGet': {'path': '/', 'port': 'http'}}}],
       'initContainers': [{'name': 'i', 'image': 'i:1'}],
       'volumes': [{'name': 'v', 'configMap': {'name': 'm'}}], 'restartPolicy': 'Always'}
TEMPLATE = {'metadata': {'labels': {'a': 'b'}}, 'spec': POD}
ONCE = {'spec': {'restartPolicy': 'Never', 'containers': [{'name': 'c', 'image': 'i:1'}]}}
SELECTOR = {'matchLabels': {'a': 'b'}}
RBAC = '/apis/rbac.authorization.k8s.io/v1/'
RULE = {'apiGroups': [''], 'resources': ['pods'], 'verbs': ['get']}
NS = 'namespaces/default/'
HOOK = {'name': 'a.b.c', 'admissionReviewVersions': ['v1'], 'sideEffects': 'None', 'failurePolicy': 'Ignore',
        'clientConfig': {'url': 'https://a.b/c'},
        'rules': [{'apiGroups': ['none.example.com'], 'apiVersions': ['v1'], 'operations': ['CREATE'], 'resources': ['nones']}]}
MATCH = {'resourceRules': [{'apiGroups': ['none.example.com'], 'apiVersions': ['v1'], 'operations': ['CREATE'], 'resources': ['nones']}]}
DEVICES = {'devices': {'requests': [{'name': 'r', 'exactly': {'deviceClassName': 'c'}}]}}
AUTHZ = '/apis/authorization.k8s.io/v1/'
WORD = {'type': 'string', 'maxLength': 20}
THINGS = {
    'group': 'diff.example.com', 'scope': 'Namespaced', 'names': {'plural': 'things', 'singular': 'thing', 'kind': 'Thing', 'listKind': 'ThingList',
                                                                  'shortNames': ['th'], 'categories': ['all']},
    'conversion': {'strategy': 'None'},
    'versions': [{
        'name': 'v1', 'served': True, 'storage': True, 'deprecated': True, 'deprecationWarning': 'old',
        'subresources': {'status': {}, 'scale': {'specReplicasPath': '.spec.replicas', 'statusReplicasPath': '.status.replicas',
                                                 'labelSelectorPath': '.status.selector'}},
        'additionalPrinterColumns': [{'name': 'N', 'type': 'integer', 'jsonPath': '.spec.replicas', 'format': 'int32', 'priority': 1}],
        'selectableFields': [{'jsonPath': '.spec.name'}],
        'schema': {'openAPIV3Schema': {'type': 'object', 'description': 'd', 'required': ['spec'], 'properties': {
            'spec': {'type': 'object', 'required': ['name'], 'x-kubernetes-validations': [
                {'rule': 'self.replicas < 9', 'message': 'too many', 'fieldPath': '.replicas', 'reason': 'FieldValueForbidden'}],
                'properties': {
                    'replicas': {'type': 'integer', 'format': 'int32', 'minimum': 0, 'maximum': 99, 'default': 1},
                    'name': {'type': 'string', 'pattern': '^[a-z]+$', 'minLength': 1, 'maxLength': 9},
                    'kind': {'type': 'string', 'enum': ['A', 'B'], 'nullable': True},
                    'amount': {'x-kubernetes-int-or-string': True, 'anyOf': [{'type': 'integer'}, {'type': 'string'}]},
                    'items': {'type': 'array', 'maxItems': 3, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['key'], 'items': {
                        'type': 'object', 'required': ['key'], 'properties': {'key': WORD, 'value': {'type': 'number', 'multipleOf': 1}}}},
                    'tags': {'type': 'array', 'x-kubernetes-list-type': 'set', 'items': WORD},
                    'labels': {'type': 'object', 'additionalProperties': WORD, 'maxProperties': 2},
                    'any': {'type': 'object', 'x-kubernetes-preserve-unknown-fields': True},
                    'when': {'type': 'string', 'format': 'date-time'},
                    'on': {'type': 'boolean', 'default': True},
                    'made': {'type': 'object', 'x-kubernetes-embedded-resource': True, 'x-kubernetes-preserve-unknown-fields': True}}},
            'status': {'type': 'object', 'properties': {'replicas': {'type': 'integer'}, 'selector': {'type': 'string'}, 'phase': {
                'type': 'string', 'enum': ['On', 'Off']}}}}}}}]}
BASES = [
    ('/api/v1/' + NS + 'pods', {'spec': POD}),
    ('/apis/apps/v1/' + NS + 'deployments', {'spec': {'replicas': 1, 'selector': SELECTOR, 'template': TEMPLATE, 'strategy': {
        'type': 'RollingUpdate', 'rollingUpdate': {'maxSurge': 1, 'maxUnavailable': 0}}}}),
    ('/apis/apps/v1/' + NS + 'statefulsets', {'spec': {'serviceName': 's', 'selector': SELECTOR, 'template': TEMPLATE,
        'volumeClaimTemplates': [{'metadata': {'name': 'd'}, 'spec': {
            'accessModes': ['ReadWriteOnce'], 'resources': {'requests': {'storage': '1Gi'}}}}]}}),
    ('/apis/apps/v1/' + NS + 'daemonsets', {'spec': {'selector': SELECTOR, 'template': TEMPLATE}}),
    ('/apis/apps/v1/' + NS + 'replicasets', {'spec': {'selector': SELECTOR, 'template': TEMPLATE}}),
    ('/apis/apps/v1/' + NS + 'controllerrevisions', {'revision': 1, 'data': {'a': 1}}),
    ('/apis/batch/v1/' + NS + 'jobs', {'spec': {'backoffLimit': 1, 'template': ONCE}}),
    ('/apis/batch/v1/' + NS + 'cronjobs', {'spec': {'schedule': '* * * * *', 'concurrencyPolicy': 'Forbid', 'suspend': True,
                                                   'jobTemplate': {'spec': {'template': ONCE}}}}),
    ('/api/v1/' + NS + 'services', {'spec': {'selector': {'a': 'b'}, 'ports': [{'port': 80, 'targetPort': 'http', 'name': 'p'}]}}),
    ('/apis/networking.k8s.io/v1/' + NS + 'ingresses', {'spec': {'rules': [{'host': 'a.b', 'http': {'paths': [
        {'path': '/', 'pathType': 'Prefix', 'backend': {'service': {'name': 's', 'port': {'number': 80}}}}]}}],
        'tls': [{'hosts': ['a.b'], 'secretName': 't'}]}}),
    ('/apis/networking.k8s.io/v1/ingressclasses', {'spec': {'controller': 'a.b/c'}}),
    ('/apis/networking.k8s.io/v1/' + NS + 'networkpolicies', {'spec': {'podSelector': SELECTOR, 'policyTypes': ['Ingress'],
        'ingress': [{'from': [{'podSelector': SELECTOR}], 'ports': [{'port': 80, 'protocol': 'TCP'}]}]}}),
    ('/apis/policy/v1/' + NS + 'poddisruptionbudgets', {'spec': {'minAvailable': 1, 'selector': SELECTOR}}),
    ('/apis/autoscaling/v2/' + NS + 'horizontalpodautoscalers', {'spec': {'minReplicas': 1, 'maxReplicas': 2,
        'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'd'}, 'metrics': [
            {'type': 'Resource', 'resource': {'name': 'cpu', 'target': {'type': 'Utilization', 'averageUtilization': 80}}}]}}),
    ('/apis/autoscaling/v1/' + NS + 'horizontalpodautoscalers', {'metadata': {'name': 'base1'}, 'spec': {'minReplicas': 1, 'maxReplicas': 2,
        'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'd'}, 'targetCPUUtilizationPercentage': 50}}),
    (RBAC + NS + 'roles', {'rules': [RULE]}),
    (RBAC + 'clusterroles', {'rules': [RULE, {'nonResourceURLs': ['/x'], 'verbs': ['get']}]}),
    (RBAC + NS + 'rolebindings', {'subjects': [{'kind': 'ServiceAccount', 'name': 's', 'namespace': 'd'}, {
        'kind': 'User', 'name': 'u', 'apiGroup': 'rbac.authorization.k8s.io'}],
        'roleRef': {'kind': 'Role', 'name': 'r', 'apiGroup': 'rbac.authorization.k8s.io'}}),
    (RBAC + 'clusterrolebindings', {'subjects': [{'kind': 'ServiceAccount', 'name': 's', 'namespace': 'd'}],
        'roleRef': {'kind': 'ClusterRole', 'name': 'r', 'apiGroup': 'rbac.authorization.k8s.io'}}),
    ('/api/v1/' + NS + 'configmaps', {'data': {'a': 'b'}, 'binaryData': {'c': 'YQ=='}}),
    ('/api/v1/' + NS + 'secrets', {'type': 'kubernetes.io/tls', 'data': {'tls.crt': 'YQ==', 'tls.key': 'YQ=='}}),
    ('/api/v1/' + NS + 'secrets', {'metadata': {'name': 'opaque'}, 'data': {'a': 'YQ=='}, 'stringData': {'b': 'c'}}),
    ('/api/v1/' + NS + 'secrets', {'metadata': {'name': 'docker'}, 'type': 'kubernetes.io/dockerconfigjson', 'data': {'.dockerconfigjson': 'e30='}}),
    ('/api/v1/' + NS + 'persistentvolumeclaims', {'spec': {'accessModes': ['ReadWriteOnce'], 'resources': {'requests': {'storage': '1Gi'}}}}),
    ('/api/v1/persistentvolumes', {'spec': {'capacity': {'storage': '1Gi'}, 'accessModes': ['ReadWriteOnce'], 'hostPath': {'path': '/a'}}}),
    ('/api/v1/namespaces', {'metadata': {'labels': {'a': 'b'}}}),
    ('/api/v1/nodes', {'spec': {'taints': [{'key': 'a', 'effect': 'NoSchedule'}], 'unschedulable': True}}),
    ('/api/v1/' + NS + 'serviceaccounts', {'secrets': [{'name': 'a'}], 'imagePullSecrets': [{'name': 'b'}]}),
    ('/api/v1/' + NS + 'endpoints', {'subsets': [{'addresses': [{'ip': '1.2.3.4'}], 'ports': [{'port': 80, 'name': 'p'}]}]}),
    ('/apis/discovery.k8s.io/v1/' + NS + 'endpointslices', {'addressType': 'IPv4', 'endpoints': [{'addresses': ['1.2.3.4']}], 'ports': [{'port': 80}]}),
    ('/api/v1/' + NS + 'events', {'involvedObject': {'namespace': 'default', 'kind': 'Pod', 'name': 'p'}, 'reason': 'r', 'message': 'm', 'type': 'Normal'}),
    ('/api/v1/' + NS + 'limitranges', {'metadata': {'name': 'range'}, 'spec': {'limits': [{'type': 'PersistentVolumeClaim', 'max': {'storage': '9Gi'}}]}}),
    ('/api/v1/' + NS + 'resourcequotas', {'spec': {'hard': {'count/nones.example.com': '9'}}}),
    ('/api/v1/' + NS + 'podtemplates', {'template': TEMPLATE}),
    ('/api/v1/' + NS + 'replicationcontrollers', {'spec': {'replicas': 0, 'selector': {'a': 'b'}, 'template': TEMPLATE}}),
    ('/apis/storage.k8s.io/v1/storageclasses', {'provisioner': 'a.b/c', 'parameters': {'a': 'b'}}),
    ('/apis/storage.k8s.io/v1/csidrivers', {'spec': {'attachRequired': True}}),
    ('/apis/storage.k8s.io/v1/csinodes', {'spec': {'drivers': [{'name': 'a.b', 'nodeID': 'n'}]}}),
    ('/apis/storage.k8s.io/v1/volumeattachments', {'spec': {'attacher': 'a.b', 'nodeName': 'n', 'source': {'persistentVolumeName': 'p'}}}),
    ('/apis/storage.k8s.io/v1/' + NS + 'csistoragecapacities', {'storageClassName': 's', 'capacity': '1Gi'}),
    ('/apis/scheduling.k8s.io/v1/priorityclasses', {'value': 7}),
    ('/apis/node.k8s.io/v1/runtimeclasses', {'handler': 'h'}),
    ('/apis/coordination.k8s.io/v1/' + NS + 'leases', {'spec': {'holderIdentity': 'h', 'leaseDurationSeconds': 10}}),
    ('/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas', {'spec': {'priorityLevelConfiguration': {'name': 'global-default'}, 'matchingPrecedence': 9000,
        'rules': [{'subjects': [{'kind': 'User', 'user': {'name': 'nobody'}}], 'resourceRules': [{
            'apiGroups': ['a'], 'resources': ['b'], 'verbs': ['get'], 'namespaces': ['*']}]}]}}),
    ('/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations', {'spec': {'type': 'Limited', 'limited': {
        'nominalConcurrencyShares': 1, 'limitResponse': {'type': 'Reject'}}}}),
    ('/apis/certificates.k8s.io/v1/certificatesigningrequests', {'spec': {'signerName': 'a.b/c', 'usages': ['client auth'], 'request': 'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlJQ1hUQ0NBVVVDQVFBd0dERUtNQWdHQTFVRUF3d0JlREVLTUFnR0ExVUVDZ3dCZVRDQ0FTSXdEUVlKS29aSQpodmNOQVFFQkJRQURnZ0VQQURDQ0FRb0NnZ0VCQUtkVStxMGJUNXBxejNyQ3VFbTQ2endBSm8vZ3JNSjd4bWNuClA0elhhZVFzWGY3ZXg0Um1ObHdjdGRlRTZmVXBaT2l1R1MvWCs0dkF2dDdtYmRxOFdDWmdJQ1lLMzdMZFduMTYKcGdXOEE0aUxISnlWTjBQL2Yvc3dXVEhrTkwrTFBQVWtZMDFVWmhZZVFMSHZKY2pOM2JnSWYrbk9hZ2RQTFhYTgpiUzUrWnlmQ3hkWWYrRzU3U1NpdUMzYkJPNEpwWnI3cVNzNzhuaUljbG50RlFWTCtIWHYyUHBqQTlzVUtia0ZQCkx0V1dQcEczaXJUSFIvbjZnMXJzeFg2SWFvNHB4cXVLRWRacStDZnNsM0FlcDJueEtHNHN3TFBCOTc3NVdjR1MKRjBSUmxWN1p5bVNvVXpYQjVQbk9hdVYxMHAxRXRaY2dJRERCUVk0UDZhMGp5K3Z1TFdrQ0F3RUFBYUFBTUEwRwpDU3FHU0liM0RRRUJDd1VBQTRJQkFRQVhHWHNPaGczRVN1cUVQWWlneU9QOUNCM255M2hKKzdNOWFwQWkxbGtTCkcyMnRKVmxDVjZVajBiMG4xY2tZb05FQlB0TzZCR1pkY2JIa2h6SW9HN1BIVkhNNjFlUmxONm00L0lEZU9VUzIKRFcvVmV6elJFSWlEbzBScCtyeFlpak1IdkFiTGlNNEpONmdoa0IzWVBHTUpOWkYvd1FpNEhkNGpMMjRRZWlNVwp2N1JsNWlFSldvYTkyUEI3ejl0WEJRQllyZEMzSEJkMmlQczVDbWY4b0huNmNwcGR6TXIvMXp4cEk1YVV3dDR4CkJoQkswSnkrUGJyS0pmMVlMeFQrMVBTMkU0V1hYUUpUVkFvUlFSZE9VVDhNYkw3czlZdVVIc1ZsL0RpbGYway8KNjdaWTB6WW9xTCtRcnh6ZEJBZiswNW16ZGhLUitJWWVtYXlVWDBnOFowWVMKLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg=='}}),
    ('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {'metadata': {'name': 'nones.diff.example.com'}, 'spec': {
        'group': 'diff.example.com', 'scope': 'Namespaced', 'names': {'plural': 'nones', 'kind': 'None1'}, 'versions': [{
            'name': 'v1', 'served': True, 'storage': True, 'schema': {'openAPIV3Schema': {'type': 'object', 'properties': {'a': {'type': 'string'}}}}}]}}),
    ('/apis/apiregistration.k8s.io/v1/apiservices', {'metadata': {'name': 'v1.none.example.com'}, 'spec': {'group': 'none.example.com', 'version': 'v1',
        'groupPriorityMinimum': 1, 'versionPriority': 1, 'service': {'name': 's', 'namespace': 'n'}, 'insecureSkipTLSVerify': True}}),
    ('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {'webhooks': [HOOK]}),
    ('/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', {'webhooks': [HOOK]}),
    ('/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies', {'spec': {'matchConstraints': MATCH, 'validations': [{'expression': 'true'}]}}),
    ('/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings', {'spec': {'policyName': 'p', 'validationActions': ['Deny']}}),
    ('/apis/resource.k8s.io/v1/deviceclasses', {'spec': {'selectors': [{'cel': {'expression': 'true'}}]}}),
    ('/apis/resource.k8s.io/v1/' + NS + 'resourceclaims', {'spec': DEVICES}),
    ('/apis/resource.k8s.io/v1/' + NS + 'resourceclaimtemplates', {'spec': {'spec': DEVICES}}),
    ('/apis/resource.k8s.io/v1/resourceslices', {'spec': {'driver': 'a.b', 'nodeName': 'n', 'pool': {'name': 'p', 'generation': 1, 'resourceSliceCount': 1},
                                                        'devices': [{'name': 'd'}]}}),
    ('/apis/networking.k8s.io/v1/servicecidrs', {'spec': {'cidrs': ['10.9.0.0/24']}}),
    ('/apis/networking.k8s.io/v1/ipaddresses', {'metadata': {'name': '10.9.0.7'}, 'spec': {'parentRef': {'resource': 'services', 'namespace': 'n', 'name': 's'}}}),
    ('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {'metadata': {'name': 'things.diff.example.com'}, 'spec': THINGS}),
    ('/apis/diff.example.com/v1/' + NS + 'things', {'apiVersion': 'diff.example.com/v1', 'kind': 'Thing', 'spec': {'replicas': 1, 'name': 'n', 'kind': 'A', 'amount': 5, 'items': [{'key': 'k', 'value': 1}],
        'tags': ['t'], 'labels': {'l': 'v'}, 'any': {'x': 1}, 'on': True}}),
    ('/apis/events.k8s.io/v1/' + NS + 'events', {'metadata': {'name': 'told'}, 'eventTime': '2026-01-01T00:00:00.000000Z', 'type': 'Normal', 'reason': 'r',
        'action': 'a', 'note': 'n', 'reportingController': 'a.b/c', 'reportingInstance': 'i', 'regarding': {'kind': 'Pod', 'name': 'p', 'namespace': 'default'}}),
    ('/apis/storage.k8s.io/v1/volumeattributesclasses', {'driverName': 'a.b', 'parameters': {'a': 'b'}}),
    ('/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies', {'spec': {'matchConstraints': MATCH, 'reinvocationPolicy': 'Never',
        'failurePolicy': 'Ignore', 'mutations': [{'patchType': 'ApplyConfiguration', 'applyConfiguration': {'expression': 'Object{}'}}]}}),
    ('/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings', {'spec': {'policyName': 'p'}}),
    ('/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies', {'metadata': {'name': 'rich'}, 'spec': {'matchConstraints': MATCH,
        'paramKind': {'apiVersion': 'v1', 'kind': 'ConfigMap'}, 'variables': [{'name': 'v', 'expression': 'object.spec'}],
        'matchConditions': [{'name': 'm', 'expression': 'has(object.spec)'}], 'auditAnnotations': [{'key': 'k', 'valueExpression': "'v'"}],
        'validations': [{'expression': 'object.spec.replicas < 5', 'message': 'm', 'reason': 'Invalid', 'messageExpression': "'a' + 'b'"}]}}),
    ('/apis/resource.k8s.io/v1/' + NS + 'resourceclaims', {'metadata': {'name': 'rich'}, 'spec': {'devices': {
        'requests': [{'name': 'r', 'exactly': {'deviceClassName': 'c', 'selectors': [{'cel': {'expression': 'device.driver == "a.b"'}}],
                                               'tolerations': [{'key': 'k', 'operator': 'Exists'}]}},
                     {'name': 'f', 'firstAvailable': [{'name': 'one', 'deviceClassName': 'c', 'count': 2, 'allocationMode': 'ExactCount'}]}],
        'constraints': [{'requests': ['r'], 'matchAttribute': 'a.b/c'}],
        'config': [{'requests': ['r'], 'opaque': {'driver': 'a.b', 'parameters': {}}}]}}}),
    ('/apis/resource.k8s.io/v1/resourceslices', {'metadata': {'name': 'rich'}, 'spec': {'driver': 'a.b', 'allNodes': True,
        'pool': {'name': 'q', 'generation': 1, 'resourceSliceCount': 1},
        'devices': [{'name': 'd', 'attributes': {'a': {'string': 's'}, 'a.b/n': {'int': 1}}, 'capacity': {'memory': {'value': '1Gi'}},
                     'taints': [{'key': 'k', 'effect': 'NoSchedule'}]}]}}),
    (AUTHZ + 'subjectaccessreviews', {'spec': {'user': 'nobody', 'groups': ['g'], 'resourceAttributes': {'verb': 'get', 'resource': 'pods', 'namespace': 'n'}}}),
    (AUTHZ + 'selfsubjectaccessreviews', {'spec': {'nonResourceAttributes': {'path': '/x', 'verb': 'get'}}}),
    (AUTHZ + NS + 'localsubjectaccessreviews', {'spec': {'user': 'nobody', 'resourceAttributes': {'verb': 'get', 'resource': 'pods', 'namespace': 'default'}}}),
    ('/apis/authentication.k8s.io/v1/tokenreviews', {'spec': {'token': 'none'}}),
    ('/apis/authentication.k8s.io/v1/selfsubjectreviews', {}),
]
