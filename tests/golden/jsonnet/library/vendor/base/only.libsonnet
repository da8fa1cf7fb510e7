{ map(n):: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: n } } }
