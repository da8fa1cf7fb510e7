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
AR='/apis/admissionregistration.k8s.io/v1/'
cc={'url':'https://a.b/c'}
def wh(kind,**h): put(AR+kind,{'metadata':{'name':'zz'},'webhooks':[dict({'name':'a.b.c','clientConfig':cc,'sideEffects':'None','admissionReviewVersions':['v1'],
        'rules':[{'operations':['CREATE'],'apiGroups':[''],'apiVersions':['v1'],'resources':['pods']}]},**h)]})
for k in ('validatingwebhookconfigurations','mutatingwebhookconfigurations'):
    for h in ({'name':'a'},{'name':''},{'name':'A.b.c'},{'clientConfig':{}},{'clientConfig':{'url':'http://a.b'}},
            {'clientConfig':{'url':'https://a.b?x=y'}},{'clientConfig':{'url':'https://u:p@a.b'}},{'clientConfig':{'url':'https://a.b#f'}},
            {'clientConfig':{'url':'x'}},{'clientConfig':{'url':'https://a','service':{'name':'a','namespace':'b'}}},
            {'clientConfig':{'service':{'name':'','namespace':''}}},{'clientConfig':{'service':{'name':'a','namespace':'b','path':'x'}}},
            {'clientConfig':{'service':{'name':'a','namespace':'b','path':'/x//y'}}},{'clientConfig':{'service':{'name':'a','namespace':'b','port':0}}},
            {'clientConfig':{'service':{'name':'a','namespace':'b','port':70000}}},{'sideEffects':None},{'sideEffects':'x'},
            {'sideEffects':'Unknown'},{'admissionReviewVersions':[]},{'admissionReviewVersions':['v2']},{'admissionReviewVersions':['v1','v1']},
            {'admissionReviewVersions':['V1']},{'timeoutSeconds':0},{'timeoutSeconds':31},{'failurePolicy':'x'},
            {'matchPolicy':'x'},{'reinvocationPolicy':'x'},{'namespaceSelector':{'matchLabels':{'a':'b c'}}},{'objectSelector':{'matchExpressions':[{'key':'a','operator':'x'}]}},
            {'rules':[{}]},{'rules':[{'operations':['x'],'apiGroups':['*','a'],'apiVersions':['*','v1'],'resources':['*','pods']}]},
            {'rules':[{'operations':['*','CREATE'],'apiGroups':[''],'apiVersions':[''],'resources':['']}]},{'rules':[{'operations':['CREATE'],
            'apiGroups':[''],'apiVersions':['v1'],'resources':['pods/*','pods/status','*/*','pods','*/status','/x','a/']}]},
            {'rules':[{'operations':['CREATE'],'apiGroups':[''],'apiVersions':['v1'],'resources':['pods'],'scope':'x'}]},
            {'matchConditions':[{}]},{'matchConditions':[{'name':'a','expression':'x'}]},{'matchConditions':[{'name':'a b','expression':'true'},
            {'name':'c','expression':'1'}]},{'matchConditions':[{'name':'a','expression':'true'},{'name':'a','expression':'true'}]},
            {'matchConditions':[{'name':'a%d'%i,'expression':'true'} for i in range(65)]}): wh(k,**h)
put(AR+'validatingwebhookconfigurations',{'metadata':{'name':'zz.static.k8s.io'},'webhooks':[]})
put(AR+'validatingwebhookconfigurations',{'metadata':{'name':'zz'},'webhooks':[{'name':'a.b.c','clientConfig':cc,'sideEffects':'None','admissionReviewVersions':['v1']}]*2})
def vap(**s): put(AR+'validatingadmissionpolicies',{'metadata':{'name':'zz'},'spec':dict({'matchConstraints':{'resourceRules':[{'operations':['CREATE'],
        'apiGroups':[''],'apiVersions':['v1'],'resources':['pods']}]},'validations':[{'expression':'true'}]},**s)})
for s in ({'validations':[]},{'validations':[],'auditAnnotations':[]},{'validations':[{}]},{'validations':[{'expression':' '}]},
        {'validations':[{'expression':'1'}]},{'validations':[{'expression':'x'}]},{'validations':[{'expression':'true\n&& true'}]},
        {'validations':[{'expression':'true','message':''}]},{'validations':[{'expression':'true','message':' '}]},
        {'validations':[{'expression':'true','message':'a\nb'}]},{'validations':[{'expression':'true','messageExpression':''}]},
        {'validations':[{'expression':'true','messageExpression':'1'}]},{'validations':[{'expression':'true','messageExpression':'"a" + object.metadata.name'}]},
        {'validations':[{'expression':'true','reason':'x'}]},{'validations':[{'expression':'true','reason':'NotFound'}]},
        {'validations':[{'expression':'authorizer.group("").resource("pods").check("get").allowed()'}]},{'validations':[{'expression':'params.x == 1'}]},
        {'paramKind':{'apiVersion':'v1','kind':'ConfigMap'},'validations':[{'expression':'params.data.x == "1"'}]},
        {'paramKind':{'apiVersion':'','kind':''}},{'paramKind':{'apiVersion':'a/b/c','kind':'x y'}},{'failurePolicy':'x'},
        {'matchConstraints':None},{'matchConstraints':{}},{'matchConstraints':{'resourceRules':[]}},{'matchConstraints':{'resourceRules':[{'operations':['CREATE'],
        'apiGroups':[''],'apiVersions':['v1'],'resources':['pods'],'resourceNames':['a','a','A/b']}],'matchPolicy':'x'}},
        {'matchConstraints':{'resourceRules':[{'operations':['CREATE'],'apiGroups':[''],'apiVersions':['v1'],'resources':['pods']}],
        'excludeResourceRules':[{}]}},{'auditAnnotations':[{'key':'','valueExpression':''}]},{'auditAnnotations':[{'key':'a b','valueExpression':'1'},
        {'key':'c','valueExpression':'"x"'},{'key':'c','valueExpression':'"x"'}]},{'auditAnnotations':[{'key':'k%d'%i,'valueExpression':'"x"'} for i in range(21)]},
        {'variables':[{'name':'','expression':''}]},{'variables':[{'name':'a b','expression':'1'}]},{'variables':[{'name':'a','expression':'1'},
        {'name':'a','expression':'2'}]},{'variables':[{'name':'a','expression':'variables.b'},{'name':'b','expression':'1'}]},
        {'variables':[{'name':'a','expression':'1'}],'validations':[{'expression':'variables.a == 1'}]},{'variables':[{'name':'a','expression':'1'}],
        'validations':[{'expression':'variables.c == 1'}]},{'matchConditions':[{'name':'a','expression':'1'}]},
        {'matchConditions':[{'name':'','expression':''}]},{'validations':[{'expression':'object.spec.containers.all(c, object.spec.containers.all(d, object.spec.containers.all(e, c.name + d.name + e.name != "")))'}]}): vap(**s)
def vapb(**s): put(AR+'validatingadmissionpolicybindings',{'metadata':{'name':'zz'},'spec':dict({'policyName':'p','validationActions':['Deny']},**s)})
for s in ({'policyName':''},{'policyName':'A b'},{'validationActions':[]},{'validationActions':['x']},{'validationActions':['Deny','Deny']},
        {'validationActions':['Deny','Warn']},{'paramRef':{}},{'paramRef':{'name':'a','selector':{}}},{'paramRef':{'name':'a'}},
        {'paramRef':{'name':'a','parameterNotFoundAction':'x'}},{'paramRef':{'selector':{'matchLabels':{'a':'b c'}},
        'parameterNotFoundAction':'Allow'}},{'paramRef':{'name':'a','namespace':'A','parameterNotFoundAction':'Deny'}},
        {'matchResources':{'namespaceSelector':{'matchLabels':{'a':'b c'}},'matchPolicy':'x'}},{'matchResources':{'resourceRules':[{}]}}): vapb(**s)
# certificates
CS='/apis/certificates.k8s.io/v1/certificatesigningrequests'
for s in ({'request':'','signerName':'','usages':[]},{'request':'eA==','signerName':'a','usages':['x']},{'request':'LS0t','signerName':'a.b/c','usages':['client auth','client auth']},
        {'request':'eA==','signerName':'a.b/c/d','usages':['client auth'],'expirationSeconds':1},{'request':'eA==','signerName':'A b/c','usages':['client auth']},
        {'request':'eA==','signerName':'kubernetes.io/legacy-unknown','usages':['client auth']}): put(CS,{'metadata':{'name':'zz'},
        'spec':s})
# apiextensions
CR='/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
def crd(name='ts.a.io',schema=None,versions=None,ver=None,**s):
    v=dict({'name':'v1','served':True,'storage':True,'schema':{'openAPIV3Schema':schema or {'type':'object'}}},**(ver or {}))
    put(CR,{'metadata':{'name':name},'spec':dict({'group':'a.io','scope':'Namespaced','names':{'plural':'ts','singular':'t','kind':'T','listKind':'TList'},
            'versions':versions if versions is not None else [v]},**s)})
for s in ({'group':''},{'group':'A'},{'scope':'x'},{'scope':''},{'names':{'plural':'','kind':''}},{'names':{'plural':'T','kind':'t t','singular':'A','listKind':'B C'}},
        {'names':{'plural':'ts','kind':'T','listKind':'T'}},{'names':{'plural':'ts','kind':'T','shortNames':['A'],
        'categories':['B']}},{'versions':[]},{'conversion':{'strategy':'x'}},{'conversion':{'strategy':'None','webhook':{}}},
        {'conversion':{'strategy':'Webhook'}},{'conversion':{'strategy':'Webhook','webhook':{'conversionReviewVersions':[],
        'clientConfig':{}}}},{'conversion':{'strategy':'Webhook','webhook':{'conversionReviewVersions':['v1'],'clientConfig':{'url':'http://x'}}}},
        {'conversion':{'strategy':'Webhook','webhook':{'conversionReviewVersions':['V1','v1','v1'],'clientConfig':{'service':{'name':'','namespace':'','path':'x','port':0}}}}},
        {'preserveUnknownFields':True}): crd(**s)
crd(name='x.a.io')
crd(ver={'name':'V1'})
crd(ver={'name':'v1','storage':False})
crd(ver={'served':False})
crd(ver={'deprecationWarning':'x'})
crd(ver={'deprecated':True,'deprecationWarning':''})
crd(ver={'deprecated':True,'deprecationWarning':'a\tb'})
crd(ver={'deprecated':True,'deprecationWarning':'x'*257})
crd(ver={'schema':None})
crd(ver={'schema':{}})
for c in ({'name':'','type':'','jsonPath':''},{'name':'A','type':'x','jsonPath':'x'},{'name':'A','type':'string','jsonPath':'.spec.x','format':'x'},
        {'name':'A','type':'string','jsonPath':'.spec[*','priority':-1},{'name':'A','type':'integer','jsonPath':'.a b'}): crd(ver={'additionalPrinterColumns':[c]})
crd(ver={'additionalPrinterColumns':[{'name':'A','type':'string','jsonPath':'.a'}]*2})
for c in ({'status':None},{'scale':{}},{'scale':{'specReplicasPath':'.status.x','statusReplicasPath':'.spec.x'}},
        {'scale':{'specReplicasPath':'.spec.x','statusReplicasPath':'.status.x','labelSelectorPath':'.x'}},{'scale':{'specReplicasPath':'spec.x','statusReplicasPath':'.status[0]'}}): crd(ver={'subresources':c})
for c in ([{'jsonPath':''}],[{'jsonPath':'.spec.x'}],[{'jsonPath':'spec.x'}],[{'jsonPath':'.metadata.name'}],[{'jsonPath':'.spec.s'}]*2,[{'jsonPath':'.spec.s'}],
        [{'jsonPath':'.spec.o'}],[{'jsonPath':'.spec.l[0]'}],[{'jsonPath':'.spec.s'},{'jsonPath':'.spec.i'},{'jsonPath':'.spec.b'}],
        [{'jsonPath':'.spec.n'}]): crd(ver={'selectableFields':c},schema={'type':'object','properties':{'spec':{'type':'object','properties':{'s':{'type':'string'},
        'o':{'type':'object'},'l':{'type':'array','items':{'type':'string'}},'i':{'type':'integer'},'b':{'type':'boolean'},
        'n':{'type':'number'}}}}})
P=lambda p,**m:dict({'type':'object','properties':{'a':p}},**m)
for sc in ({},{'type':'string'},{'type':'x'},{'type':'object','nullable':True},{'type':'object','properties':{'metadata':{'type':'object','properties':{'labels':{'type':'object'}}}}},
        {'type':'object','properties':{'metadata':{'type':'object','properties':{'name':{'type':'string','pattern':'a'}}}}},
        {'type':'object','properties':{'kind':{'type':'integer'}}},{'type':'object','additionalProperties':{'type':'string'},
        'properties':{'b':{'type':'string'}}},P({}),P({'type':'array'}),P({'type':'array','items':[{'type':'string'}]}),
        P({'type':'array','items':{}}),P({'type':'array','items':{'type':'string'},'uniqueItems':True}),P({'type':'string','pattern':'('}),
        P({'type':'string','format':'x'}),P({'type':'string','enum':[1]}),P({'type':'string','enum':[]}),P({'type':'string','default':1}),
        P({'type':'string','default':'x','enum':['y']}),P({'type':'object','default':{'b':1},'properties':{}}),
        P({'type':'object','default':{'b':1},'properties':{'b':{'type':'string'}}}),P({'type':'string','minLength':3,'default':'x'}),
        P({'type':'object','required':['']}),P({'type':'object','x-kubernetes-preserve-unknown-fields':False}),
        P({'x-kubernetes-preserve-unknown-fields':True}),P({'x-kubernetes-int-or-string':True}),P({'type':'string','x-kubernetes-int-or-string':True}),
        P({'x-kubernetes-int-or-string':True,'anyOf':[{'type':'string'}]}),P({'x-kubernetes-int-or-string':True,'allOf':[{'anyOf':[{'type':'integer'},
        {'type':'string'}]}]}),P({'type':'object','x-kubernetes-embedded-resource':True}),P({'type':'string','x-kubernetes-embedded-resource':True}),
        P({'type':'array','items':{'type':'string'},'x-kubernetes-list-type':'x'}),P({'type':'string','x-kubernetes-list-type':'set'}),
        P({'type':'array','items':{'type':'object'},'x-kubernetes-list-type':'set'}),P({'type':'array','items':{'type':'object','x-kubernetes-map-type':'atomic'},
        'x-kubernetes-list-type':'set'}),P({'type':'array','items':{'type':'string'},'x-kubernetes-list-type':'map'}),
        P({'type':'array','items':{'type':'object'},'x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['k']}),
        P({'type':'array','items':{'type':'object','properties':{'k':{'type':'string'}}},'x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['k']}),
        P({'type':'array','items':{'type':'object','properties':{'k':{'type':'object'}},'required':['k']},'x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['k','k']}),
        P({'type':'array','items':{'type':'object','properties':{'k':{'type':'string','nullable':True}},'required':['k']},
        'x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['k']}),P({'type':'array','items':{'type':'object'},
        'x-kubernetes-list-map-keys':['k']}),P({'type':'object','x-kubernetes-map-type':'x'}),P({'type':'string','x-kubernetes-map-type':'atomic'}),
        P({'type':'string','x-kubernetes-validations':[{}]}),P({'type':'string','x-kubernetes-validations':[{'rule':'self'}]}),
        P({'type':'string','x-kubernetes-validations':[{'rule':'self == "a"','message':'','reason':'x','fieldPath':'y'}]}),
        P({'type':'string','maxLength':10,'x-kubernetes-validations':[{'rule':'self == "a"','messageExpression':'1'}]}),
        P({'type':'string','x-kubernetes-validations':[{'rule':'self == "a"\n','message':'a\nb'}]}),P({'type':'object','properties':{'b':{'type':'string'}},
        'x-kubernetes-validations':[{'rule':'self.b == "a"','fieldPath':'.c'},{'rule':'has(self.b)','fieldPath':'.b'},
        {'rule':'has(self.b)','fieldPath':"['b']"},{'rule':'has(self.b)','fieldPath':'b'},{'rule':'has(self.b)','fieldPath':''}]}),
        P({'type':'string','maxLength':5,'x-kubernetes-validations':[{'rule':'self == oldSelf','optionalOldSelf':True},
        {'rule':'self == oldSelf'},{'rule':'true','optionalOldSelf':True}]}),P({'type':'integer','minimum':5,'maximum':3}),
        P({'type':'number','multipleOf':0}),P({'type':'string','$ref':'x'}),P({'type':'string','id':'x'}),P({'type':'object','definitions':{'a':{}},
        'dependencies':{'a':['b']},'patternProperties':{'a':{}}}),P({'type':'array','items':{'type':'string'},'additionalItems':True}),
        P({'type':'string','not':{'type':'string'}}),P({'type':'string','anyOf':[{'minLength':1},{'format':'x','description':'d','title':'t','default':'x','nullable':True}]}),
        P({'type':'object','oneOf':[{'required':['b']},{'properties':{'c':{'minLength':1}}}]}),P({'type':'object','properties':{'b':{'type':'string'}},
        'allOf':[{'properties':{'b':{'pattern':'x','type':'string'},'d':{'minLength':1}}}]}),P({'type':'object','additionalProperties':False}),
        P({'type':'object','additionalProperties':True}),P({'type':'object','additionalProperties':{}}),P({'type':'object','minProperties':-1,'maxProperties':-2}),
        P({'type':'string','minLength':-1,'maxLength':-2}),P({'type':'array','items':{'type':'string'},'minItems':-1,'maxItems':-1}),
        P({'type':'string','externalDocs':{'url':'x'},'example':1,'exclusiveMinimum':True}),P({'type':'integer','format':'int64','enum':[1,'2']}),
        P({'type':'integer','default':1.5}),P({'type':'boolean','default':'true'}),P({'type':'array','items':{'type':'integer'},
        'default':[1,'2']}),P({'type':'string','nullable':True,'default':None}),P({'type':'string','nullable':True,'enum':['a',None]})): crd(schema=sc)
# resource
RS='/apis/resource.k8s.io/v1/'
for s in ({'selectors':[{}]},{'selectors':[{'cel':{'expression':''}}]},{'selectors':[{'cel':{'expression':'1'}}]},
        {'selectors':[{'cel':{'expression':'device.driver == "x"'}}]*33},{'config':[{}]},{'config':[{'opaque':{'driver':'A b','parameters':None}}]},
        {'config':[{'opaque':{'driver':'a','parameters':{'a':1}}}]*33},{'extendedResourceName':'x'},{'extendedResourceName':'a.b/c'},
        {'extendedResourceName':'kubernetes.io/x'}): put(RS+'deviceclasses',{'metadata':{'name':'zz'},'spec':s})
for s in ({'requests':[{}]},{'requests':[{'name':'A'}]},{'requests':[{'name':'a','exactly':{'deviceClassName':''}}]},
        {'requests':[{'name':'a','exactly':{'deviceClassName':'A b','allocationMode':'x'}}]},{'requests':[{'name':'a','exactly':{'deviceClassName':'c','allocationMode':'All','count':1}}]},
        {'requests':[{'name':'a','exactly':{'deviceClassName':'c','count':-1}}]},{'requests':[{'name':'a','exactly':{'deviceClassName':'c'},
        'firstAvailable':[{'name':'b','deviceClassName':'c'}]}]},{'requests':[{'name':'a','firstAvailable':[]}]},
        {'requests':[{'name':'a','firstAvailable':[{'name':'b','deviceClassName':'c'},{'name':'b','deviceClassName':'c'}]}]},
        {'requests':[{'name':'a','exactly':{'deviceClassName':'c'}}]*2},{'requests':[{'name':'a%d'%i,'exactly':{'deviceClassName':'c'}} for i in range(33)]},
        {'requests':[{'name':'a','exactly':{'deviceClassName':'c','tolerations':[{'key':'a b','operator':'x','effect':'y'}]}}]},
        {'constraints':[{}]},{'constraints':[{'requests':['q'],'matchAttribute':'x'}]},{'constraints':[{'requests':['q','q'],
        'matchAttribute':'A b/c'}]},{'config':[{'requests':['q'],'opaque':{'driver':'a','parameters':{}}}]}): put(RS+'namespaces/default/resourceclaims',{'metadata':{'name':'zz'},
        'spec':{'devices':s}})


# --- what stands already: made first, as objects called aim ---
def base(path,body): R.append(('POST',path,body,None))
def put(path,body,dry=True): R.append(('POST',path+('?dryRun=All' if dry else ''),body,None))
def patch(path,body,t='application/merge-patch+json'): R.append(('PATCH',path+'?dryRun=All',body,t))
podspec={'containers':[dict(CC,resources={'requests':{'cpu':'1'},'limits':{'cpu':'1'}}),{'name':'d','image':'i:1'}],
        'initContainers':[{'name':'i','image':'i:1'}],'terminationGracePeriodSeconds':30,'tolerations':[{'key':'a','operator':'Exists'}]}
M=lambda **k:{'metadata':dict({'name':'aim'},**k)}
base(N+'pods',dict(M(labels={'a':'b'}),spec=podspec))
base(A+'deployments',dict(M(),spec={'selector':SEL,'template':T}))
base(A+'daemonsets',dict(M(),spec={'selector':SEL,'template':T}))
base(A+'statefulsets',dict(M(),spec={'selector':SEL,'template':T,'serviceName':'s','volumeClaimTemplates':[{'metadata':{'name':'v'},
        'spec':{'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}}}]}))
base(A+'replicasets',dict(M(),spec={'selector':SEL,'template':T}))
base(B+'jobs',dict(M(),spec={'suspend':True,'completions':3,'parallelism':1,'completionMode':'Indexed','template':{'spec':{'restartPolicy':'Never','containers':[CC]}}}))
base(B+'cronjobs',dict(M(),spec={'schedule':'* * * * *','jobTemplate':{'spec':{'template':{'spec':{'restartPolicy':'Never','containers':[CC]}}}}}))
base(N+'services',dict(M(),spec={'ports':[{'port':80}],'selector':{'a':'b'}}))
base(N+'persistentvolumeclaims',dict(M(),spec={'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'2Gi'}},'storageClassName':'x'}))
base('/api/v1/persistentvolumes',dict(M(),spec={'accessModes':['ReadWriteOnce'],'capacity':{'storage':'1Gi'},'hostPath':{'path':'/x'},
        'storageClassName':'x'}))
base(N+'secrets',dict(M(),type='Opaque',stringData={'a':'b'},immutable=True))
base(N+'configmaps',dict(M(),data={'a':'b'},immutable=True))
base('/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings',dict(M(),roleRef={'apiGroup':'rbac.authorization.k8s.io','kind':'Role','name':'x'},
        subjects=[]))
base('/apis/storage.k8s.io/v1/storageclasses',dict(M(),provisioner='a'))
base('/apis/scheduling.k8s.io/v1/priorityclasses',dict(M(),value=5))
base('/apis/node.k8s.io/v1/runtimeclasses',dict(M(),handler='a'))
base('/apis/networking.k8s.io/v1/ingressclasses',dict(M(),spec={'controller':'a.b/c'}))
base('/api/v1/nodes',dict(M(),spec={'podCIDR':'10.1.0.0/24','providerID':'p'}))
base('/apis/policy/v1/namespaces/default/poddisruptionbudgets',dict(M(),spec={'minAvailable':1,'selector':SEL}))
base('/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers',dict(M(),spec={'maxReplicas':3,'scaleTargetRef':{'kind':'Deployment','name':'x','apiVersion':'apps/v1'}}))
base(N+'resourcequotas',dict(M(),spec={'hard':{'pods':'100'},'scopes':['BestEffort']}))
base('/apis/networking.k8s.io/v1/namespaces/default/ingresses',dict(M(),spec={'defaultBackend':{'service':{'name':'a','port':{'number':80}}}}))
base('/apis/coordination.k8s.io/v1/namespaces/default/leases',dict(M(),spec={'leaseTransitions':5}))
base('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',dict(M(),addressType='IPv4',endpoints=[]))
base('/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas',dict(M(),spec={'priorityLevelConfiguration':{'name':'exempt'}}))
base('/apis/apps/v1/namespaces/default/controllerrevisions',dict(M(),revision=3,data={'a':1}))
def up(k,b,sub=''): patch((k if k.startswith('/') else N+k)+'/aim'+sub,b)
def spec(k,sub='',**s): up(k,{'spec':s},sub)
def st(k,**s): up(k,{'status':s},'/status')
D=A+'deployments'; SS=A+'statefulsets'; DS=A+'daemonsets'; RSs=A+'replicasets'; J=B+'jobs'; CJ=B+'cronjobs'
# meta
for k in ('pods',D,'services','/api/v1/nodes'):
    for m in ({'name':'x'},{'namespace':'y'},{'uid':'z'},{'generateName':'q-'},{'labels':{'a b':'c'}},{'labels':{'a':'b c'}},
            {'annotations':{'A b':'c'}},{'annotations':{'a':'x'*262145}},{'finalizers':['x']},{'finalizers':['a.b/c','']},
            {'ownerReferences':[{}]},{'ownerReferences':[{'apiVersion':'v1','kind':'Pod','name':'p','uid':'u','controller':True},
            {'apiVersion':'v1','kind':'Pod','name':'q','uid':'w','controller':True}]},{'ownerReferences':[{'apiVersion':'v1','kind':'Event','name':'p','uid':'u'}]},
            {'deletionTimestamp':'2020-01-01T00:00:00Z'},{'deletionGracePeriodSeconds':3},{'generation':-1},{'resourceVersion':'x'},
            {'resourceVersion':'1'},{'creationTimestamp':'2020-01-01T00:00:00Z'},{'managedFields':[{}]},{'managedFields':[{'manager':'m','operation':'x','apiVersion':'v1','fieldsType':'FieldsV1','fieldsV1':{}}]},
            {'managedFields':[{'manager':'m','operation':'Update','apiVersion':'v1','fieldsType':'x','fieldsV1':{}}]},
            {'managedFields':[{'manager':'m'*129,'operation':'Update','apiVersion':'v1','fieldsType':'FieldsV1','fieldsV1':{}}]},
            {'selfLink':'x'}): up(k,{'metadata':m})
# pods
for s in ({'containers':[dict(CC,image='j'),{'name':'d','image':'i:1'}]},{'containers':[dict(CC)]},{'containers':[dict(CC,command=['x']),
        {'name':'d','image':'i:1'}]},{'activeDeadlineSeconds':5},{'activeDeadlineSeconds':-5},{'terminationGracePeriodSeconds':5},
        {'tolerations':[]},{'tolerations':[{'key':'a','operator':'Exists','tolerationSeconds':3}]},{'tolerations':[{'key':'a','operator':'Exists'},
        {'key':'b','operator':'Exists'}]},{'nodeSelector':{'a':'b'}},{'nodeName':'n'},{'schedulingGates':[{'name':'g'}]},
        {'restartPolicy':'Never'},{'affinity':{}},{'hostNetwork':True},{'priority':5},{'serviceAccountName':'x'},
        {'initContainers':[{'name':'i','image':''}]},{'ephemeralContainers':[{'name':'e','image':'i'}]}): spec('pods',**s)
for e in ([{'name':'e','image':'i'}],[{'name':'e'}],[{'name':'c','image':'i'}],[{'name':'e','image':'i','targetContainerName':'q'}],
        [{'name':'e','image':'i','ports':[{'containerPort':1}]}],[{'name':'e','image':'i','resources':{'limits':{'cpu':'1'}}}],
        [{'name':'e','image':'i','livenessProbe':{'tcpSocket':{'port':1}}}],[{'name':'e','image':'i','lifecycle':{}}],
        [{'name':'e','image':'i','restartPolicy':'Always'}],[{'name':'e','image':'i','volumeMounts':[{'name':'x','mountPath':'/x'}]}],
        [{'name':'e','image':'i'},{'name':'e','image':'i'}]): spec('pods','/ephemeralcontainers',ephemeralContainers=e)
for s in ({'containers':[dict(CC,resources={'requests':{'cpu':'2'},'limits':{'cpu':'2'}}),{'name':'d','image':'i:1'}]},
        {'containers':[dict(CC,resources={})]},{'containers':[dict(CC,resources={'requests':{'cpu':'1'},'limits':{'cpu':'1','memory':'1'}}),
        {'name':'d','image':'i:1'}]},{'nodeName':'x'}): spec('pods','/resize',**s)
for s in ({'phase':'x'},{'phase':'Running'},{'nominatedNodeName':'A b'},{'conditions':[{'type':'','status':'x'}]},
        {'conditions':[{'type':'A b','status':'True'}]},{'containerStatuses':[{'name':'c','state':{'waiting':{},
        'running':{}}}]},{'containerStatuses':[{'name':'q'}]},{'containerStatuses':[{'name':'c','restartCount':-1}]},
        {'qosClass':'Burstable'},{'resourceClaimStatuses':[{'name':'x'}]},{'hostIP':'x'},{'startTime':'x'},{'observedGeneration':-1},
        {'containerStatuses':[{'name':'c','allocatedResourcesStatus':[{'name':'x'}]}]},{'resize':'x'}): st('pods',**s)
# workloads
for k in (D,SS,DS,RSs):
    for s in ({'selector':{'matchLabels':{'a':'b','c':'d'}}},{'selector':{'matchLabels':None}},{'template':{'metadata':{'labels':None}}},
            {'template':{'spec':{'restartPolicy':'Never'}}},{'replicas':-1},{'minReadySeconds':-1},{'template':{'spec':{'containers':[]}}}): spec(k,**s)
for s in ({'serviceName':'t'},{'podManagementPolicy':'Parallel'},{'volumeClaimTemplates':[]},{'revisionHistoryLimit':3},
        {'ordinals':{'start':1}},{'persistentVolumeClaimRetentionPolicy':{'whenDeleted':'Delete'}},{'volumeClaimTemplates':[{'metadata':{'name':'v'},
        'spec':{'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'2Gi'}}}}]}): spec(SS,**s)
for k in (D,SS,DS,RSs):
    for s in ({'replicas':-1},{'readyReplicas':5},{'availableReplicas':5,'readyReplicas':1,'replicas':1},{'observedGeneration':-1},
            {'collisionCount':-1},{'updatedReplicas':9},{'currentReplicas':-1},{'numberReady':-1},{'conditions':[{}]},
            {'unavailableReplicas':-1},{'terminatingReplicas':-1}): st(k,**s)
for s in ({'completions':4},{'completions':4,'parallelism':4},{'completionMode':'NonIndexed'},{'backoffLimitPerIndex':1},
        {'podFailurePolicy':{'rules':[]}},{'managedBy':'a.b/c'},{'successPolicy':{'rules':[{'succeededCount':1}]}},
        {'selector':{'matchLabels':{'a':'b'}}},{'template':{'spec':{'containers':[dict(CC,image='j')]}}},{'template':{'spec':{'nodeSelector':{'a':'b'}}}},
        {'template':{'metadata':{'annotations':{'a':'b'}}}},{'template':{'spec':{'containers':[dict(CC,resources={'requests':{'cpu':'1'}})]}}},
        {'suspend':False},{'parallelism':-1},{'manualSelector':True},{'podReplacementPolicy':'Failed'},{'ttlSecondsAfterFinished':-1}): spec(J,**s)
for s in ({'active':-1},{'succeeded':-1},{'failed':-1},{'ready':5},{'ready':-1},{'terminating':-1},{'startTime':'2020-01-01T00:00:00Z'},
        {'completionTime':'2020-01-01T00:00:00Z'},{'conditions':[{'type':'Complete','status':'True'}]},{'conditions':[{'type':'Failed','status':'True'},
        {'type':'Complete','status':'True'}]},{'conditions':[{'type':'FailureTarget','status':'True'}]},{'conditions':[{'type':'SuccessCriteriaMet','status':'True'}]},
        {'completedIndexes':'1,0'},{'completedIndexes':'0-9'},{'failedIndexes':'1'},{'uncountedTerminatedPods':{'succeeded':['a','a'],
        'failed':['']}},{'uncountedTerminatedPods':{'succeeded':['a'],'failed':['a']}}): st(J,**s)
for s in ({'schedule':'TZ=UTC * * * * *'},{'timeZone':'x'},{'concurrencyPolicy':'x'}): spec(CJ,**s)
# services
for s in ({'clusterIP':'10.0.0.9'},{'clusterIP':'None'},{'clusterIP':''},{'clusterIPs':[]},{'clusterIPs':['10.0.0.9']},
        {'clusterIP':None,'clusterIPs':None},{'ipFamilies':['IPv6']},{'ipFamilies':['IPv4','IPv6']},{'ipFamilyPolicy':'PreferDualStack'},
        {'ipFamilyPolicy':'RequireDualStack'},{'type':'ExternalName'},{'type':'ExternalName','externalName':'a.b'},
        {'type':'ExternalName','externalName':'a.b','clusterIP':None,'clusterIPs':None},{'type':'NodePort'},{'type':'LoadBalancer','loadBalancerClass':'a.b/c'},
        {'sessionAffinity':'ClientIP'},{'ports':[]},{'ports':[{'port':80,'nodePort':30001}]},{'selector':{'a b':'c'}},
        {'externalIPs':['x','127.0.0.1']},{'healthCheckNodePort':5}): spec('services',**s)
for s in ({'loadBalancer':{'ingress':[{'ip':'x'}]}},{'loadBalancer':{'ingress':[{'ip':'1.2.3.4'}]}},{'loadBalancer':{'ingress':[{'hostname':'A'}]}},
        {'loadBalancer':{'ingress':[{'hostname':'1.2.3.4','ipMode':'x'}]}},{'loadBalancer':{'ingress':[{'ip':'1.2.3.4','ipMode':'x','ports':[{'port':0,'protocol':'x','error':'a b'}]}]}},
        {'conditions':[{}]}): st('services',**s)
# storage
for s in ({'resources':{'requests':{'storage':'1Gi'}}},{'resources':{'requests':{'storage':'3Gi'}}},{'accessModes':['ReadWriteMany']},
        {'storageClassName':'y'},{'volumeName':'v'},{'volumeMode':'Block'},{'selector':{}},{'volumeAttributesClassName':'x'},
        {'dataSource':{'kind':'PersistentVolumeClaim','name':'z'}}): spec('persistentvolumeclaims',**s)
for s in ({'phase':'x'},{'accessModes':['x']},{'capacity':{'storage':'-1'}},{'capacity':{'x':'1'}},{'conditions':[{}]},
        {'allocatedResources':{'storage':'1'}},{'allocatedResources':{'x':'1'}},{'allocatedResourceStatuses':{'storage':'x'}},
        {'currentVolumeAttributesClassName':'A b'},{'modifyVolumeStatus':{}}): st('persistentvolumeclaims',**s)
PV='/api/v1/persistentvolumes'
for s in ({'capacity':{'storage':'2Gi'}},{'hostPath':{'path':'/y'}},{'hostPath':None,'nfs':{'server':'a','path':'/'}},
        {'volumeMode':'Block'},{'nodeAffinity':{'required':{'nodeSelectorTerms':[{'matchExpressions':[{'key':'a','operator':'Exists'}]}]}}},
        {'storageClassName':'y'},{'persistentVolumeReclaimPolicy':'Delete'},{'claimRef':{'name':'a','namespace':'b'}},
        {'volumeAttributesClassName':''}): spec(PV,**s)
st(PV,phase='x')
st(PV,message='m',reason='a b')
for b in ({'data':{'a':'eA=='}},{'immutable':None},{'immutable':False},{'type':'x'},{'stringData':{'q':'r'}}): up('secrets',b)
for b in ({'data':{'a':'c'}},{'immutable':None},{'binaryData':{'z':'eA=='}}): up('configmaps',b)
up('/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings',{'roleRef':{'name':'y'}})
up('/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings',{'subjects':[{'kind':'User','name':''}]})
for b in ({'provisioner':'b'},{'parameters':{'a':'b'}},{'reclaimPolicy':'Retain'},{'volumeBindingMode':'WaitForFirstConsumer'},
        {'allowVolumeExpansion':True},{'mountOptions':['a']},{'allowedTopologies':[{'matchLabelExpressions':[{'key':'a','values':['b']}]}]}): up('/apis/storage.k8s.io/v1/storageclasses',b)
for b in ({'value':6},{'preemptionPolicy':'Never'},{'globalDefault':True},{'description':'d'}): up('/apis/scheduling.k8s.io/v1/priorityclasses',b)
up('/apis/node.k8s.io/v1/runtimeclasses',{'handler':'b'})
up('/apis/networking.k8s.io/v1/ingressclasses',{'spec':{'controller':'c.d/e'}})
for s in ({'podCIDR':'10.2.0.0/24'},{'podCIDR':None,'podCIDRs':None},{'providerID':'q'},{'providerID':''},{'unschedulable':True},
        {'taints':[{'key':'','effect':'NoSchedule'}]}): spec('/api/v1/nodes',**s)
for s in ({'capacity':{'cpu':'-1'}},{'capacity':{'x':'1'}},{'conditions':[{}]},{'addresses':[{'type':'x','address':''},
        {'type':'x','address':''}]},{'images':[{'names':[]}]},{'daemonEndpoints':{'kubeletEndpoint':{'Port':70000}}},
        {'volumesInUse':['a']},{'nodeInfo':{'swap':{'capacity':-1}}}): st('/api/v1/nodes',**s)
for s in ({'minAvailable':None,'maxUnavailable':1},{'selector':{'matchLabels':{'c':'d'}}},{'minAvailable':-1}): spec('/apis/policy/v1/namespaces/default/poddisruptionbudgets',**s)
for s in ({'currentHealthy':-1},{'disruptionsAllowed':-1},{'expectedPods':-1},{'desiredHealthy':-1},{'conditions':[{'type':'','status':'x'}]},
        {'conditions':[{'type':'a','status':'True','reason':'a b','lastTransitionTime':'2020-01-01T00:00:00Z'}]}): st('/apis/policy/v1/namespaces/default/poddisruptionbudgets',**s)
for s in ({'hard':{'cpu':'1'}},{'scopes':['Terminating']},{'scopes':None},{'hard':{'pods':'-1'}}): spec('resourcequotas',**s)
st('resourcequotas',hard={'x':'1'},used={'pods':'-1'})
for s in ({'loadBalancer':{'ingress':[{'ip':'x','hostname':'A','ports':[{'port':0,'protocol':'x','error':'a b'}]}]}},
        ): st('/apis/networking.k8s.io/v1/namespaces/default/ingresses',**s)
for s in ({'leaseTransitions':4},{'leaseDurationSeconds':0},{'acquireTime':'x'}): spec('/apis/coordination.k8s.io/v1/namespaces/default/leases',**s)
for b in ({'addressType':'IPv6'},{'endpoints':[{'addresses':['::1']}]},{'ports':[{'port':0}]}): up('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',b)
for b in ({'data':{'a':2}},{'revision':2},{'revision':-1}): up('/apis/apps/v1/namespaces/default/controllerrevisions',b)
# subresources
for k in (D,SS,RSs):
    for s in ({'replicas':-1},{'replicas':2},{}): spec(k,'/scale',**s)
    up(k,{'metadata':{'resourceVersion':'1'},'spec':{'replicas':2}},'/scale')
R.append(('POST',N+'serviceaccounts/default/token',{'spec':{'expirationSeconds':1}},None))
R.append(('POST',N+'serviceaccounts/default/token',{'spec':{'expirationSeconds':9000000000}},None))
R.append(('POST',N+'serviceaccounts/default/token',{'spec':{'boundObjectRef':{'kind':'x','name':'y'}}},None))
R.append(('POST',N+'serviceaccounts/none/token',{'spec':{}},None))
R.append(('POST',N+'pods/aim/binding?dryRun=All',{'target':{'name':''}},None))
R.append(('POST',N+'pods/aim/binding?dryRun=All',{'target':{'kind':'x','name':'n'}},None))
R.append(('POST',N+'pods/aim/eviction?dryRun=All',{'metadata':{'name':'other'}},None))
R.append(('POST',N+'pods/none/eviction?dryRun=All',{'metadata':{'name':'none'}},None))
R.append(('POST',N+'pods/aim/eviction?dryRun=All',{'metadata':{'name':'aim'},'deleteOptions':{'gracePeriodSeconds':-5}},None))
for q in ('tailLines=-1','limitBytes=0','sinceSeconds=0','sinceSeconds=1&sinceTime=2020-01-01T00:00:00Z','container=q','stream=x','tailLines=1&stream=Stdout','sinceTime=x','follow=x'): R.append(('GET',N+'pods/aim/log?'+q,None,None))
for b in ({'gracePeriodSeconds':-1},{'propagationPolicy':'x'},{'propagationPolicy':'Orphan','orphanDependents':True},
        {'preconditions':{'uid':'x'}},{'preconditions':{'resourceVersion':'1'}},{'dryRun':['x']},{'kind':'x','apiVersion':'v1'},
        {'kind':'DeleteOptions','apiVersion':'q/v9'},{'x':1},[],{'ignoreStoreReadErrorWithClusterBreakingPotential':True}): R.append(('DELETE',D+'/aim',dict({'dryRun':['All']},**b) if isinstance(b,dict) else b,None)) # a body is all: the query is not read then
for q in ('dryRun=x','fieldManager='+'m'*129,'fieldManager=a%01b','fieldValidation=x','dryRun=All&dryRun=All'): R.append(('PATCH',D+'/aim?'+q,{'spec':{'replicas':2}},
        'application/merge-patch+json'))

for method, path, body, kind in R:
    print(json.dumps({'class': 'aimed', 'request': [method, path, body, kind or 'application/json']}))
