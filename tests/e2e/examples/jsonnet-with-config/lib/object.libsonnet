function(kind, config) { apiVersion: 'v1', kind: kind, metadata: { name: config.name, namespace: config.namespace } }
