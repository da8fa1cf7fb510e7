#!/usr/bin/env python3
"""gen_cel.py SEED N: N random rules of CEL, by type, over the schema of tests/golden/kube-api/cel_rules.py, one a line."""
import random,sys
R=random.Random(int(sys.argv[1])); N=int(sys.argv[2])
c=lambda *a: R.choice(a)
fresh=[0]
def var():
    fresh[0]+=1; return "v%d"%(fresh[0]%7)
def gen(t,d,env):
    vs=[n for n,x in env if x==t]
    if vs and R.random()<.4: return R.choice(vs)
    if d<=0: return leaf(t)
    g=G.get(t)
    return R.choice(g)(d-1,env) if g and R.random()<.8 else leaf(t)
def leaf(t):
    return {"int":lambda:c("self.i","1","2","7","-3","0"),"str":lambda:c("self.s","self.__namespace__","self.x__dash__y","self.u__underscores__v","self.ustr","self.enum","'a'","'my-name'","'1.2.3.4'","'10.0.0.0/8'","'1.2.3'","''"),
    "bool":lambda:c("true","false","self.b"),"double":lambda:c("self.d","1.5"),"lint":lambda:c("self.ints","[1,2]","[3]"),"lstr":lambda:c("self.strs","self.a__dot__b","self.ulist","['a','b']"),
    "mstr":lambda:c("self.m","self.umap","{'a':'b'}"),"mint":lambda:c("self.mi","{'a':1}"),"lobj":lambda:c("self.objs","self.uobjs"),"llint":lambda:"self.nested",
    "dyn":lambda:c("self.ios","dyn(1)","dyn('a')"),"time":lambda:c("self.when","timestamp('2020-01-01T00:00:00Z')"),"dur":lambda:c("self.dur","duration('1h')"),
    "ip":lambda:c("ip('1.2.3.4')","cidr('10.0.0.0/8').ip()"),"cidr":lambda:"cidr('10.0.0.0/8')","qty":lambda:"quantity('1Gi')","ver":lambda:"semver('1.2.3')",
    "ostr":lambda:c("self.?s","self.?ustr","optional.none()","optional.of('a')"),"oint":lambda:c("self.?i","optional.of(1)"),"bytes":lambda:c("b'ab'","self.byte")}[t]()
def g(t): return lambda d,e: gen(t,d,e)
def loop(t,item,body,fmt):
    def f(d,e):
        v=var(); return fmt.format(r=gen(t,d,e),v=v,b=gen(body,d,e+[(v,item)]))
    return f
def loop2(t,i1,i2,body,fmt):
    def f(d,e):
        v=var(); w=var()
        if v==w: w=w+"x"
        return fmt.format(r=gen(t,d,e),v=v,w=w,b=gen(body,d,e+[(v,i1),(w,i2)]))
    return f
def F(fmt,*ts):
    return lambda d,e: fmt.format(*[gen(t,d,e) for t in ts])
T=["int","str","bool","double","lint","lstr","mstr","mint","ostr","oint","time","dur"]
G={
"bool":[F("({0} == {1})",t,t) for t in T]+[F("({0} != {1})",t,t) for t in T]+[F("({0} && {1})","bool","bool"),F("({0} || {1})","bool","bool"),F("!{0}","bool"),
 F("({0} < {1})","int","int"),F("({0} <= {1})","str","str"),F("({0} > {1})","double","double"),F("({0} >= {1})","time","time"),F("({0} < {1})","int","double"),
 F("({0} ? {1} : {2})","bool","bool","bool"),F("({0} in {1})","int","lint"),F("({0} in {1})","str","lstr"),F("({0} in {1})","str","mstr"),
 F("{0}.startsWith({1})","str","str"),F("{0}.endsWith({1})","str","str"),F("{0}.contains({1})","str","str"),lambda d,e: gen("str",d,e)+".matches("+c("'^[a-z]+$'","'a'","'[0-9]{3}'")+")",
 loop("lint","int","bool","{r}.all({v}, {b})"),loop("lstr","str","bool","{r}.exists({v}, {b})"),loop("lstr","str","bool","{r}.exists_one({v}, {b})"),loop("mstr","str","bool","{r}.all({v}, {b})"),
 loop2("lint","int","int","bool","{r}.all({v}, {w}, {b})"),loop2("mstr","str","str","bool","{r}.exists({v}, {w}, {b})"),loop2("lstr","int","str","bool","{r}.existsOne({v}, {w}, {b})"),
 F("{0}.isSorted()","lint"),F("isIP({0})","str"),F("isCIDR({0})","str"),F("isURL({0})","str"),F("isQuantity({0})","str"),F("isSemver({0})","str"),F("ip({0}).isLoopback()","str"),
 F("sets.contains({0}, {1})","lstr","lstr"),F("sets.intersects({0}, {1})","lint","lint"),F("sets.equivalent({0}, {1})","lint","lint"),F("{0}.hasValue()","ostr"),
 F("({0} == {1})","ip","ip"),F("{0}.containsIP({1})","cidr","ip"),F("{0}.isLessThan({1})","ver","ver"),F("{0}.isGreaterThan({1})","qty","qty"),
 F("format.dns1123Label().validate({0}).hasValue()","str"),F("({0} == {1})","dyn","dyn"),F("({0} == {1})","llint","llint"),lambda d,e:c("has(self.s)","has(self.byte)","has(self.ustr)"),
 loop("lobj","obj","bool","{r}.all({v}, has({v}.name) && {b})"),F("({0} == {1})","bytes","bytes")],
"int":[F("({0} + {1})","int","int"),F("({0} * {1})","int","int"),F("({0} - {1})","int","int"),F("({0} / {1})","int","int"),F("({0} % {1})","int","int"),F("size({0})","str"),F("{0}.size()","lstr"),F("{0}.size()","mstr"),F("{0}.size()","lobj"),
 F("{0}.sum()","lint"),F("{0}.max()","lint"),F("{0}.indexOf({1})","lint","int"),F("{0}.indexOf({1})","str","str"),F("int({0})","str"),F("{0}[0]","lint"),F("{0}.orValue({1})","oint","int"),F("({0} ? {1} : {2})","bool","int","int"),
 F("{0}.getFullYear()","time"),F("{0}.getSeconds()","dur"),F("{0}.major()","ver"),F("{0}.family()","ip"),F("{0}.compareTo({1})","qty","qty"),F("-({0})","int"),F("size({0})","bytes"),F("{0}['one']","mint"),F("int({0})","double")],
"str":[F("({0} + {1})","str","str"),F("{0}.lowerAscii()","str"),F("{0}.trim()","str"),F("{0}.replace({1}, {2})","str","str","str"),F("{0}.substring(1)","str"),F("{0}.substring(0, 2)","str"),F("{0}.join({1})","lstr","str"),F("string({0})","int"),
 F("{0}[0]","lstr"),F("{0}['k']","mstr"),F("{0}.k","mstr"),F("{0}.orValue({1})","ostr","str"),F("({0} ? {1} : {2})","bool","str","str"),F("{0}.min()","lstr"),F("string({0})","dyn"),F("{0}.charAt(0)","str"),F("string({0})","bytes"),F("string({0})","double"),F("string({0})","time"),F("'%s'.format([{0}])","int"),F("{0}.find('[a-z]+')","str"),F("url({0}).getHost()","str")],
"double":[F("({0} + {1})","double","double"),F("({0} * {1})","double","double"),F("double({0})","int"),F("double({0})","str")],
"lint":[F("({0} + {1})","lint","lint"),F("[{0}, {1}]","int","int"),loop("lint","int","int","{r}.map({v}, {b})"),loop("lstr","str","int","{r}.map({v}, {b})"),loop("lint","int","bool","{r}.filter({v}, {b})"),F("{0}.sort()","lint"),F("{0}.distinct()","lint"),F("{0}.reverse()","lint"),F("{0}.slice(0, 1)","lint"),
 F("{0}.flatten()","llint"),F("lists.range({0})","int"),loop2("mint","str","int","int","{r}.transformList({v}, {w}, {b})"),loop("lint","int","int","{r}.sortBy({v}, {b})"),loop("mint","str","int","{r}.map({v}, {b})")],
"lstr":[F("({0} + {1})","lstr","lstr"),F("[{0}, {1}]","str","str"),loop("lstr","str","str","{r}.map({v}, {b})"),loop("lstr","str","bool","{r}.filter({v}, {b})"),F("{0}.split({1})","str","str"),F("{0}.sort()","lstr"),F("{0}.distinct()","lstr"),F("{0}.reverse()","lstr"),F("{0}.findAll('[a-z]')","str"),
 loop2("lstr","int","str","str","{r}.transformList({v}, {w}, {b})"),loop("lstr","str","str","{r}.sortBy({v}, {b})"),loop("mstr","str","bool","{r}.filter({v}, {b})"),F("{0}.slice(0, 2)","lstr"),F("({0} ? {1} : {2})","bool","lstr","lstr")],
"mstr":[loop2("mstr","str","str","str","{r}.transformMap({v}, {w}, {b})"),loop2("mint","str","int","str","{r}.transformMap({v}, {w}, {b})"),F("{{{0}: {1}}}","str","str"),loop2("mstr","str","str","str","{r}.transformMapEntry({v}, {w}, {{{b}: {v}}})")],
"mint":[loop2("mint","str","int","int","{r}.transformMap({v}, {w}, {b})"),F("{{{0}: {1}}}","str","int")],
"ostr":[F("{0}[?'k']","mstr"),F("{0}[?0]","lstr"),F("optional.of({0})","str"),F("{0}.or({1})","ostr","ostr"),loop("ostr","str","str","{r}.optMap({v}, {b})"),loop("ostr","str","ostr","{r}.optFlatMap({v}, {b})"),F("{0}.first()","lstr"),F("optional.ofNonZeroValue({0})","str")],
"oint":[F("{0}[?0]","lint"),F("optional.of({0})","int"),loop("ostr","str","int","{r}.optMap({v}, {b})"),F("{0}.last()","lint")],
"dyn":[F("dyn({0})","int"),F("dyn({0})","lstr")],
"time":[F("({0} + {1})","time","dur"),F("timestamp({0})","str")],"dur":[F("({0} - {1})","time","time"),F("duration({0})","str")],
"ip":[F("ip({0})","str")],"cidr":[F("cidr({0})","str")],"qty":[F("quantity({0})","str"),F("{0}.add({1})","qty","qty")],"ver":[F("semver({0})","str"),F("semver({0}, {1})","str","bool")],"bytes":[F("bytes({0})","str")],
}
seen=set()
while len(seen)<N:
    s=gen("bool",R.randint(2,4),[])
    if len(s)<400 and s not in seen: seen.add(s); print(s)
