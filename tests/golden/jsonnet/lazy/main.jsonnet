local broken = error 'never', absent = import 'absent.libsonnet';
local o = { a: 1, b: broken, c:: absent };
{ ok: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'lazy' }, data: { a: '' + o.a } } }
