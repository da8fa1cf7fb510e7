local o = { 'schlüssel': '日本語 🎉', 'a\u2028b': 'line\u2028separator', ctl: '\u0007\u001f\u007f' };
{ 'ü.yaml': { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'u' }, data: o } }
