#!/usr/bin/env python3
"""policy.py URL TOKEN >policy.jsonl: what a real kube-apiserver makes of writes under ValidatingAdmissionPolicies.

One line a request, in order: method, path, body, code, warnings, and of a refusal message, reason and details, of a policy its spec.
tests/unit/alm/apiserver/test_policies.c sends the same to ours. Recorded on 1.36. No request here breaks two policies: the
real server tells of either. Its informers see a policy some time after the answer; that is what is waited for.
"""
import time

from recorder import CRD, GROUP, MERGE, a_map, ask, definition, in_space, maps, named, rule, space

POLICIES = '/apis/%s/validatingadmissionpolicies' % GROUP
BINDINGS = '/apis/%s/validatingadmissionpolicybindings' % GROUP


def bind(name, policy, ns=None, actions=('Deny',), resources=None, wait=2.0, **more):
    spec = dict({'policyName': policy, 'validationActions': list(actions)}, **more)
    match = dict(resources or {})
    if ns:
        match['namespaceSelector'] = in_space(ns)
    if match:
        spec['matchResources'] = match
    code = ask('POST', BINDINGS, named('ValidatingAdmissionPolicyBinding', name, spec=spec), fields=('spec',))
    time.sleep(wait if code == 201 else 0)
    return code


def policy(name, validations, rules=None, ns=None, match=None, actions=('Deny',), wait=2.0, **spec):
    """A policy with a binding of its name, in force in the namespace."""
    constraints = dict({'resourceRules': rules or [rule()]}, **(match or {}))
    code = ask('POST', POLICIES, named('ValidatingAdmissionPolicy', name, spec=dict(
        {'matchConstraints': constraints, 'validations': [v if isinstance(v, dict) else {'expression': v} for v in validations]},
        **spec)), fields=('spec',))
    if code == 201 and ns:
        bind(name, name, ns, actions, wait=wait)
    return code


def drop(*names):
    for n in names:
        ask('DELETE', BINDINGS + '/' + n)
        ask('DELETE', POLICIES + '/' + n)
    time.sleep(1.5)


def cm(ns, name, query='', labels=None, **data):
    return ask('POST', maps(ns) + query, a_map(name, labels, **data))


def says(expression):
    """What an expression is, told by a refusal."""
    return {'expression': 'false', 'messageExpression': expression}


# The real server looks every half a minute for kinds that parameters may be of.
SCHEMA = {'type': 'object', 'properties': {'spec': {'type': 'object', 'properties': {'size': {'type': 'integer'}}}}}
ask('POST', CRD, definition('things', 'policy.example.com', SCHEMA))

# Messages and reasons.
space('p-say')
policy('say', [{'expression': "!has(object.data.a) || object.data.a != 'plain'"},
               {'expression': "!has(object.data.a) || object.data.a != 'text'", 'message': 'a text of its own'},
               {'expression': "!has(object.data.a) || object.data.a != 'made'", 'message': 'unused',
                'messageExpression': "'a is ' + object.data.a"},
               {'expression': "!has(object.data.a) || object.data.a != 'empty'", 'message': 'used', 'messageExpression': "'  '"},
               {'expression': "!has(object.data.a) || object.data.a != 'lines'", 'message': 'used', 'messageExpression': "'a\\nb'"},
               {'expression': "!has(object.data.a) || object.data.a != 'fails'", 'messageExpression': 'string(object.data.none)'},
               {'expression': "!has(object.data.a) || object.data.a != 'forbidden'", 'reason': 'Forbidden'},
               {'expression': "!has(object.data.a) || object.data.a != 'invalid'", 'reason': 'Invalid'},
               {'expression': "!has(object.data.a) || object.data.a != 'large'", 'reason': 'RequestEntityTooLarge'},
               {'expression': "!has(object.data.b)", 'message': 'first'},
               {'expression': "!has(object.data.b)", 'message': 'second'}], ns='p-say')
for a in ('good', 'plain', 'text', 'made', 'empty', 'lines', 'fails', 'forbidden', 'invalid', 'large'):
    cm('p-say', 'm', a=a)
cm('p-say', 'n', b='x')
cm('p-say', 'n', '?dryRun=All', b='x')
ask('PATCH', maps('p-say') + '/m', {'data': {'a': 'plain'}}, MERGE)
ask('PATCH', maps('p-say') + '/m', {'data': {'a': 'fine'}}, MERGE)
ask('PUT', maps('p-say') + '/m', {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'm'}, 'data': {'a': 'text'}})
ask('POST', maps('default'), {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'say'}, 'data': {'a': 'plain'}})
ask('DELETE', maps('p-say') + '/m')
cm('p-say', 'bad name', a='plain')
cm('p-say', 'twice')
cm('p-say', 'twice')
cm('p-say', 'twice', a='plain')
ask('DELETE', BINDINGS + '/say')
time.sleep(1.5)
cm('p-say', 'm', a='plain')
drop('say')

# The request.
space('p-ask', team='red')
FIELDS = " + '|' + ".join(["request.operation", "request.name", "request.namespace", "request.kind.kind", "request.kind.version",
                           "request.kind.group", "request.resource.resource", "request.requestKind.kind",
                           "request.requestResource.version", "string(request.dryRun)", "string(has(request.subResource))",
                           "string(request.userInfo.groups.size() > 0)", "string(object == null)", "string(oldObject == null)",
                           "namespaceObject.metadata.name", "namespaceObject.metadata.labels.team",
                           "string(has(request.options))"])
policy('ask', [says(FIELDS)], [rule(operations=['CREATE', 'UPDATE', 'DELETE'])], ns='p-ask', matchConditions=[
    {'name': 'not-kept', 'expression': "object != null ? !has(object.data.keep) : !has(oldObject.data.gone)"}])
cm('p-ask', 'kept', keep='x')
cm('p-ask', 'asks')
cm('p-ask', 'asks', a='b')
cm('p-ask', 'asks', '?dryRun=All', a='b')
ask('PATCH', maps('p-ask') + '/kept', {'data': {'keep': None}}, MERGE)
ask('DELETE', maps('p-ask') + '/kept')
ask('DELETE', maps('p-ask'))
ask('PATCH', maps('p-ask') + '/kept', {'data': {'gone': 'x'}}, MERGE)
ask('DELETE', maps('p-ask') + '/kept')
drop('ask')

# Rules.
space('p-rule')
n = 0


def tried(rules, match=None, **what):
    """A policy that refuses all it matches, and a few writes of each kind."""
    global n
    n += 1
    name = 'rule-%d' % n
    if policy(name, [{'expression': 'false', 'message': 'no'}], rules, 'p-rule', match) != 201:
        return
    cm('p-rule', 'a', '?dryRun=All')
    cm('p-rule', 'b', '?dryRun=All', {'tier': 'gold'})
    ask('POST', '/api/v1/namespaces/p-rule/secrets?dryRun=All', {'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {'name': 'a'}})
    ask('POST', '/api/v1/namespaces?dryRun=All', {'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': 'p-rule-new'}})
    ask('PATCH', '/api/v1/namespaces/p-rule?dryRun=All', {'metadata': {'annotations': {'a': str(n)}}}, MERGE)
    ask('PATCH', '/apis/apps/v1/namespaces/p-rule/deployments/d?dryRun=All', {'spec': {'paused': True}}, MERGE)
    ask('PATCH', '/apis/apps/v1/namespaces/p-rule/deployments/d/scale?dryRun=All', {'spec': {'replicas': 3}}, MERGE)
    ask('PATCH', '/apis/apps/v1/namespaces/p-rule/deployments/d/status?dryRun=All', {'status': {'observedGeneration': n}}, MERGE)
    drop(name)


ask('POST', '/apis/apps/v1/namespaces/p-rule/deployments', {
    'apiVersion': 'apps/v1', 'kind': 'Deployment', 'metadata': {'name': 'd'},
    'spec': {'replicas': 0, 'selector': {'matchLabels': {'a': 'b'}}, 'template': {
        'metadata': {'labels': {'a': 'b'}}, 'spec': {'containers': [{'name': 'c', 'image': 'i'}]}}}})
tried([rule()])
tried([rule(operations=['UPDATE'])])
tried([rule(['*'], ['*'], ['*'], ['*'])])
tried([rule(['*/*'], ['*'], ['*'], ['*'])])
tried([rule(['*'], ['apps'])])
tried([rule(['*/scale'], ['*'], ['*'], ['*'])])
tried([rule(['deployments/*'], ['apps'])])
tried([rule(['deployments/scale', 'secrets'], ['apps', ''])])
tried([rule(['deployments'], ['apps'], versions=['v1beta1'])])
tried([rule(['*'], ['*'], scope='Cluster')])
tried([rule(['*'], ['*'], scope='Namespaced')])
tried([rule(resourceNames=['b'])])
tried([rule(resourceNames=['b'], operations=['UPDATE'])])
tried([rule(['*'], ['*'])], {'excludeResourceRules': [rule(['secrets'])]})
tried([rule(['*'], ['*'])], {'excludeResourceRules': [rule(['deployments'], ['apps']), rule(resourceNames=['a'])]})
tried([rule(['*'], ['*'])], {'objectSelector': {'matchLabels': {'tier': 'gold'}}})
tried([rule(['*'], ['*'])], {'objectSelector': {'matchExpressions': [{'key': 'tier', 'operator': 'DoesNotExist'}]}})
tried([rule(['*'], ['*'])], {'namespaceSelector': in_space('p-say')})
tried([rule(['*'], ['*'])], {'namespaceSelector': {'matchExpressions': [
    {'key': 'kubernetes.io/metadata.name', 'operator': 'NotIn', 'values': ['p-rule-new']}]}})

# A subresource and what it shows.
policy('sub', [says("request.subResource + ' ' + request.kind.kind + ' ' + request.requestSubResource + ' ' + "
                    "string(has(object.spec.replicas) ? object.spec.replicas : 0) + ' ' + string(oldObject.spec.replicas)")],
       [rule(['deployments/scale', 'deployments/status'], ['apps', 'autoscaling'], ['*'], ['*'])], ns='p-rule')
ask('PATCH', '/apis/apps/v1/namespaces/p-rule/deployments/d/scale', {'spec': {'replicas': 3}}, MERGE)
ask('PATCH', '/apis/apps/v1/namespaces/p-rule/deployments/d/status', {'status': {'observedGeneration': 77}}, MERGE)
ask('PATCH', '/apis/apps/v1/namespaces/p-rule/deployments/d', {'spec': {'replicas': 1}}, MERGE)
drop('sub')

# A binding narrows.
policy('narrow', [{'expression': 'false', 'message': 'no'}], [rule(['configmaps', 'secrets'])])
bind('narrow', 'narrow', 'p-rule', resources={'resourceRules': [rule(['secrets'])]})
cm('p-rule', 'a', '?dryRun=All')
ask('POST', '/api/v1/namespaces/p-rule/secrets?dryRun=All', {'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {'name': 'a'}})
ask('DELETE', BINDINGS + '/narrow')
bind('narrow', 'narrow', 'p-rule', resources={'objectSelector': {'matchLabels': {'tier': 'gold'}}})
cm('p-rule', 'a', '?dryRun=All')
cm('p-rule', 'b', '?dryRun=All', {'tier': 'gold'})
cm('p-rule', 'c', labels={'tier': 'gold'}, query='?dryRun=All')
cm('p-rule', 'd')
ask('PATCH', maps('p-rule') + '/d', {'metadata': {'labels': {'tier': 'gold'}}}, MERGE)
drop('narrow')

# Conditions, variables, failures.
space('p-fail')


def fails(name, validations, actions=('Deny',), **spec):
    if policy(name, validations, ns='p-fail', actions=actions, **spec) == 201:
        cm('p-fail', 'a', '?dryRun=All')
        cm('p-fail', 'b', '?dryRun=All', x='y')
        drop(name)


fails('fail-key', ["object.data.x == 'y'"])
fails('fail-ignore', ["object.data.x == 'y'"], failurePolicy='Ignore')
fails('fail-ignore-then-no', ["object.data.x == 'z'", {'expression': 'has(object.data)', 'message': 'has no data'}], failurePolicy='Ignore')
fails('fail-condition', ['false'], matchConditions=[{'name': 'x-is-y', 'expression': "object.data.x == 'y'"}])
fails('fail-condition-ignore', ['false'], failurePolicy='Ignore',
      matchConditions=[{'name': 'x-is-y', 'expression': "object.data.x == 'y'"}])
fails('fail-condition-false', ['false'], matchConditions=[{'name': 'yes', 'expression': 'true'},
                                                          {'name': 'has', 'expression': 'has(object.data) && has(object.data.x)'}])
fails('fail-condition-both', ['false'], matchConditions=[{'name': 'error', 'expression': "object.data.x == 'y'"},
                                                         {'name': 'no', 'expression': 'false'}])
fails('var', ["variables.x == ''"], variables=[{'name': 'data', 'expression': 'has(object.data) ? object.data : {}'},
                                               {'name': 'x', 'expression': "'x' in variables.data ? variables.data['x'] : ''"}])
fails('var-lazy', ["!has(object.data) || variables.x == 'z'"], variables=[{'name': 'x', 'expression': 'object.data.x'}])
fails('var-error', ["variables.x == 'y'"], variables=[{'name': 'x', 'expression': 'object.data.x'}])
fails('var-message', [{'expression': 'variables.no', 'messageExpression': "'size ' + string(variables.n)"}],
      variables=[{'name': 'no', 'expression': 'false'}, {'name': 'n', 'expression': 'size(object.metadata.name)'}])
fails('var-list', ['variables.l.all(k, k.size() < 1)'], variables=[{'name': 'l', 'expression': 'has(object.data) ? object.data.map(k, k) : []'}])
fails('not-bool', ['has(object.data) ? object.data.x : true'])
fails('cost', ["object.metadata.name.matches('a') || [1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, "
               "[1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, "
               "[1,2,3,4,5,6,7,8,9,10].all(f, a + b + c + d + e + f > 0))))))"])
fails('warns', [{'expression': '!has(object.data)', 'message': 'has data'}], ['Warn'])
fails('warns-of-errors', ["object.data.x == 'z'"], ['Warn'])
fails('audits', [{'expression': '!has(object.data)', 'message': 'has data'}], ['Audit'])
fails('warns-and-audits', [{'expression': '!has(object.data)', 'message': 'has data'}], ['Warn', 'Audit'])
fails('denies-and-audits', [{'expression': '!has(object.data)', 'message': 'has data'}], ['Deny', 'Audit'])
fails('annotates', ['true'], auditAnnotations=[{'key': 'x', 'valueExpression': "has(object.data) ? string(object.data.x) : 'none'"}])
fails('annotates-error', ['true'], auditAnnotations=[{'key': 'x', 'valueExpression': 'string(object.data.x)'}])
fails('null', ['oldObject.data.x == 1 || true'])
fails('null-has', ['has(oldObject.data)'])
fails('types', ['type(object.metadata.name) == string', 'type(object.metadata.generation) == int || true'])
fails('space', ["namespaceObject.metadata.name == 'p-other'"])
fails('self', ["request.userInfo.username.startsWith('nobody')"])

# Parameters.
space('p-param')
space('p-param-2')
cm('p-param', 'limit', max='1')
ask('PATCH', maps('p-param') + '/limit', {'metadata': {'labels': {'use': 'limit'}}}, MERGE)
LIMITED = [{'expression': "!has(object.data) || size(object.data) <= int(params.data['max'])",
            'messageExpression': "'at most ' + params.data['max'] + ' of ' + params.metadata.name"}]
CONFIG = {'apiVersion': 'v1', 'kind': 'ConfigMap'}
policy('param', LIMITED, paramKind=CONFIG)


def with_params(ref, ns='p-param'):
    if bind('param', 'param', ns, paramRef=ref, wait=3.0) == 201:
        cm(ns, 'one', '?dryRun=All', a='x')
        cm(ns, 'two', '?dryRun=All', a='x', b='y')
        ask('DELETE', BINDINGS + '/param')
        time.sleep(1.5)


with_params({'name': 'limit', 'parameterNotFoundAction': 'Deny'})
with_params({'name': 'limit', 'namespace': 'p-param', 'parameterNotFoundAction': 'Deny'}, 'p-param-2')
with_params({'name': 'limit', 'parameterNotFoundAction': 'Deny'}, 'p-param-2')
with_params({'name': 'limit', 'parameterNotFoundAction': 'Allow'}, 'p-param-2')
with_params({'selector': {'matchLabels': {'use': 'limit'}}, 'parameterNotFoundAction': 'Deny'})
with_params({'selector': {'matchLabels': {'use': 'none'}}, 'parameterNotFoundAction': 'Deny'})
with_params({'selector': {}, 'parameterNotFoundAction': 'Allow'})
with_params({'selector': {'matchLabels': {'use': 'limit'}}, 'namespace': 'p-param', 'parameterNotFoundAction': 'Deny'}, 'p-param-2')
bind('param', 'param', 'p-param', wait=3.0)
cm('p-param', 'one', '?dryRun=All', a='x')
drop('param')
policy('param-none', ["params == null || params.data['max'] == '1'"], paramKind=CONFIG)
bind('param-none', 'param-none', 'p-param', wait=3.0)
cm('p-param', 'one', '?dryRun=All', a='x')
drop('param-none')
policy('param-no-kind', ['true'], ns='p-param', paramKind={'apiVersion': 'example.com/v1', 'kind': 'None'}, wait=3.0)
cm('p-param', 'one', '?dryRun=All', a='x')
ask('DELETE', BINDINGS + '/param-no-kind')
bind('param-no-kind', 'param-no-kind', 'p-param', paramRef={'name': 'x', 'parameterNotFoundAction': 'Deny'}, wait=3.0)
cm('p-param', 'one', '?dryRun=All', a='x')
drop('param-no-kind')
policy('param-unasked', ['true'])
bind('param-unasked', 'param-unasked', 'p-param', paramRef={'name': 'limit', 'parameterNotFoundAction': 'Deny'})
cm('p-param', 'one', '?dryRun=All', a='x')
drop('param-unasked')

# Versions: a rule of one serves what is written in another.
space('p-ver')


def thing(version, name='t', size=1, query='?dryRun=All'):
    ask('POST', '/apis/policy.example.com/%s/namespaces/p-ver/things%s' % (version, query),
        {'apiVersion': 'policy.example.com/' + version, 'kind': 'Thing', 'metadata': {'name': name}, 'spec': {'size': size}})


SHOWN = "object.apiVersion + ' ' + request.kind.version + ' ' + request.requestKind.version + ' ' + request.resource.version"
for kind in ('Equivalent', 'Exact'):
    name = 'ver-' + kind.lower()
    policy(name, [says(SHOWN)], [rule(['things'], ['policy.example.com'], versions=['v2'])], 'p-ver', {'matchPolicy': kind})
    thing('v1')
    thing('v2')
    drop(name)
policy('ver-param', ['object.spec.size <= params.spec.size'], [rule(['things'], ['policy.example.com'], versions=['v1'])],
       paramKind={'apiVersion': 'policy.example.com/v2', 'kind': 'Thing'})
thing('v1', 'limit', 5, '')
bind('ver-param', 'ver-param', 'p-ver', paramRef={'name': 'limit', 'parameterNotFoundAction': 'Deny'}, wait=4.0)
thing('v1', 't', 5)
thing('v1', 't', 6)
thing('v2', 't', 6)
drop('ver-param')
ask('DELETE', CRD + '/things.policy.example.com')

# The rights of who asks.
space('p-auth')
for i, e in enumerate(("authorizer.group('apps').resource('deployments').namespace('p-auth').check('create').allowed()",
                       "!authorizer.path('/healthz').check('get').allowed()",
                       "authorizer.requestResource.check('nonsense').allowed()",
                       "!authorizer.serviceAccount('p-auth', 'default').resource('configmaps').namespace('p-auth').check('get').allowed()",
                       "authorizer.serviceAccount('p-auth', 'default').group('').resource('secrets').subresource('x').name('y').check('get').errored()",
                       "!authorizer.resource('pods').check('list').allowed()")):
    policy('auth-%d' % i, [e], ns='p-auth')
    cm('p-auth', 'a', '?dryRun=All')
    drop('auth-%d' % i)

# They do not govern themselves.
policy('own', [{'expression': 'false', 'message': 'no'}], [rule(['*'], ['admissionregistration.k8s.io'], ['CREATE', 'UPDATE', 'DELETE'])])
bind('own', 'own')
policy('own-2', ['true'])
drop('own-2')
drop('own')

# What is no policy.
WRONG = [
    {'validations': []}, {'validations': [{'expression': ''}]}, {'validations': [{'expression': '  '}]}, {'validations': [{'message': 'x'}]},
    {'validations': [{'expression': 'object.'}]}, {'validations': [{'expression': 'nothing == 1'}]}, {'validations': [{'expression': "'text'"}]},
    {'validations': [{'expression': '1 + 1'}]}, {'validations': [{'expression': 'self.x == 1'}]}, {'validations': [{'expression': 'variables.x'}]},
    {'validations': [{'expression': 'true', 'message': ' '}]}, {'validations': [{'expression': 'true', 'message': 'a\nb'}]},
    {'validations': [{'expression': 'true', 'messageExpression': 'true'}]}, {'validations': [{'expression': 'true', 'messageExpression': ' '}]},
    {'validations': [{'expression': 'true', 'messageExpression': "'a' +"}]}, {'validations': [{'expression': 'true', 'reason': 'Teapot'}]},
    {'validations': [{'expression': 'true', 'reason': 'Unauthorized'}]}, {'validations': [{'expression': 'true', 'messageExpression': 'object.data.a'}]},
    {'validations': [{'expression': 'object.data.a'}]},
    {'validations': [{'expression': 'true\n&& true'}]}, {'validations': [{'expression': 'true\n&& true', 'message': 'x'}]},
    {'validations': [{'expression': 'request.nothing == 1'}]}, {'validations': [{'expression': "request.operation == 1"}]},
    {'validations': [{'expression': 'params == null'}]}, {'validations': [{'expression': 'object.unknown(1)'}]},
    {'variables': [{'name': 'x', 'expression': '1 +'}]}, {'variables': [{'name': 'x', 'expression': '1'}, {'name': 'x', 'expression': '2'}]},
    {'variables': [{'name': '1x', 'expression': '1'}]}, {'variables': [{'name': '', 'expression': '1'}]}, {'variables': [{'name': 'x', 'expression': ''}]},
    {'variables': [{'name': 'x', 'expression': 'variables.y'}, {'name': 'y', 'expression': '1'}]},
    {'variables': [{'name': 'for', 'expression': '1'}]}, {'variables': [{'name': 'x', 'expression': '1'}], 'validations': [{'expression': 'variables.x'}]},
    {'matchConditions': [{'name': 'a', 'expression': '1'}]}, {'matchConditions': [{'name': '', 'expression': 'true'}]},
    {'matchConditions': [{'name': 'a b', 'expression': 'true'}]}, {'matchConditions': [{'name': 'a', 'expression': ''}]},
    {'matchConditions': [{'name': 'a', 'expression': 'true'}, {'name': 'a', 'expression': 'true'}]},
    {'matchConditions': [{'name': 'a', 'expression': 'variables.x'}]},
    {'auditAnnotations': [{'key': 'a', 'valueExpression': '1'}]}, {'auditAnnotations': [{'key': '', 'valueExpression': "'a'"}]},
    {'auditAnnotations': [{'key': 'a b', 'valueExpression': "'a'"}]}, {'auditAnnotations': [{'key': 'a', 'valueExpression': ''}]},
    {'auditAnnotations': [{'key': 'a', 'valueExpression': "'a'"}, {'key': 'a', 'valueExpression': "'a'"}]},
    {'failurePolicy': 'Maybe'}, {'paramKind': {'apiVersion': 'v1', 'kind': ''}}, {'paramKind': {'apiVersion': 'a/b/c', 'kind': 'X'}},
    {'paramKind': {'apiVersion': 'v1', 'kind': 'a b'}}, {'paramKind': {'apiVersion': '', 'kind': 'X'}},
    {'matchConstraints': None}, {'matchConstraints': {}}, {'matchConstraints': {'resourceRules': []}},
    {'matchConstraints': {'resourceRules': [rule()], 'matchPolicy': 'Near'}},
    {'matchConstraints': {'resourceRules': [rule(operations=[])]}}, {'matchConstraints': {'resourceRules': [rule(operations=['GET'])]}},
    {'matchConstraints': {'resourceRules': [rule(operations=['*', 'CREATE'])]}}, {'matchConstraints': {'resourceRules': [rule(groups=[])]}},
    {'matchConstraints': {'resourceRules': [rule(groups=['*', 'x'])]}}, {'matchConstraints': {'resourceRules': [rule(versions=[])]}},
    {'matchConstraints': {'resourceRules': [rule(versions=[''])]}}, {'matchConstraints': {'resourceRules': [rule(['*', 'x'])]}},
    {'matchConstraints': {'resourceRules': [rule(['a/*', 'a/b'])]}}, {'matchConstraints': {'resourceRules': [rule(['*/a', 'b/a'])]}},
    {'matchConstraints': {'resourceRules': [rule([])]}}, {'matchConstraints': {'resourceRules': [rule([''])]}},
    {'matchConstraints': {'resourceRules': [rule(scope='World')]}}, {'matchConstraints': {'resourceRules': [rule(resourceNames=['a', 'a'])]}},
    {'matchConstraints': {'resourceRules': [rule(resourceNames=['a b'])]}}, {'matchConstraints': {'resourceRules': [rule()], 'objectSelector': {
        'matchExpressions': [{'key': 'a', 'operator': 'In'}]}}},
    {'matchConstraints': {'resourceRules': [rule()], 'namespaceSelector': {'matchLabels': {'a b': 'c'}}}},
    {'matchConstraints': {'resourceRules': [rule()], 'excludeResourceRules': [rule(operations=['GET'])]}},
]
for i, wrong in enumerate(WRONG):
    spec = dict({'matchConstraints': {'resourceRules': [rule()]}, 'validations': [{'expression': 'true'}]}, **wrong)
    body = named('ValidatingAdmissionPolicy', 'wrong-%d' % i, spec={k: v for k, v in spec.items() if v is not None})
    if ask('POST', POLICIES, body, fields=('spec',)) == 201:
        ask('DELETE', POLICIES + '/wrong-%d' % i)
for i, spec in enumerate((
        {}, {'policyName': ''}, {'policyName': 'x'}, {'policyName': 'x', 'validationActions': []}, {'policyName': 'x', 'validationActions': ['Shout']},
        {'policyName': 'x', 'validationActions': ['Deny', 'Warn']}, {'policyName': 'x', 'validationActions': ['Deny', 'Deny']},
        {'policyName': 'A b', 'validationActions': ['Deny']}, {'policyName': 'x', 'validationActions': ['Deny']},
        {'policyName': 'x', 'validationActions': ['Deny'], 'paramRef': {}},
        {'policyName': 'x', 'validationActions': ['Deny'], 'paramRef': {'name': 'a'}},
        {'policyName': 'x', 'validationActions': ['Deny'], 'paramRef': {'name': 'a', 'selector': {}, 'parameterNotFoundAction': 'Deny'}},
        {'policyName': 'x', 'validationActions': ['Deny'], 'paramRef': {'name': 'a', 'parameterNotFoundAction': 'Shrug'}},
        {'policyName': 'x', 'validationActions': ['Deny'], 'paramRef': {'parameterNotFoundAction': 'Deny'}},
        {'policyName': 'x', 'validationActions': ['Deny'], 'matchResources': {}},
        {'policyName': 'x', 'validationActions': ['Deny'], 'matchResources': {'resourceRules': [rule(operations=['GET'])]}},
        {'policyName': 'x', 'validationActions': ['Deny'], 'matchResources': {'matchPolicy': 'Near'}})):
    body = named('ValidatingAdmissionPolicyBinding', 'wrong-%d' % i, spec=spec)
    if ask('POST', BINDINGS, body, fields=('spec',)) == 201:
        ask('DELETE', BINDINGS + '/wrong-%d' % i)
