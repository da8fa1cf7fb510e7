#!/usr/bin/env python3
"""aimed.py >CLASSES: a request for what the validation of a real kube-apiserver can say of built-in kinds, each aimed at one of its
sentences: chance seldom finds them. diff_api_record.py CLASSES .. records the answers of a real one (tests/golden/kube-api/aimed.jsonl)
that ours agrees with; test_differs sends them to ours. The sentences were looked up in the validation of 1.36."""
import json

N='/api/v1/namespaces/default/'; A='/apis/apps/v1/namespaces/default/'; B='/apis/batch/v1/namespaces/default/'
CC={'name':'c','image':'i:1'}
R=[]
def pod(c=None,meta=None,**s):
    R.append(('POST',N+'pods?dryRun=All',{'metadata':dict({'name':'zz'},**(meta or {})),'spec':dict({'containers':[dict(CC,**(c or {}))]},**s)},None))
def init(i,**s): pod(initContainers=[dict({'name':'i','image':'i:1'},**i)],**s)
def vol(**v): pod(volumes=[dict({'name':'v'},**v)])
def svc(meta=None,**s): R.append(('POST',N+'services?dryRun=All',{'metadata':dict({'name':'zz'},**(meta or {})),
        'spec':dict({'ports':[{'port':1}]},**s)},None))
vol(quobyte={'registry':'a:1','volume':'v','tenant':'t'*65})
vol(quobyte={'registry':'a:1','volume':'v','tenant':'t'*64})
vol(quobyte={'registry':'a:1','volume':'v','user':'','group':''})
for f in ("metadata.name['a']","metadata.labels['a']","metadata.labels['']","metadata.labels['A b']","metadata.annotations['a/b/c']","metadata.annotations['x']","status.podIP['x']","metadata.labels","metadata.annotations","spec.nodeName","status.hostIPs","metadata.namespace","metadata.labels['a","metadata.x","status.podIPs","spec.serviceAccountName","metadata.labels['a'].b",""):
    pod({'env':[{'name':'A','valueFrom':{'fieldRef':{'fieldPath':f}}}]}); vol(downwardAPI={'items':[{'path':'p','fieldRef':{'fieldPath':f}}]})
pod({'env':[{'name':'A','valueFrom':{'fieldRef':{'fieldPath':'metadata.name','apiVersion':'v2'}}}]})
pod({'env':[{'name':'A','valueFrom':{}}]})
pod({'env':[{'name':'A','value':'x','valueFrom':{'fieldRef':{'fieldPath':'metadata.name'}}}]})
pod({'env':[{'name':'A','valueFrom':{'fieldRef':{'fieldPath':'metadata.name'},'secretKeyRef':{'name':'a','key':'k'}}}]})
pod({'env':[{'name':'A','valueFrom':{'fileKeyRef':{'volumeName':'v','path':'p','key':'k'}}}]})
for r,d in (('limits.cpu','2'),('limits.cpu','1m'),('requests.cpu','3m'),('limits.memory','2'),('limits.memory','1Ki'),
        ('requests.ephemeral-storage','2k'),('requests.hugepages-2Mi','3'),('requests.hugepages-2Mi','1Mi'),('limits.hugepages-1Gi','0'),
        ('limits.x','1'),('requests.cpu','-1'),('limits.memory','1000'),('limits.memory','0')):
    pod({'env':[{'name':'A','valueFrom':{'resourceFieldRef':{'resource':r,'divisor':d}}}]}); vol(downwardAPI={'items':[{'path':'p','resourceFieldRef':{'containerName':'c','resource':r,'divisor':d}}]})
for rp in ('Always','Never','OnFailure','x'):
    for rules in ([],[{}],[{'action':'Restart','exitCodes':{'operator':'In','values':[1]}}],[{'action':'x','exitCodes':{'operator':'In','values':[1]}}],
            [{'action':'Restart','exitCodes':{'operator':'Q','values':[]}}],[{'action':'Restart','exitCodes':{'operator':'NotIn','values':[0,-1,256,1,1]}}],
            [{'action':'Restart'}],[{'action':'RestartAllContainers','exitCodes':{'operator':'In','values':[1]}}],
            [{'action':'Restart','exitCodes':{'operator':'In','values':list(range(256))}}],[{'action':'Restart','exitCodes':{'operator':'In','values':[1]}}]*21):
        pod({'restartPolicy':rp,'restartPolicyRules':rules}); init({'restartPolicy':rp,'restartPolicyRules':rules})
pod({'restartPolicyRules':[{'action':'Restart','exitCodes':{'operator':'In','values':[1]}}]})
for sl in (0,-1,5,30,31,3601):
    pod({'lifecycle':{'preStop':{'sleep':{'seconds':sl}}}}); pod({'lifecycle':{'postStart':{'sleep':{'seconds':sl}}}},
            terminationGracePeriodSeconds=10)
for ss in ('SIGTERM','SIGNOPE','SIGUSR1','','SIGRTMIN'):
    pod({'lifecycle':{'stopSignal':ss}}); pod({'lifecycle':{'stopSignal':ss}},os={'name':'linux'}); pod({'lifecycle':{'stopSignal':ss}},
            os={'name':'windows'})
for aff,conf in (('ClientIP',None),('ClientIP',{}),('ClientIP',{'clientIP':{}}),('ClientIP',{'clientIP':{'timeoutSeconds':0}}),
        ('ClientIP',{'clientIP':{'timeoutSeconds':86401}}),('None',{'clientIP':{'timeoutSeconds':3}}),('None',{}),
        ('X',{})):
    svc(sessionAffinity=aff,**({'sessionAffinityConfig':conf} if conf is not None else {}))
for td in ('PreferClose','PreferSameZone','PreferSameNode','x',''):
    for an in ({},{'service.kubernetes.io/topology-mode':'Auto'},{'service.kubernetes.io/topology-mode':'auto'},
            {'service.kubernetes.io/topology-aware-hints':'Auto'},{'service.kubernetes.io/topology-mode':'x','service.kubernetes.io/topology-aware-hints':'y'}):
        svc({'annotations':an},trafficDistribution=td)
for t in ('LoadBalancer','NodePort','ExternalName','ClusterIP'):
    svc(type=t,clusterIP='None'); svc(type=t,externalTrafficPolicy='Local',healthCheckNodePort=30000); svc(type=t,loadBalancerClass='a/b'); svc(type=t,allocateLoadBalancerNodePorts=False); svc(type=t,loadBalancerSourceRanges=['10.0.0.0/8','x']); svc({'annotations':{'service.beta.kubernetes.io/load-balancer-source-ranges':'10.0.0.0/8,x'}},
            type=t); svc(type=t,externalName='a.b'); svc(type=t,ports=[]); svc(type=t,publishNotReadyAddresses=True,internalTrafficPolicy='Local'); svc(type=t,internalTrafficPolicy='x'); svc(type=t,ports=[{'port':80,'nodePort':80},
            {'port':81,'nodePort':30080,'name':'b'}]); svc(type=t,ports=[{'port':10250}])
def lr(**i): R.append(('POST',N+'limitranges?dryRun=All',{'metadata':{'name':'zz'},'spec':{'limits':[dict({'type':'Container'},**i)]}},None))
q=lambda v:{'cpu':v}
lr(min=q('3'),max=q('1'))
lr(min=q('3'),defaultRequest=q('1'))
lr(defaultRequest=q('3'),max=q('1'))
lr(defaultRequest=q('3'),default=q('1'))
lr(min=q('3'),default=q('1'))
lr(default=q('3'),max=q('1'))
lr(default={'hugepages-2Mi':'2Mi'},defaultRequest={'hugepages-2Mi':'4Mi'})
lr(maxLimitRequestRatio=q('0.5'))
lr(maxLimitRequestRatio=q('2'),min=q('2'),max=q('3'))
lr(type='Pod',default=q('1'),defaultRequest=q('1'))
lr(type='PersistentVolumeClaim')
lr(type='PersistentVolumeClaim',max={'storage':'1'})
lr(type='PersistentVolumeClaim',max=q('1'))
lr(type='a.b/c',max=q('-1'))
lr(max={'x y':'1'})
lr(default={'example.com/g':'1'},defaultRequest={'example.com/g':'2'})
for l,rq in (({'hugepages-2Mi':'2Mi'},{}),({'hugepages-2Mi':'2Mi','cpu':'1'},{'hugepages-2Mi':'4Mi'}),({'hugepages-2Mi':'3Mi','cpu':'1'},
        {}),({'hugepages-x':'2Mi','cpu':'1'},{}),({'hugepages-2Mi':'2Mi','memory':'1Mi'},{'hugepages-1Gi':'1Gi'}),
        ({},{'hugepages-2Mi':'2Mi'}),({'cpu':'1'},{'cpu':'2'}),({'a.b/c':'1.5'},{}),({'a.b/c':'1'},{'a.b/c':'2'}),
        ({'kubernetes.io/x':'1'},{}),({'x':'1'},{}),({'requests.cpu':'1'},{}),({'pods':'1'},{}),({'storage':'1'},
        {}),({'memory':'1m'},{'memory':'1m'})):
    pod({'resources':{'limits':l,'requests':rq}}); pod(resources={'limits':l,'requests':rq})
    pod(overhead=l,runtimeClassName='x')
for sc in ({'runAsUser':-1},{'runAsGroup':-1},{'privileged':True,'allowPrivilegeEscalation':False},{'capabilities':{'add':['CAP_SYS_ADMIN']},
        'allowPrivilegeEscalation':False},{'procMount':'x'},{'procMount':'Unmasked'},{'windowsOptions':{'runAsUserName':'a/b'}},
        {'windowsOptions':{'runAsUserName':'a\\b'}},{'windowsOptions':{'hostProcess':True}},{'seccompProfile':{'type':'Localhost'}},
        {'seccompProfile':{'type':'RuntimeDefault','localhostProfile':'x'}},{'appArmorProfile':{'type':'Localhost','localhostProfile':' '}},
        {'appArmorProfile':{'type':'x'}},{'seLinuxOptions':{}},{'runAsNonRoot':True,'runAsUser':0}):
    pod({'securityContext':sc}); pod(securityContext=sc); pod({'securityContext':sc},hostUsers=False)
for s in ({'hostUsers':False,'hostNetwork':True},{'hostUsers':False,'hostPID':True},{'hostUsers':False,'hostIPC':True},
        {'shareProcessNamespace':True,'hostPID':True},{'hostnameOverride':'a.b'},{'hostnameOverride':'A'},{'hostnameOverride':'a','setHostnameAsFQDN':True},
        {'hostnameOverride':'a','hostNetwork':True},{'hostnameOverride':'a'*65},{'setHostnameAsFQDN':True,'hostname':'x','subdomain':'y'},
        {'preemptionPolicy':'x'},{'priority':3},{'priorityClassName':'nope'},{'runtimeClassName':'nope'},{'schedulerName':''},
        {'nodeName':'A b'},{'nodeSelector':{'a':'b c'}},{'restartPolicy':'x'},{'dnsPolicy':'x'},{'dnsPolicy':'None'},
        {'terminationGracePeriodSeconds':-1},{'activeDeadlineSeconds':0},{'schedulingGates':[{'name':'a'},{'name':'a'}]},
        {'schedulingGates':[{'name':'a'}],'nodeName':'n'},{'schedulingGates':[{'name':''}]},{'readinessGates':[{'conditionType':''}]},
        {'imagePullSecrets':[{}]},{'resourceClaims':[{'name':'a'}]},{'resourceClaims':[{'name':'a','resourceClaimName':'b','resourceClaimTemplateName':'c'}]},
        {'resourceClaims':[{'name':'a','resourceClaimName':'b'},{'name':'a','resourceClaimName':'b'}]},{'resourceClaims':[{'name':'A','resourceClaimName':'B'}]},
        {'ephemeralContainers':[{'name':'e','image':'i'}]},{'automountServiceAccountToken':True,'serviceAccountName':'A'},
        {'os':{'name':'x'}},{'os':{}},{'schedulingGroup':{'podGroupName':'x'}},{'schedulingGroup':{}},{'tolerations':[{'operator':'Lt','key':'a','value':'x'}]},
        {'tolerations':[{'effect':'x','operator':'Exists'}]}):
    pod(**s)
for tsc in ({'maxSkew':0,'topologyKey':'z','whenUnsatisfiable':'DoNotSchedule'},{'maxSkew':1,'topologyKey':'','whenUnsatisfiable':'x'},
        {'maxSkew':1,'topologyKey':'z','whenUnsatisfiable':'ScheduleAnyway','minDomains':1},{'maxSkew':1,'topologyKey':'z','whenUnsatisfiable':'DoNotSchedule','minDomains':0},
        {'maxSkew':1,'topologyKey':'z','whenUnsatisfiable':'DoNotSchedule','matchLabelKeys':['a']},{'maxSkew':1,'topologyKey':'z','whenUnsatisfiable':'DoNotSchedule','matchLabelKeys':['a'],
        'labelSelector':{'matchLabels':{'a':'b'}}},{'maxSkew':1,'topologyKey':'z','whenUnsatisfiable':'DoNotSchedule','matchLabelKeys':['A b','a','a'],
        'labelSelector':{}},{'maxSkew':1,'topologyKey':'z','whenUnsatisfiable':'DoNotSchedule','nodeAffinityPolicy':'x','nodeTaintsPolicy':'y'},
        {'maxSkew':1,'topologyKey':'a b','whenUnsatisfiable':'DoNotSchedule','labelSelector':{'matchExpressions':[{'key':'a','operator':'In'}]}}):
    pod(topologySpreadConstraints=[tsc]); pod(topologySpreadConstraints=[tsc,tsc]); pod(meta={'labels':{'a':'b'}},topologySpreadConstraints=[tsc])
for t in ({'labelSelector':{'matchLabels':{'a':'b'}},'topologyKey':'z','matchLabelKeys':['a']},{'labelSelector':{},
        'topologyKey':'z','matchLabelKeys':['c'],'mismatchLabelKeys':['c']},{'topologyKey':'z','matchLabelKeys':['c']},
        {'labelSelector':{},'topologyKey':''},{'labelSelector':{},'topologyKey':'z','namespaces':['A']},{'labelSelector':{},
        'topologyKey':'z','namespaceSelector':{'matchLabels':{'a':'b c'}}},{'labelSelector':{'matchExpressions':[{'key':'x','operator':'Exists','values':['a']}]},
        'topologyKey':'z','mismatchLabelKeys':['x y']}):
    for k in ('podAffinity','podAntiAffinity'):
        pod(affinity={k:{'requiredDuringSchedulingIgnoredDuringExecution':[t]}}); pod(meta={'labels':{'a':'b','c':'d'}},
                affinity={k:{'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':0,'podAffinityTerm':t}]}})
def put(path,body,dry=True): R.append(('POST',path+('?dryRun=All' if dry else ''),body,None))
def patch(path,body,t='application/merge-patch+json'): R.append(('PATCH',path+'?dryRun=All',body,t))
T={'metadata':{'labels':{'a':'b'}},'spec':{'containers':[CC]}}
SEL={'matchLabels':{'a':'b'}}
def w(kind,meta=None,tmpl=None,**s):
    sp=dict({'selector':SEL,'template':tmpl or T},**s); put(A+kind,{'metadata':dict({'name':'zz'},**(meta or {})),'spec':sp})
# deployments
for s in ({'type':'Recreate','rollingUpdate':{}},{'type':'Recreate','rollingUpdate':{'maxSurge':1}},{'type':'x'},
        {'type':'RollingUpdate','rollingUpdate':{'maxSurge':0,'maxUnavailable':0}},{'type':'RollingUpdate','rollingUpdate':{'maxSurge':'0%','maxUnavailable':'0%'}},
        {'type':'RollingUpdate','rollingUpdate':{'maxSurge':'x'}},{'type':'RollingUpdate','rollingUpdate':{'maxUnavailable':'101%'}},
        {'type':'RollingUpdate','rollingUpdate':{'maxSurge':-1}},{'type':'RollingUpdate','rollingUpdate':{'maxSurge':'10'}}):
    w('deployments',strategy=s)
w('deployments',progressDeadlineSeconds=5,minReadySeconds=10)
w('deployments',progressDeadlineSeconds=-1)
w('deployments',revisionHistoryLimit=-1)
w('deployments',replicas=-1)
w('deployments',selector={})
w('deployments',selector=None)
w('deployments',selector={'matchLabels':{'c':'d'}})
w('deployments',selector={'matchExpressions':[{'key':'a','operator':'x'}]})
w('deployments',selector={'matchExpressions':[{'key':'a','operator':'Exists','values':['b']}]})
w('deployments',selector={'matchExpressions':[{'key':'a','operator':'In','values':[]}]})
for s in ({'type':'x'},{'type':'OnDelete','rollingUpdate':{'maxUnavailable':1}},{'type':'RollingUpdate','rollingUpdate':{'maxSurge':1,'maxUnavailable':1}},
        {'type':'RollingUpdate','rollingUpdate':{'maxSurge':0,'maxUnavailable':0}},{'type':'RollingUpdate','rollingUpdate':{'maxUnavailable':'200%'}}): w('daemonsets',updateStrategy=s)
w('daemonsets',selector={})
w('daemonsets',revisionHistoryLimit=-1)
w('daemonsets',minReadySeconds=-1)
for s in ({'type':'x'},{'type':'OnDelete','rollingUpdate':{'partition':1}},{'type':'RollingUpdate','rollingUpdate':{'partition':-1}},
        {'type':'RollingUpdate','rollingUpdate':{'maxUnavailable':0}},{'type':'RollingUpdate','rollingUpdate':{'maxUnavailable':'0%'}}): w('statefulsets',updateStrategy=s)
for s in ({'podManagementPolicy':'x'},{'persistentVolumeClaimRetentionPolicy':{'whenDeleted':'x','whenScaled':'y'}},
        {'persistentVolumeClaimRetentionPolicy':{}},{'ordinals':{'start':-1}},{'serviceName':'A'},{'serviceName':''},
        {'replicas':-1},{'minReadySeconds':-1},{'selector':{}},{'revisionHistoryLimit':-1},{'volumeClaimTemplates':[{'metadata':{'name':'A'},
        'spec':{}}]},{'volumeClaimTemplates':[{'metadata':{'name':'a'},'spec':{'accessModes':['x']}},{'metadata':{'name':'a'},
        'spec':{}}]}): w('statefulsets',**s)
w('statefulsets',meta={'name':'a.b'})
w('statefulsets',meta={'name':'x'*60})
w('deployments',meta={'name':'x'*254})
w('replicasets',replicas=-1)
w('replicasets',minReadySeconds=-1)
put(N+'replicationcontrollers',{'metadata':{'name':'zz'},'spec':{'selector':{},'template':T}})
put(N+'replicationcontrollers',{'metadata':{'name':'zz'},'spec':{'selector':{'x':'y'},'template':T}})
put(N+'replicationcontrollers',{'metadata':{'name':'zz'},'spec':{'replicas':-1,'selector':{'a':'b'},'template':T}})
put(A+'controllerrevisions',{'metadata':{'name':'zz'},'revision':-1,'data':{}})
put(A+'controllerrevisions',{'metadata':{'name':'zz'},'revision':1})
# batch
def job(meta=None,restart='Never',tm=None,**s): put(B+'jobs',{'metadata':dict({'name':'zz'},**(meta or {})),'spec':dict({'template':{'metadata':tm or {},
        'spec':{'restartPolicy':restart,'containers':[CC]}}},**s)})
for s in ({'parallelism':-1},{'completions':-1},{'activeDeadlineSeconds':-1},{'backoffLimit':-1},{'ttlSecondsAfterFinished':-1},
        {'completionMode':'x'},{'completionMode':'Indexed'},{'completionMode':'Indexed','completions':5,'parallelism':100001},
        {'completionMode':'Indexed','completions':100001},{'backoffLimitPerIndex':1},{'maxFailedIndexes':1},{'completionMode':'Indexed','completions':3,'backoffLimitPerIndex':-1},
        {'completionMode':'Indexed','completions':3,'backoffLimitPerIndex':1,'maxFailedIndexes':5},{'completionMode':'Indexed','completions':200000,'backoffLimitPerIndex':1},
        {'podReplacementPolicy':'x'},{'podReplacementPolicy':'TerminatingOrFailed','podFailurePolicy':{'rules':[]}},
        {'managedBy':'x'},{'managedBy':'a.b/'+'c'*63},{'suspend':True,'manualSelector':True},{'manualSelector':True,'selector':SEL},
        {'selector':SEL},{'podFailurePolicy':{'rules':[{'action':'x'}]}},{'podFailurePolicy':{'rules':[{'action':'FailJob','onExitCodes':{'operator':'x','values':[]}}]}},
        {'podFailurePolicy':{'rules':[{'action':'FailJob','onExitCodes':{'operator':'In','values':[0,1,1]}}]}},
        {'podFailurePolicy':{'rules':[{'action':'FailJob','onExitCodes':{'operator':'NotIn','values':[2,1],'containerName':'q'}}]}},
        {'podFailurePolicy':{'rules':[{'action':'FailIndex','onPodConditions':[{'type':'','status':'x'}]}]}},{'podFailurePolicy':{'rules':[{'action':'Ignore','onPodConditions':[{'type':'a'}],
        'onExitCodes':{'operator':'In','values':[1]}}]}},{'podFailurePolicy':{'rules':[{'action':'Ignore','onExitCodes':{'operator':'In','values':[1]}}]*21}},
        {'successPolicy':{'rules':[]}},{'completionMode':'Indexed','completions':3,'successPolicy':{'rules':[{}]}},
        {'completionMode':'Indexed','completions':3,'successPolicy':{'rules':[{'succeededIndexes':'5','succeededCount':4}]}},
        {'completionMode':'Indexed','completions':3,'successPolicy':{'rules':[{'succeededIndexes':'2,1'}]}}):
    job(**s)
job(restart='Always')
job(restart='x')
job(restart='OnFailure',podFailurePolicy={'rules':[]})
job(meta={'name':'x'*64})
job(tm={'labels':{'job-name':'q'}})
def cron(meta=None,**s): put(B+'cronjobs',{'metadata':dict({'name':'zz'},**(meta or {})),'spec':dict({'schedule':'* * * * *','jobTemplate':{'spec':{'template':{'spec':{'restartPolicy':'Never','containers':[CC]}}}}},
        **s)})
for s in ({'schedule':''},{'schedule':'x'},{'schedule':'TZ=UTC * * * * *'},{'timeZone':''},{'timeZone':'x'},{'timeZone':'Local'},
        {'timeZone':'UTC','schedule':'TZ=UTC * * * * *'},{'timeZone':'../UTC'},{'timeZone':'etc/utc'},{'timeZone':'America/New_York '},
        {'concurrencyPolicy':'x'},{'startingDeadlineSeconds':-1},{'successfulJobsHistoryLimit':-1},{'failedJobsHistoryLimit':-1}): cron(**s)
cron(meta={'name':'x'*53})
cron(meta={'name':'x'*52})
# networking
NET='/apis/networking.k8s.io/v1/namespaces/default/'
def ing(meta=None,**s): put(NET+'ingresses',{'metadata':dict({'name':'zz'},**(meta or {})),'spec':s})
be={'service':{'name':'a','port':{'number':80}}}
for s in ({},{'defaultBackend':{}},{'defaultBackend':{'service':{'name':'A','port':{}}}},{'defaultBackend':{'service':{'name':'a','port':{'number':0,'name':'x'}}}},
        {'defaultBackend':{'service':{'name':'a','port':{'number':80,'name':'x'}}}},{'defaultBackend':{'service':{'name':'a','port':{'name':'X'}}}},
        {'defaultBackend':{'resource':{'kind':'K','name':'n'},'service':{'name':'a','port':{'number':1}}}},{'defaultBackend':{'resource':{'kind':'','name':''}}},
        {'defaultBackend':be,'rules':[{'host':'A'}]},{'rules':[{'host':'*.a.b','http':{'paths':[]}}]},{'rules':[{'host':'1.2.3.4'}]},
        {'rules':[{'host':'a.*.b'}]},{'rules':[{'http':{'paths':[{'backend':be}]}}]},{'rules':[{'http':{'paths':[{'path':'a','pathType':'Prefix','backend':be}]}}]},
        {'rules':[{'http':{'paths':[{'path':'/a//b','pathType':'Exact','backend':be},{'path':'/a/../b','pathType':'Prefix','backend':be},
        {'path':'/%2f','pathType':'Prefix','backend':be},{'path':'/a/.','pathType':'Exact','backend':be}]}}]},{'rules':[{'http':{'paths':[{'path':'x','pathType':'ImplementationSpecific','backend':be},
        {'path':'/','pathType':'x','backend':be}]}}]},{'defaultBackend':be,'tls':[{'hosts':['A','*.b'],'secretName':'S'}]},
        {'defaultBackend':be,'ingressClassName':'A b'}): ing(**s)
ing(meta={'annotations':{'kubernetes.io/ingress.class':'a'}},defaultBackend=be,ingressClassName='b')
ing(meta={'annotations':{'kubernetes.io/ingress.class':'a'}},defaultBackend=be,ingressClassName='a')
ing(meta={'annotations':{'kubernetes.io/ingress.class':'a'}},defaultBackend=be)
def np(**s): put(NET+'networkpolicies',{'metadata':{'name':'zz'},'spec':dict({'podSelector':{}},**s)})
for s in ({'policyTypes':['Ingress','Egress','Ingress']},{'policyTypes':['x']},{'ingress':[{'from':[{}]}]},{'ingress':[{'from':[{'podSelector':{},
        'ipBlock':{'cidr':'10.0.0.0/8'}}]}]},{'ingress':[{'from':[{'ipBlock':{'cidr':'x'}}]}]},{'egress':[{'to':[{'ipBlock':{'cidr':'10.0.0.0/8','except':['11.0.0.0/9','10.0.0.0/8']}}]}]},
        {'ingress':[{'ports':[{'port':0},{'port':70000},{'port':'Bad_'},{'protocol':'x'},{'port':80,'endPort':70},
        {'endPort':9},{'port':'a','endPort':9}]}]},{'podSelector':{'matchLabels':{'a':'b c'}}}): np(**s)
IC='/apis/networking.k8s.io/v1/ingressclasses'
for p in ({'controller':''},{'controller':'a'},{'controller':'a/b'},{'controller':'A/b'*90},{'controller':'a.b/c','parameters':{}},
        {'controller':'a.b/c','parameters':{'kind':'K','name':'n','scope':'x'}},{'controller':'a.b/c','parameters':{'kind':'K','name':'n','scope':'Namespace'}},
        {'controller':'a.b/c','parameters':{'kind':'K','name':'n','scope':'Cluster','namespace':'x'}},{'controller':'a.b/c','parameters':{'apiGroup':'A','kind':'K/','name':'n/'}}): put(IC,{'metadata':{'name':'zz'},
        'spec':p})
# policy, autoscaling
for s in ({'minAvailable':1,'maxUnavailable':1},{'minAvailable':-1},{'minAvailable':'x'},{'minAvailable':'101%'},
        {'maxUnavailable':'1'},{'unhealthyPodEvictionPolicy':'x','minAvailable':1},{'selector':{'matchLabels':{'a':'b c'}},
        'minAvailable':1}): put('/apis/policy/v1/namespaces/default/poddisruptionbudgets',{'metadata':{'name':'zz'},
        'spec':s})
ref={'kind':'Deployment','name':'x','apiVersion':'apps/v1'}
res=lambda **t:{'type':'Resource','resource':{'name':'cpu','target':t}}
for s in ({'maxReplicas':0},{'maxReplicas':1,'minReplicas':0},{'maxReplicas':1,'minReplicas':2},{'maxReplicas':1,'scaleTargetRef':{'kind':'','name':''}},
        {'maxReplicas':1,'scaleTargetRef':{'kind':'a/b','name':'..'}},{'maxReplicas':1,'metrics':[{}]},{'maxReplicas':1,'metrics':[{'type':'x'}]},
        {'maxReplicas':1,'metrics':[{'type':'Resource'}]},{'maxReplicas':1,'metrics':[res(type='x')]},{'maxReplicas':1,'metrics':[res(type='Utilization')]},
        {'maxReplicas':1,'metrics':[res(type='Utilization',averageUtilization=0)]},{'maxReplicas':1,'metrics':[res(type='AverageValue',averageValue='-1')]},
        {'maxReplicas':1,'metrics':[res(type='Utilization',averageUtilization=1,averageValue='1')]},{'maxReplicas':1,'metrics':[res(type='Value',value='1')]},
        {'maxReplicas':1,'metrics':[{'type':'Pods','pods':{'metric':{'name':''},'target':{'type':'AverageValue','averageValue':'1'}}}]},
        {'maxReplicas':1,'metrics':[{'type':'Pods','pods':{'metric':{'name':'a/b','selector':{'matchLabels':{'a':'b c'}}},
        'target':{'type':'Value','value':'1'}}}]},{'maxReplicas':1,'metrics':[{'type':'Object','object':{'describedObject':{'kind':'','name':''},
        'metric':{'name':'a'},'target':{'type':'Value'}}}]},{'maxReplicas':1,'metrics':[{'type':'External','external':{'metric':{'name':'a'},
        'target':{'type':'Value','value':'1','averageValue':'1'}}}]},{'maxReplicas':1,'metrics':[{'type':'ContainerResource','containerResource':{'name':'cpu','container':'','target':{'type':'Utilization','averageUtilization':1}}}]},
        {'maxReplicas':1,'metrics':[{'type':'Resource','resource':{'name':'','target':{'type':'Utilization','averageUtilization':1}},
        'pods':{}}]},{'maxReplicas':1,'behavior':{'scaleUp':{'policies':[]}}},{'maxReplicas':1,'behavior':{'scaleDown':{'stabilizationWindowSeconds':3601,'selectPolicy':'x','policies':[{'type':'x','value':0,'periodSeconds':1801}]}}},
        {'maxReplicas':1,'behavior':{'scaleUp':{'tolerance':'-1','policies':[{'type':'Pods','value':1,'periodSeconds':0}]}}}): put('/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers',{'metadata':{'name':'zz'},
        'spec':dict({'scaleTargetRef':ref},**s)})
# rbac
RB='/apis/rbac.authorization.k8s.io/v1/'
for ns in ('namespaces/default/roles','clusterroles'):
    for r in ({},{'verbs':[]},{'verbs':['get']},{'verbs':['get'],'apiGroups':['']},{'verbs':['get'],'resources':['pods']},
            {'verbs':['get'],'apiGroups':[''],'resources':['pods'],'nonResourceURLs':['/x']},{'verbs':['get'],'nonResourceURLs':['/x']},
            {'verbs':['get'],'nonResourceURLs':['x*y']},{'verbs':['get'],'nonResourceURLs':['/x'],'resourceNames':['a']},
            {'verbs':['create'],'apiGroups':[''],'resources':['pods'],'resourceNames':['a']}): put(RB+ns,{'metadata':{'name':'zz'},
            'rules':[r]})
put(RB+'clusterroles',{'metadata':{'name':'zz'},'aggregationRule':{}})
put(RB+'clusterroles',{'metadata':{'name':'zz'},'aggregationRule':{'clusterRoleSelectors':[{'matchLabels':{'a':'b c'}}]}})
put(RB+'clusterroles',{'metadata':{'name':'a/b'},'rules':[]})
for k in ('namespaces/default/rolebindings','clusterrolebindings'):
    for rr,su in (({'kind':'Role','name':'x'},[]),({'kind':'ClusterRole','name':''},[]),({'kind':'x','name':'..'},
            []),({'apiGroup':'x','kind':'ClusterRole','name':'a'},[]),({'apiGroup':'rbac.authorization.k8s.io','kind':'ClusterRole','name':'view'},
            [{'kind':'ServiceAccount','name':'A'}]),({'apiGroup':'rbac.authorization.k8s.io','kind':'ClusterRole','name':'view'},
            [{'kind':'ServiceAccount','name':'a','apiGroup':'x'},{'kind':'User','name':''},{'kind':'Group','name':'g','apiGroup':'x'},
            {'kind':'x','name':'y'}])): put(RB+k,{'metadata':{'name':'zz'},'roleRef':rr,'subjects':su})
# core, others
def pvc(**s): put(N+'persistentvolumeclaims',{'metadata':{'name':'zz'},'spec':dict({'accessModes':['ReadWriteOnce'],
        'resources':{'requests':{'storage':'1Gi'}}},**s)})
for s in ({'accessModes':[]},{'accessModes':['x']},{'accessModes':['ReadWriteOncePod','ReadWriteOnce']},{'resources':{}},
        {'resources':{'requests':{'storage':'0'}}},{'resources':{'requests':{'storage':'-1'}}},{'resources':{'requests':{'storage':'1','cpu':'1'}}},
        {'resources':{'requests':{'storage':'2'},'limits':{'storage':'1'}}},{'storageClassName':'A b'},{'storageClassName':''},
        {'volumeMode':'x'},{'selector':{'matchLabels':{'a':'b c'}}},{'volumeName':'A'},{'dataSource':{'kind':'','name':''}},
        {'dataSource':{'kind':'x','name':'y'}},{'dataSource':{'apiGroup':'snapshot.storage.k8s.io','kind':'VolumeSnapshot','name':'y'}},
        {'dataSource':{'kind':'PersistentVolumeClaim','name':'y'},'dataSourceRef':{'kind':'PersistentVolumeClaim','name':'z'}},
        {'dataSourceRef':{'apiGroup':'A b','kind':'x','name':'y'}},{'volumeAttributesClassName':''},{'volumeAttributesClassName':'A b'}): pvc(**s)
def pv(**s): put('/api/v1/persistentvolumes',{'metadata':{'name':'zz'},'spec':dict({'accessModes':['ReadWriteOnce'],
        'capacity':{'storage':'1Gi'},'hostPath':{'path':'/x'}},**s)})
for s in ({'accessModes':[]},{'accessModes':['x']},{'accessModes':['ReadWriteOncePod','ReadWriteMany']},{'capacity':{}},
        {'capacity':{'cpu':'1'}},{'capacity':{'storage':'0'}},{'persistentVolumeReclaimPolicy':'x'},{'persistentVolumeReclaimPolicy':'Recycle','hostPath':{'path':'/'}},
        {'hostPath':{'path':'/a/..'}},{'hostPath':None},{'hostPath':{'path':'/x'},'nfs':{'server':'a','path':'/'}},
        {'storageClassName':'A b'},{'volumeMode':'x'},{'nodeAffinity':{}},{'nodeAffinity':{'required':{'nodeSelectorTerms':[]}}},
        {'hostPath':None,'local':{'path':'/x'}},{'hostPath':None,'csi':{'driver':'A b','volumeHandle':''}},{'hostPath':None,'csi':{'driver':'a','volumeHandle':'x','controllerPublishSecretRef':{'name':'','namespace':''}}},
        {'mountOptions':['a']},{'claimRef':{'name':'','namespace':''}},{'volumeAttributesClassName':'x'},{'hostPath':None,'azureFile':{'secretName':'a','shareName':'b','secretNamespace':''}},
        {'hostPath':None,'rbd':{'monitors':[],'image':''}}): pv(**s)
for s in ({'type':'kubernetes.io/tls'},{'type':'kubernetes.io/tls','stringData':{'tls.crt':'x'}},{'type':'kubernetes.io/dockercfg','stringData':{'.dockercfg':'x'}},
        {'type':'kubernetes.io/dockerconfigjson','stringData':{'.dockerconfigjson':'[]'}},{'type':'kubernetes.io/basic-auth'},
        {'type':'kubernetes.io/ssh-auth'},{'type':'kubernetes.io/service-account-token'},{'type':'bootstrap.kubernetes.io/token'},
        {'stringData':{'a b':'x'}},{'data':{'a':'!!'}},{'stringData':{'..':'x','.':'y','..a':'z'}},{'stringData':{'a':'x'*1048577}}): put(N+'secrets',dict({'metadata':{'name':'zz'}},
        **s))
for s in ({'data':{'a b':'x'}},{'data':{'a':'x'},'binaryData':{'a':'eA=='}},{'binaryData':{'a':'!!'}},{'data':{'a':'x'*1048577}},
        {'immutable':'x'}): put(N+'configmaps',dict({'metadata':{'name':'zz'}},**s))
for s in ({'hard':{'x':'1'}},{'hard':{'pods':'-1'}},{'hard':{'pods':'0.5'}},{'hard':{'a/b':'1','requests.cpu':'1m'}},
        {'scopes':['x']},{'scopes':['BestEffort','NotBestEffort'],'hard':{'pods':'1'}},{'scopes':['BestEffort'],
        'hard':{'cpu':'1'}},{'scopeSelector':{'matchExpressions':[{'scopeName':'PriorityClass','operator':'In'}]}},
        {'scopeSelector':{'matchExpressions':[{'scopeName':'x','operator':'y','values':['a']}]}},{'scopeSelector':{'matchExpressions':[{'scopeName':'Terminating','operator':'In','values':['a']}]}},
        {'hard':{'count/pods':'1','count/x.y':'1','count/':'1'}},{'hard':{'gold.storageclass.storage.k8s.io/requests.storage':'1','x.storageclass.storage.k8s.io/y':'1'}}): put(N+'resourcequotas',{'metadata':{'name':'zz'},
        'spec':s})
for s in ({'podCIDR':'x'},{'podCIDRs':['10.0.0.0/8','11.0.0.0/8']},{'taints':[{'key':'a b','effect':'NoSchedule'}]},
        {'taints':[{'key':'a','effect':'x'}]},{'taints':[{'key':'a','effect':'NoSchedule'},{'key':'a','effect':'NoSchedule'}]},
        {'taints':[{'key':'a','value':'b c','effect':'NoSchedule'}]},{'providerID':'x'},{'externalID':'x'},{'configSource':{'configMap':{'name':'a','namespace':'b','kubeletConfigKey':'c'}}}): put('/api/v1/nodes',{'metadata':{'name':'zz'},
        'spec':s})
for s in ([{'addresses':[{'ip':'x'}],'ports':[{'port':1}]}],[{'addresses':[],'notReadyAddresses':[]}],[{'addresses':[{'ip':'127.0.0.1'}]}],
        [{'addresses':[{'ip':'1.2.3.4','hostname':'A'}],'ports':[{'port':0,'protocol':'x'},{'port':1,'name':'A_'}]}],
        [{'addresses':[{'ip':'224.0.0.1','nodeName':'A b'}]}]): put(N+'endpoints',{'metadata':{'name':'zz'},'subsets':s})
for s in ({'finalizers':['x']},{'finalizers':['kubernetes']},{'finalizers':['a.b/c']}): put('/api/v1/namespaces',{'metadata':{'name':'zz'},'spec':s})
put('/api/v1/namespaces',{'metadata':{'name':'a.b'}})
put('/api/v1/namespaces',{'metadata':{'name':'x'*64}})
for s in ({'secrets':[{}]},{'imagePullSecrets':[{}]},{'automountServiceAccountToken':'x'}): put(N+'serviceaccounts',dict({'metadata':{'name':'zz'}},
        **s))
# storage
ST='/apis/storage.k8s.io/v1/'
for s in ({'provisioner':''},{'provisioner':'A/B/C'},{'provisioner':'a','reclaimPolicy':'x'},{'provisioner':'a','volumeBindingMode':'x'},
        {'provisioner':'a','parameters':{'':'x'}},{'provisioner':'a','parameters':{'a':'x'*300000}},{'provisioner':'a','parameters':{str(i):'x' for i in range(513)}},
        {'provisioner':'a','allowedTopologies':[{'matchLabelExpressions':[{'key':'a','values':[]}]}]},{'provisioner':'a','allowedTopologies':[{'matchLabelExpressions':[{'key':'a','values':['b']},
        {'key':'a','values':['c','c']}]}]},{'provisioner':'a','allowedTopologies':[{'matchLabelExpressions':[]},
        {'matchLabelExpressions':[]}]}): put(ST+'storageclasses',dict({'metadata':{'name':'zz'}},**s))
for s in ({'fsGroupPolicy':'x'},{'volumeLifecycleModes':['x']},{'tokenRequests':[{'audience':'a','expirationSeconds':1},
        {'audience':'a'}]},{'nodeAllocatableUpdatePeriodSeconds':1},{'attachRequired':None},{'serviceAccountTokenInSecrets':True}): put(ST+'csidrivers',{'metadata':{'name':'zz'},
        'spec':s})
put(ST+'csidrivers',{'metadata':{'name':'A'},'spec':{}})
put(ST+'csidrivers',{'metadata':{'name':'x'*64},'spec':{}})
for d in ([{'name':'','nodeID':''}],[{'name':'a','nodeID':'b'},{'name':'a','nodeID':'c'}],[{'name':'a','nodeID':'x'*300}],
        [{'name':'a','nodeID':'b','topologyKeys':['','k','k','a b']}],[{'name':'a','nodeID':'b','allocatable':{'count':-1}}]): put(ST+'csinodes',{'metadata':{'name':'zz'},
        'spec':{'drivers':d}})
for s in ({'attacher':'','source':{},'nodeName':''},{'attacher':'a','source':{'persistentVolumeName':'x','inlineVolumeSpec':{}},
        'nodeName':'n'},{'attacher':'a','source':{'inlineVolumeSpec':{'hostPath':{'path':'/x'}}},'nodeName':'n'}): put(ST+'volumeattachments',{'metadata':{'name':'zz'},
        'spec':s})
put(ST+'volumeattributesclasses',{'metadata':{'name':'zz'},'driverName':''})
put(ST+'volumeattributesclasses',{'metadata':{'name':'zz'},'driverName':'A b','parameters':{'':'x'}})
# scheduling, node, discovery, coordination
for s in ({'value':2000000000},{'value':1,'preemptionPolicy':'x'},{'value':1,'globalDefault':True}): put('/apis/scheduling.k8s.io/v1/priorityclasses',dict({'metadata':{'name':'zz'}},
        **s))
put('/apis/scheduling.k8s.io/v1/priorityclasses',{'metadata':{'name':'system-x'},'value':1})
for s in ({'handler':''},{'handler':'A'},{'handler':'a','overhead':{'podFixed':{'x':'1','cpu':'-1'}}},{'handler':'a','scheduling':{'nodeSelector':{'a':'b c'},
        'tolerations':[{'key':'a','operator':'x'},{'key':'a'},{'key':'a'}]}}): put('/apis/node.k8s.io/v1/runtimeclasses',dict({'metadata':{'name':'zz'}},
        **s))
ES='/apis/discovery.k8s.io/v1/namespaces/default/endpointslices'
for s in ({'addressType':'x','endpoints':[]},{'addressType':'IPv4','endpoints':[{'addresses':[]}]},{'addressType':'IPv4','endpoints':[{'addresses':['x','::1','127.0.0.1']}]},
        {'addressType':'IPv6','endpoints':[{'addresses':['1.2.3.4']}]},{'addressType':'FQDN','endpoints':[{'addresses':['A','a.b']}]},
        {'addressType':'IPv4','endpoints':[{'addresses':['1.2.3.4'],'hostname':'A','nodeName':'A b','hints':{'forZones':[{'name':'A b'}]*9}}]},
        {'addressType':'IPv4','endpoints':[],'ports':[{'name':'a'},{'name':'a'},{'protocol':'x','name':'b'},{'port':0,'name':'C_'},
        {'appProtocol':'A b','name':'d'}]},{'addressType':'IPv4','endpoints':[{'addresses':['1.2.3.4'],'deprecatedTopology':{'a':'b'},
        'zone':'z'}]},{'addressType':'IPv4','endpoints':[{'addresses':['1.2.3.4'],'hints':{'forNodes':[{'name':'a'},
        {'name':'a'}]}}]}): put(ES,dict({'metadata':{'name':'zz'}},**s))
for s in ({'leaseDurationSeconds':0},{'leaseTransitions':-1},{'holderIdentity':''},{'strategy':'x'},{'preferredHolder':'a'},
        {'preferredHolder':'','strategy':'OldestEmulationVersion'}): put('/apis/coordination.k8s.io/v1/namespaces/default/leases',{'metadata':{'name':'zz'},
        'spec':s})
# flowcontrol
FC='/apis/flowcontrol.apiserver.k8s.io/v1/'
U=[{'kind':'User','user':{'name':'u'}}]
rr=lambda **k:dict({'verbs':['get'],'apiGroups':[''],'resources':['pods'],'namespaces':['a']},**k)
for s in ({'priorityLevelConfiguration':{'name':''}},{'priorityLevelConfiguration':{'name':'A b'}},{'priorityLevelConfiguration':{'name':'a'},
        'matchingPrecedence':0},{'priorityLevelConfiguration':{'name':'a'},'matchingPrecedence':10001},{'priorityLevelConfiguration':{'name':'a'},
        'matchingPrecedence':1},{'priorityLevelConfiguration':{'name':'a'},'distinguisherMethod':{'type':'x'}},
        {'priorityLevelConfiguration':{'name':'a'},'rules':[{'subjects':[]}]},{'priorityLevelConfiguration':{'name':'a'},
        'rules':[{'subjects':[{'kind':'x'}],'resourceRules':[rr()]}]},{'priorityLevelConfiguration':{'name':'a'},
        'rules':[{'subjects':[{'kind':'User','group':{'name':'x'},'serviceAccount':{'name':'A','namespace':'B'}}]}]},
        {'priorityLevelConfiguration':{'name':'a'},'rules':[{'subjects':[{'kind':'Group','user':{'name':'x'}},{'kind':'ServiceAccount','user':{'name':'x'}},
        {'kind':'User'},{'kind':'ServiceAccount','serviceAccount':{'name':'A b','namespace':'A'}}],'resourceRules':[rr()]}]},
        {'priorityLevelConfiguration':{'name':'a'},'rules':[{'subjects':U,'resourceRules':[rr(verbs=['*','get']),
        rr(verbs=[]),rr(verbs=['x']),rr(apiGroups=['*','a']),rr(apiGroups=[]),rr(resources=['*','a']),rr(resources=[]),
        rr(namespaces=['*','a']),rr(namespaces=[]),rr(namespaces=[],clusterScope=True),rr(namespaces=['A b'])]}]},
        {'priorityLevelConfiguration':{'name':'a'},'rules':[{'subjects':U,'nonResourceRules':[{'verbs':['*','get'],
        'nonResourceURLs':['*','/x']},{'verbs':['get'],'nonResourceURLs':['x','/a b','/a//b','/a*b','']},{'verbs':[],
        'nonResourceURLs':[]}]}]}): put(FC+'flowschemas',{'metadata':{'name':'zz'},'spec':s})
for s in ({'type':'x'},{'type':'Limited'},{'type':'Exempt','limited':{}},{'type':'Limited','exempt':{},'limited':{'limitResponse':{'type':'Reject'}}},
        {'type':'Limited','limited':{'nominalConcurrencyShares':-1,'limitResponse':{'type':'Reject'}}},{'type':'Limited','limited':{'limitResponse':{'type':'x'}}},
        {'type':'Limited','limited':{'limitResponse':{'type':'Reject','queuing':{'queues':1}}}},{'type':'Limited','limited':{'limitResponse':{'type':'Queue'}}},
        {'type':'Limited','limited':{'limitResponse':{'type':'Queue','queuing':{'queues':-1,'handSize':-1,'queueLengthLimit':-1}}}},
        {'type':'Limited','limited':{'limitResponse':{'type':'Queue','queuing':{'queues':2,'handSize':9}}}},{'type':'Limited','limited':{'limitResponse':{'type':'Queue','queuing':{'queues':20000000,'handSize':12}}}},
        {'type':'Limited','limited':{'lendablePercent':101,'borrowingLimitPercent':-1,'limitResponse':{'type':'Reject'}}}): put(FC+'prioritylevelconfigurations',{'metadata':{'name':'zz'},
        'spec':s})

for method, path, body, kind in R:
    print(json.dumps({'class': 'aimed', 'request': [method, path, body, kind or 'application/json']}))
