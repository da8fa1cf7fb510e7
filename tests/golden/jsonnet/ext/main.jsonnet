{ [std.extVar('key')]: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: std.extVar('name') }, data: { v: std.extVar('empty') } } }
