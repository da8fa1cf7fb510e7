#!/usr/bin/env python3
"""cel.py URL TOKEN >cel.jsonl: what the functions of CEL give on a real kube-apiserver.

A few expressions a policy, as the messages of validations that fail: what they are comes as Warnings of a write. What does not
compile is told when the policy is written. tests/unit/alm/apiserver/admission/test_cel_functions.c sends the same to ours.
Recorded on 1.36. Comprehensions of two variables, semver, format.dns1123Label() and the like are in cel_rules.py. Not there yet:
getQuery of URLs, '?' in literals of lists and maps.
"""
import json
import ssl
import sys
import time
import urllib.request

url, token = sys.argv[1], sys.argv[2]
ctx = ssl._create_unverified_context()
POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies'
BINDINGS = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings'
MAPS = '/api/v1/namespaces/default/configmaps?dryRun=All'
MAP = {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'a', 'labels': {'a': 'A'}}, 'data': {'s': 'text', 'a': 'A'}}
EACH = 8

GROUPS = {
    'strings': [
        "'abc'.charAt(1)", "'abc'.charAt(3)", "'äöü'.charAt(1)", "string('hello mellow'.indexOf('ello'))", "string('hello mellow'.indexOf('jello'))",
        "string('hello mellow'.indexOf(''))", "string('hello mellow'.indexOf('ello', 2))", "string('hello mellow'.lastIndexOf('ello'))",
        "string('hello mellow'.lastIndexOf('ello', 6))", "string('hello mellow'.lastIndexOf(''))", "string('hello'.lastIndexOf('x'))",
        "'hello hello'.replace('he', 'we')", "'hello hello'.replace('he', 'we', -1)", "'hello hello'.replace('he', 'we', 1)",
        "'hello hello'.replace('he', 'we', 0)", "'hello'.replace('', '_')", "'a b c'.split(' ').join('|')", "'a b c'.split(' ', 2).join('|')",
        "'a b c'.split(' ', 1).join('|')", "string('a b c'.split(' ', 0).size())", "'a b c'.split(' ', -1).join('|')", "'abc'.split('').join('|')",
        "'tacocat'.substring(4)", "'tacocat'.substring(0, 4)", "'TacoCAT'.lowerAscii()", "'TacoCÆt'.upperAscii()", "'  \\ttrim\\n  '.trim()",
        "'abc 123 def 456'.find('[0-9]+')", "'abc 123 def 456'.find('[0-9]*')", "'abc 123 def 456'.findAll('[0-9]+').join(',')",
        "'abc 123 def 456'.findAll('[0-9]+', 1).join(',')", "string('abc'.findAll('x').size())", "string('123'.matches('^[0-9]+$'))",
    ],
    'format': [
        "'%s is %d'.format(['x', 3])", "'%d%%'.format([50])", "'%.2f'.format([1.236])", "'%f'.format([2.5])", "'%.3e'.format([1234.5678])", "'%e'.format([1234.5678])",
        "'%x %X'.format([255, 255])", "'%x'.format(['hello'])", "'%b'.format([5])", "'%b'.format([true])", "'%o'.format([8])", "'%s'.format([true])",
        "'%s'.format([null])", "'%s'.format([1.5])", "'%s'.format([[1, 'a', true]])", "'%s'.format([{'b': 1, 'a': 'x'}])", "'%s'.format([duration('90s')])",
        "'%s'.format([timestamp('2026-01-02T03:04:05Z')])", "'%s'.format([type(1)])", "'%s'.format([b'abc'])", "'%d'.format([uint(7)])", "'%s'.format([['a', 'b']])",
    ],
    'quantity': [
        "string(isQuantity('1.3Gi'))", "string(isQuantity('10k m'))", "string(quantity('50k').isInteger())", "string(quantity('500m').isInteger())",
        "string(quantity('50k').asInteger())", "string(quantity('500m').asApproximateFloat())", "string(quantity('1Gi').asApproximateFloat())",
        "string(quantity('200M').isGreaterThan(quantity('100M')))",
        "string(quantity('200M').isLessThan(quantity('0.2G')))", "string(quantity('200M').compareTo(quantity('0.2G')))",
        "string(quantity('1Gi').compareTo(quantity('1G')))", "string(quantity('50k').add(quantity('20k')) == quantity('70k'))",
        "string(quantity('50k').add(20) == quantity('50020'))", "string(quantity('50k').sub(quantity('20k')).asInteger())", "string(quantity('50k').sub(1).asInteger())",
        "string(quantity('1.5') == quantity('1500m'))", "string([quantity('1'), quantity('2')].exists(q, q.isGreaterThan(quantity('1500m'))))",
    ],
    'net': [
        "string(isIP('1.2.3.4'))", "string(isIP('::1'))", "string(isIP('1.2.3'))", "string(ip('1.2.3.4').family())", "string(ip('::1').family())",
        "string(ip('127.0.0.1').isLoopback())", "string(ip('::').isUnspecified())", "string(ip('224.0.0.5').isLinkLocalMulticast())",
        "string(ip('169.254.1.1').isLinkLocalUnicast())", "string(ip('8.8.8.8').isGlobalUnicast())", "string(ip('2001:db8::1'))",
        "string(ip.isCanonical('2001:DB8::1'))", "string(ip.isCanonical('2001:db8::1'))", "string(ip('1.2.3.4') == ip('1.2.3.4'))", "string(isCIDR('10.0.0.0/8'))",
        "string(isCIDR('10.0.0.0'))", "string(cidr('10.0.0.0/8').containsIP('10.1.2.3'))", "string(cidr('10.0.0.0/8').containsIP(ip('11.0.0.1')))",
        "string(cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16'))", "string(cidr('10.1.0.0/16').containsCIDR(cidr('10.0.0.0/8')))",
        "string(cidr('10.1.2.3/8').ip())", "string(cidr('10.1.2.3/8').masked())", "string(cidr('10.1.2.3/8').prefixLength())", "string(cidr('2001:db8::1/64').masked())",
        "string(cidr('10.1.2.3/8'))",
    ],
    'time': [
        "string(timestamp('2026-11-24T09:30:15.123Z').getFullYear())", "string(timestamp('2026-11-24T09:30:15.123Z').getMonth())",
        "string(timestamp('2026-11-24T09:30:15.123Z').getDate())", "string(timestamp('2026-11-24T09:30:15.123Z').getDayOfMonth())",
        "string(timestamp('2026-11-24T09:30:15.123Z').getDayOfWeek())", "string(timestamp('2026-11-24T09:30:15.123Z').getDayOfYear())",
        "string(timestamp('2026-11-24T09:30:15.123Z').getHours())", "string(timestamp('2026-11-24T09:30:15.123Z').getMinutes())",
        "string(timestamp('2026-11-24T09:30:15.123Z').getSeconds())", "string(timestamp('2026-11-24T09:30:15.123Z').getMilliseconds())",
        "string(timestamp('2026-11-24T09:30:15Z').getHours('+02:00'))", "string(timestamp('2026-11-24T23:30:15Z').getDate('02:00'))",
        "string(timestamp('2026-11-24T00:30:15Z').getDayOfYear('-01:00'))", "string(timestamp('2026-11-24T09:30:15Z').getHours('UTC'))",
        "string(timestamp('2026-11-24T09:30:15.120Z'))", "string(duration('90m'))", "string(duration('1.5s'))", "string(int(timestamp('2026-11-24T09:30:15Z')))",
        "string(timestamp(0))", "string(duration('1h30m').getMinutes())", "string(duration('1500ms').getMilliseconds())", "string(-duration('1s') < duration('0s'))",
    ],
    'sets': [
        "string(sets.contains([1, 2, 3], [2, 3]))", "string(sets.contains([1], []))", "string(sets.contains([], [1]))", "string(sets.equivalent([1, 2], [2, 1, 1]))",
        "string(sets.equivalent([1], [1, 2]))", "string(sets.intersects([1, 2], [2, 3]))", "string(sets.intersects([1], []))", "string([1, 2, 3].sum())",
        "string([3, 1, 2].min())", "string([1, 2, 2].lastIndexOf(2))", "string(['a', 'b'].indexOf('b'))", "string([1, 2].isSorted())",
        "string([[1, 2], [3]].exists(l, sets.contains(l, [3])))",
    ],
    'optional': [
        "object.data.?s.orValue('none')", "object.?metadata.?labels.?a.orValue('none')", "object.metadata.labels[?'a'].orValue('none')", "object.metadata.labels[?'b'].orValue('none')", "string(object.data.?n.hasValue())",
        "string(object.data.?s.hasValue())", "object.data.?s.value()", "string(['a', 'b'][?1].orValue('none'))", "string(['a', 'b'][?7].orValue('none'))", "optional.of('x').orValue('y')",
        "optional.none().orValue('y')", "object.data.?n.or(object.data.?s).orValue('z')", "string(optional.ofNonZeroValue('').hasValue())",
        "object.data.?s.optMap(x, x + '!').orValue('none')", 
        "string(has(object.?metadata.labels.a))",
    ],
    'more': [
        "base64.encode(b'hello')", "string(base64.decode('aGVsbG8='))",
        "string(math.greatest(1, 2))", "string(cel.bind(x, 3, x + 1))", "string(dyn(1) == 1)", "string(1 in [1, 2])",
        "string([1] + [2] == [1, 2])", "string(type('') == string)", "string(double('1.5') * 2.0)", "string(int('7') / 2)", "string(uint(3) + uint(4))",
    ],
}


def warnings_of(answer):
    return [w.encode('latin-1').decode() for w in answer.headers.get_all('Warning') or []]


def send(method, path, body=None):
    text = json.dumps(body) if body is not None else None
    r = urllib.request.Request(url + path, data=text and text.encode(), method=method,
                               headers={'Authorization': 'Bearer ' + token, 'Content-Type': 'application/json'})
    try:
        with urllib.request.urlopen(r, context=ctx) as a:
            return text, a.status, json.load(a), warnings_of(a)
    except urllib.error.HTTPError as e:
        return text, e.code, json.load(e), warnings_of(e)


def ask(method, path, body=None):
    text, code, answer, warnings = send(method, path, body)
    row = {'method': method, 'path': path, 'body': text, 'type': 'application/json', 'code': code, 'warnings': warnings}
    if code >= 400:
        row['message'] = answer['message']
    print(json.dumps(row), flush=True)
    return code


def numbered(expressions):
    """A Warning that came before does not come again."""
    return ["'%d: ' + %s" % (i, e) for i, e in enumerate(expressions)]


def policy(name, expressions):
    return {'apiVersion': 'admissionregistration.k8s.io/v1', 'kind': 'ValidatingAdmissionPolicy', 'metadata': {'name': name}, 'spec': {
        'matchConstraints': {'resourceRules': [{'apiGroups': [''], 'apiVersions': ['v1'], 'operations': ['CREATE'], 'resources': ['configmaps']}]},
        'validations': [{'expression': 'false', 'message': '%d: an error' % i, 'messageExpression': e} for i, e in enumerate(numbered(expressions))]}}


def evaluate(name, expressions):
    if ask('POST', POLICIES, policy(name, expressions)) != 201:
        return
    ask('POST', BINDINGS, {'apiVersion': 'admissionregistration.k8s.io/v1', 'kind': 'ValidatingAdmissionPolicyBinding', 'metadata': {'name': name},
                           'spec': {'policyName': name, 'validationActions': ['Warn']}})
    time.sleep(2)
    ask('POST', MAPS, MAP)
    ask('DELETE', BINDINGS + '/' + name)
    ask('DELETE', POLICIES + '/' + name)
    time.sleep(1.5)


for group, expressions in GROUPS.items():
    good = []
    for i, e in enumerate(expressions):  # what does not compile is told alone
        if send('POST', POLICIES + '?dryRun=All', policy('t', [e]))[1] == 201:
            good.append(e)
        else:
            ask('POST', POLICIES, policy('%s-wrong-%d' % (group, i), [e]))
    for i in range(0, len(good), EACH):
        evaluate('%s-%d' % (group, i), good[i:i + EACH])
