#!/usr/bin/env python3
"""cel_rules.py URL TOKEN >cel_rules.jsonl: what a real kube-apiserver says of rules, and what they give.

Each is the rule of a definition: what is said when it is written (types, literals, the estimated cost), and if it is accepted whether
it holds for VALUE. Written by hand below, and made by tests/fuzz/gen_cel.py. Recorded on 1.36; left out is what its sortBy() answers
for a key that fails (an internal error), and that
a list of the object is not compared with what is none (an error there, not equal here). The first line is the schema and the value. tests/unit/alm/obj/cel/test_cel_rules.c replays.
"""
import json
import re
import ssl
import subprocess
import sys
import time
import urllib.request

URL, TOKEN = sys.argv[1], sys.argv[2]
CONTEXT = ssl._create_unverified_context()
PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
EACH = 8  # rules of a definition that is made
GENERATED = ((1, 250), (2, 250))  # seed, how many
SCHEMA = {"namespace":{"type":"string","maxLength":63},"x-y":{"type":"string","maxLength":40},"a.b":{"type":"array","maxItems":20,"items":{"type":"string","maxLength":40}},"p/q":{"type":"integer"},"u__v":{"type":"string","maxLength":40},
"refs":{"type":"array","maxItems":32,"items":{"type":"object","properties":{"namespace":{"type":"string","maxLength":63},"section-name":{"type":"string","maxLength":253},"kind":{"type":"string","maxLength":63}}}},
"ints":{"type":"array","maxItems":20,"items":{"type":"integer"}},"strs":{"type":"array","maxItems":20,"items":{"type":"string","maxLength":40}},
"m":{"type":"object","maxProperties":20,"additionalProperties":{"type":"string","maxLength":40}},"mi":{"type":"object","maxProperties":20,"additionalProperties":{"type":"integer"}},
"objs":{"type":"array","maxItems":20,"items":{"type":"object","properties":{"name":{"type":"string","maxLength":40},"n":{"type":"integer"}}}},
"nested":{"type":"array","maxItems":5,"items":{"type":"array","maxItems":5,"items":{"type":"integer"}}},"s":{"type":"string","maxLength":100},"i":{"type":"integer"},
"ustr":{"type":"string"},"ulist":{"type":"array","items":{"type":"string"}},"uobjs":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}}}}},"umap":{"type":"object","additionalProperties":{"type":"string"}},
"any":{"x-kubernetes-preserve-unknown-fields":True},"ios":{"x-kubernetes-int-or-string":True},"when":{"type":"string","format":"date-time"},"dur":{"type":"string","format":"duration"},"enum":{"type":"string","enum":["a","bcd"]},"b":{"type":"boolean"},"byte":{"type":"string","format":"byte","maxLength":20},"d":{"type":"number"}}
VALUE = {"namespace":"ns","x-y":"xy","a.b":["p","q"],"p/q":4,"u__v":"uv","refs":[{"namespace":"n1","section-name":"s1","kind":"K"},{"kind":"K"}],"ints":[3,1,2,1],"strs":["b","a","c","a"],"m":{"k":"v","x":"y","w":"v"},"mi":{"one":1,"two":2},"objs":[{"name":"z","n":2},{"name":"y","n":1},{"name":"x"}],"nested":[[1,2],[3]],"s":"my-name","i":7,"ustr":"u","ulist":["p","q"],"umap":{"a":"b"},"any":{"l":[1,[2,"x"]]},"ios":"5","when":"2026-01-02T03:04:05Z","dur":"90s","enum":"a","byte":"YWJj","b":True,"d":1.5}

BY_HAND = r"""
self.__namespace__ == 'ns'
self.x__dash__y + self.u__underscores__v == 'xyuv'
self.a__dot__b.all(x, x.size() < 3)
self.p__slash__q == 4
self.refs.all(p, self.refs.all(q, p.kind == q.kind && (!has(p.__namespace__) || !has(q.__namespace__) || p.__namespace__ == q.__namespace__)))
self.refs.all(p, self.refs.exists_one(q, has(p.section__dash__name) == has(q.section__dash__name) && (!has(p.section__dash__name) || p.section__dash__name == q.section__dash__name)))
self.refs.all(p, self.refs.all(q, self.refs.all(r, (!has(p.__namespace__) || !has(q.__namespace__) || p.__namespace__ != q.__namespace__ || r.kind == p.kind))))
self.a__dot__b.all(x, self.a__dot__b.all(y, x == y || x.contains(self.x__dash__y)))
self.namespace == 'ns'
self.x-y == 'xy'
self.__dash__ == 'x'
self.refs[0].section__dash__name.matches('^s[0-9]$')
self.ints.sort() == [1,1,2,3]
self.strs.sort() == ['a','a','b','c']
self.objs.sortBy(o, o.name)[0].name == 'x'
self.objs.sortBy(o, o.n)[0].name == 'y'
self.objs.sort().size() > 0
self.nested.sort().size() > 0
self.ints.distinct() == [3,1,2]
self.ints.reverse() == [1,2,1,3]
self.strs.reverse()[0] == 'a'
self.ints.slice(1,3) == [1,2]
self.ints.slice(-1,3) == [1,2]
self.ints.slice(3,1) == [1,2]
self.ints.slice(1,30) == [1,2]
self.nested.flatten() == [1,2,3]
self.ints.flatten() == [1,2,3]
self.nested.flatten(2) == [1,2,3]
self.nested.flatten(-1) == [1,2,3]
[1,[2,[3,4]]].flatten() == [1,2,[3,4]]
[[1],[2,3]].flatten().size() == 3
lists.range(4) == [0,1,2,3]
lists.range(-1) == []
self.ints.first().value() == 3
self.ints.last().orValue(0) == 1
[].first().hasValue()
optional.unwrap([optional.of(1), optional.none()]) == [1]
[optional.of(1), optional.none()].unwrapOpt() == [1]
self.ints.all(i, v, i < 4 && v > 0)
self.ints.exists(i, v, i == 0 && v == 3)
self.ints.existsOne(i, v, v == 1)
self.ints.exists_one(i, v, v == 3)
self.m.all(k, v, k != v)
self.m.exists(k, v, k == 'k' && v == 'v')
self.m.transformList(k, v, k + v).sort() == ['kv','wv','xy']
self.ints.transformList(i, v, i % 2 == 0, v * 2) == [6, 4]
self.ints.transformList(i, v, i * v) == [0,1,4,3]
self.m.transformMap(k, v, v + '!')['k'] == 'v!'
self.mi.transformMap(k, v, v > 1, v * 2) == {'two': 4}
self.ints.transformMap(i, v, v)[2] == 2
self.mi.transformMapEntry(k, v, {string(v): k}) == {'1': 'one', '2': 'two'}
self.m.transformMapEntry(k, v, {v: k}) == {'v': 'k'}
self.ints.transformMapEntry(i, v, {v: i}).size() == 3
self.ints.transformMapEntry(i, v, v).size() == 3
self.ints.transformMap(i, i, v).size() == 3
self.ints.transformMap(i, 1, v).size() == 3
self.ints.all(1, v, true)
self.ints.all(i, v)
self.ints.transformList(i, i)
self.objs.transformList(_, o, o.name).join(',') == 'z,y,x'
format.dns1123Label().validate(self.s).hasValue() == false
!format.dns1123Label().validate('A.b').hasValue()
format.dns1123Label().validate('A_b').value() == ['x']
format.dns1123Subdomain().validate('a..b').value() == []
format.dns1035Label().validate('1a').value()[0] == ''
format.qualifiedName().validate('a/b/c').value()[0].size() == 3
format.dns1123LabelPrefix().validate('abc-').hasValue()
format.dns1123SubdomainPrefix().validate('abc.-').hasValue()
format.dns1035LabelPrefix().validate('abc-').hasValue()
format.labelValue().validate('-x').value()[0].size() == 3
format.uri().validate('http://a/b').hasValue()
format.uri().validate('foo').value()[0] == 'x'
format.uri().validate('').value()[0] == 'parse "": empty url'
format.uri().validate('foo').value()[0] == 'parse "foo": invalid URI for request'
format.uuid().validate('x').value() == ['does not match the UUID format']
format.byte().validate('**').value() == ['invalid base64']
format.date().validate('2020').value() == ['invalid date']
format.datetime().validate('2020-01-01').value() == ['invalid datetime']
format.datetime().validate('2020-01-01T00:00:00Z').hasValue()
format.date().validate('2020-01-01').hasValue()
format.uuid().validate('123e4567-e89b-12d3-a456-426614174000').hasValue()
format.byte().validate('aGVsbG8=').hasValue()
format.named('dns1123Label').hasValue()
format.named('nope').hasValue()
format.named('uri').value().validate('x').hasValue()
format.nope().validate('x').hasValue()
format.dns1123Label() == format.dns1123Label()
format.dns1123Label() == 'x'
type(format.uri()) == string
semver('1.2.3').major() == 1
semver('1.2.3').minor() == 2
semver('1.2.3').patch() == 3
semver('1.2.3').isLessThan(semver('2.0.0'))
semver('1.2.3-rc.1').isLessThan(semver('1.2.3'))
semver('1.2.3').isGreaterThan(semver('1.2.3-a'))
semver('1.2.3').compareTo(semver('1.2.4')) == -1
semver('1.2.3+a') == semver('1.2.3+b')
semver('v1.2', true).patch() == 0
semver('01.02.03', true) == semver('1.2.3')
semver('v1.2.3').patch() == 0
semver('1.2').patch() == 0
semver('').patch() == 0
semver('a.b.c').patch() == 0
semver('01.2.3').patch() == 0
semver('1.02.3').patch() == 0
semver('1.2.03').patch() == 0
semver('1.2.3.4').patch() == 0
semver('1.2.3-').patch() == 0
semver('1.2.3-01').patch() == 0
semver('1.2.3+').patch() == 0
semver('1.2-a', true).patch() == 0
semver('..').patch() == 0
isSemver('1.2.3')
isSemver('v1.2.3')
isSemver('v1.2', true)
isSemver('', true)
semver(1).major() == 1
isSemver(self.s, 1)
semver('1.2.3') == '1.2.3'
self.ints.sortBy(i, [i]).size() == 1
self.ints.sortBy(i, -i) == [3,2,1,1]
self.m.sortBy(k, k).size() == 3
[1, 'a'].sort() == []
self.any.l.sort() == []
self.any.l.distinct().size() == 2
self.any.l.flatten() == [1,2,'x']
self.ints.sort().reverse().first() == optional.of(3)
self.strs.sort()[0] + 1 == 'x'
self.ints.slice('a', 1) == []
self.i.sort() == []
lists.range('a') == []
self.s.reverse() == 'x'
self.ustr == 'a'
self.ustr.size() > 3
self.ustr.matches('^[a-z]+$')
self.ustr.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')
self.ustr.contains(self.s)
self.ustr.contains('abcdefghijklmnopqrstuvwxyz')
self.ustr.startsWith(self.ustr)
self.ustr.startsWith('x')
self.ustr + self.ustr == 'a'
self.ustr < self.ustr
self.ulist.all(x, x == 'a')
self.ulist.all(x, x.size() > 1)
self.ulist.exists(x, x == self.ustr)
self.ulist.exists_one(x, x == 'y')
self.ulist.all(x, self.ulist.exists_one(y, y == x))
self.ulist.map(x, x + 'a').size() > 0
self.ulist.filter(x, x.startsWith('a')).size() > 0
self.ulist.map(x, x.size() > 1, x).all(y, y == 'a')
self.ulist.isSorted()
self.ulist.indexOf('a') > 0
self.ulist.min() == 'a'
'a' in self.ulist
self.ustr in self.ulist
self.ustr in ['a','b']
self.uobjs.all(o, o.name == 'x')
self.uobjs.all(o, o.tags.all(t, t == 'x'))
self.uobjs.all(o, has(o.name) && o.name.size() > 3)
self.uobjs.all(o, self.uobjs.exists_one(p, p.name == o.name))
self.umap.all(k, k == 'a')
self.umap.all(k, self.umap[k] == 'a')
self.umap.exists(k, v, v == 'a')
self.m.all(k, self.m[k] == 'abcdefghij')
self.m.all(k, v, v == k)
self.ulist.transformList(i, v, v + 'x').size() > 1
self.ulist.transformMap(i, v, v).size() > 1
self.uobjs.transformMapEntry(i, v, {v.name: i}).size() > 1
self.ulist.sort() == self.ulist
self.ulist.distinct().size() == 1
self.ulist.reverse() == self.ulist
self.ulist.slice(0, 2).size() == 2
self.ulist.sortBy(x, x.size()).size() == 1
self.ulist.sortBy(x, x).size() == 1
self.ulist.join(',') == 'a'
self.strs.join(',') == 'a'
self.ustr.split(',').size() > 2
self.ustr.split(',').all(x, x.size() > 2)
self.ustr.split(',').map(x, int(x)).sum() > 2
self.ustr.replace('a', 'bb').size() > 3
self.ustr.replace('aa', 'b') == self.ustr
self.ustr.lowerAscii() == self.ustr
self.ustr.trim().size() > 3
self.ustr.substring(1, 3) == 'ab'
self.ustr.find('[a-z]+') == 'a'
self.ustr.findAll('[a-z]+').size() > 1
isURL(self.ustr)
url('https://a.b/c?k=1&k=2&x=%41+b&bad=%zz&;=1&e').getQuery() == {'k': ['1', '2'], 'x': ['A b'], 'e': ['']}
url('https://a.b/c?k=v').getQuery()['k'][0] == 'v'
url('/c').getQuery().size() == 0
url('/c?a=1').getQuery().all(k, v, k == 'a' && v == ['1'])
url('/c').getQuery()['k'] == 5
url(self.ustr).getQuery() == {}
url(self.ustr).getHost() == 'a'
url(self.ustr) == url(self.s)
isIP(self.ustr)
ip(self.ustr).family() == 4
ip.isCanonical(self.ustr)
ip(self.ustr) == ip('127.0.0.1')
ip(self.ustr) != ip('127.0.0.1')
cidr(self.s).containsIP(self.s)
cidr('10.0.0.0/8').containsIP(self.ustr)
cidr('10.0.0.0/8').containsCIDR(self.ustr)
cidr('10.0.0.0/8').containsIP(ip(self.s))
cidr('10.0.0.0/8').ip() == ip('10.0.0.0')
isQuantity(self.ustr) && quantity(self.ustr).isGreaterThan(quantity('1'))
quantity(self.ustr).compareTo(quantity('1')) == 0
semver(self.ustr).major() == 1
format.dns1123Label().validate(self.ustr).hasValue()
format.dns1123Label().validate(self.s).hasValue()
sets.contains(self.ulist, ['a'])
sets.intersects(self.ulist, self.ulist)
sets.equivalent(self.strs, self.strs)
self.ints.sum() > 3
self.ints.all(i, i in self.ints)
self.ints.all(i, i in [1,2,3])
self.nested.all(l, l.all(x, x > 0))
self.nested.flatten(3).size() > 0
self.ios == 5 || self.ios == '5'
type(self.ios) == int ? self.ios > 3 : self.ios.size() > 1
string(self.ios) == '5'
int(self.ios) == 5
dyn(self.ustr) == 5
self.when > timestamp('2020-01-01T00:00:00Z')
self.dur < duration('1h')
self.when.getFullYear() == 2026
self.when < timestamp('9999-12-31T23:59:59Z')
timestamp('9999-12-31T23:59:59.999Z').getMilliseconds() == 999
timestamp('0001-01-01T00:00:00Z').getFullYear() == 1 && timestamp('0001-01-01T00:00:00Z').getDayOfWeek() == 1
string(timestamp('1500-02-28T23:00:00.5Z') + duration('90m')) == '1500-03-01T00:30:00.5Z'
timestamp('9999-12-31T23:59:59Z') + duration('1s') == self.when
timestamp('0001-01-01T00:00:00Z') - duration('1ns') == self.when
timestamp('9999-12-31T23:59:59Z') - timestamp('0001-01-01T00:00:00Z') > duration('1h')
timestamp('2300-01-01T00:00:00.000000001Z') - timestamp('2299-12-31T00:00:00Z') == duration('24h0m0.000000001s')
int(timestamp('9999-12-31T23:59:59Z')) == 253402300799
timestamp(253402300800) == self.when
timestamp(-62135596800) == timestamp('0001-01-01T00:00:00Z')
timestamp('0000-12-31T23:59:59Z') == self.when
timestamp('1969-12-31T23:59:59.25Z').getSeconds('+00:30') == 59 && timestamp('1969-12-31T23:59:59.25Z').getMinutes('+00:30') == 29
self.enum == 'a'
self.enum.matches('^[a-z]+$')
self.b
self.b == true
self.d > 1.0 && self.d < 3.5
string(self.i) == '7'
self.i == 7 ? self.ustr == 'a' : self.s == 'b'
(self.b ? self.ustr : self.s).size() > 1
self.?ustr.orValue('') == ''
self.?objs[?0].?name.orValue('x') == 'x'
self.?ustr.optMap(x, x.size() > 1).orValue(true)
self.?ulist.optMap(x, x.all(y, y == 'a')).orValue(true)
self.?ulist.optFlatMap(x, x[?0]).orValue('q') == 'q'
optional.of(self.ustr).hasValue()
self.objs.all(o, o.n > 0 || !has(o.n))
self.objs.map(o, o.name).filter(n, n.startsWith('a')).size() < 10
self.objs[0].name == 'a'
self.uobjs[0].tags[0] == 'a'
self == self
self.uobjs == self.uobjs
self.umap == self.umap
self.objs == self.objs
size(self.ulist) + size(self.umap) < 100
'%s-%d'.format([self.ustr, self.i]) == 'a'
bytes(self.ustr).size() > 3
[1,2,3].all(x, x > 0)
['a','b'].all(x, x == self.ustr)
{'a': 1}.all(k, k == 'a')
{'a': self.ustr}['a'] == 'x'
[self.ustr, self.s].exists(x, x == 'aaaa')
lists.range(1000).all(x, x > 0)
lists.range(self.i).all(x, x > 0)
self.ulist.all(x, self.ulist.all(y, self.ulist.all(z, x == y)))
!(self.ustr.matches('a')) || self.ustr.matches('b') && self.ustr.matches('c')
self.byte.size() > 3
self.byte == b'abc'
string(self.byte) == 'abc'
self.byte.startsWith('a')
self.byte == 'YWJj'
(optional.none() == optional.of('a'))
(optional.none() == optional.of(1))
(optional.none() == optional.none())
self.?ios.orValue('a') == 'a'
self.?byte.hasValue()
""".split("\n")[1:-1]


def ask(method, path, body=None):
    r = urllib.request.Request(URL + path, method=method, data=body and json.dumps(body).encode(),
                               headers={"Authorization": "Bearer " + TOKEN, "Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(r, context=CONTEXT, timeout=60) as a:
            return a.status, json.loads(a.read())
    except urllib.error.HTTPError as e:
        text = e.read()
        return e.code, json.loads(text) if text.startswith(b"{") else {}


def definition(name, rules):
    spec = {"type": "object", "properties": SCHEMA, "x-kubernetes-validations": rules}
    names = {"plural": name, "singular": name[:-1], "kind": name.title()[:-1], "listKind": name.title()}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": name + ".c.io"},
            "spec": {"group": "c.io", "scope": "Cluster", "names": names,
                     "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}]}}


def plain(text):
    """Without what is another each time, and with the letters that Go escapes."""
    text = re.sub(r"selfType\d+[\w.@]*", "object", text)
    for code, letter in (("\\u003e", ">"), ("\\u003c", "<"), ("\\u0026", "&")):
        text = text.replace(code, letter)
    return text


def said(rule):
    status, body = ask("POST", PATH + "?dryRun=All", definition("dryruns", [{"rule": rule}]))
    causes = body.get("details", {}).get("causes", []) if status >= 300 else []
    return [[c["field"], plain(c["message"])] for c in causes]


def given(rules, name):
    """Of each: None, or why it does not hold."""
    ask("POST", PATH, definition(name, [{"rule": r, "message": f"R{i};"} for i, r in enumerate(rules)]))
    thing = {"apiVersion": "c.io/v1", "kind": name.title()[:-1], "metadata": {"name": "x"}, "spec": VALUE}
    status, body, again = 404, {}, 100
    while status not in (201, 422) and again:  # until it is served
        time.sleep(0.1)
        again -= 1
        status, body = ask("POST", f"/apis/c.io/v1/{name}?dryRun=All", thing)
    ask("DELETE", f"{PATH}/{name}.c.io")
    if status not in (201, 422) and len(rules) > 1:  # one of them is a fault of the server
        return [x for i, r in enumerate(rules) for x in given([r], f"{name[:-2]}n{i}xs")]
    causes = body.get("details", {}).get("causes", []) if status >= 300 else []
    told = {re.search(r"R(\d+);", c["message"])[1]: c["message"] for c in causes}
    return [re.sub(r'^Invalid value: ("object": )?|R\d+;$', "", told[str(i)]) if str(i) in told else None for i in range(len(rules))]


made = [subprocess.run([sys.executable, "tests/fuzz/gen_cel.py", str(seed), str(n)], capture_output=True, text=True, check=True).stdout
        for seed, n in GENERATED]
rules = list(dict.fromkeys(BY_HAND + "".join(made).splitlines()))
rows = [{"rule": r, "said": said(r)} for r in rules]
good = [r for r in rows if not r["said"]]
for at in range(0, len(good), EACH):
    part = good[at : at + EACH]
    for row, gives in zip(part, given([r["rule"] for r in part], f"r{'abcdefghij'[at // EACH % 10]}{at}xs")):
        row["gives"] = gives
print(json.dumps({"schema": SCHEMA, "value": VALUE}))
for row in rows:
    if "traits.Lister" not in (row.get("gives") or "") and row["rule"] != "(dyn(self.strs) == dyn(7))":
        print(json.dumps(row))
