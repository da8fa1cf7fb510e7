{ map(name, text):: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: name }, data: { text: text } } }
