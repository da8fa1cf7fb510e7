#!/usr/bin/env python3
"""protobuf_answers.py URL TOKEN >protobuf_answers.jsonl: what protobuf.jsonl lacks: lists, a Status, and the events of a watch, in
both forms, as a real kube-apiserver answers them. tests/unit/alm/apiserver/wire/test_protobuf.c makes the first of the second."""
import binascii
import json
import ssl
import sys
import urllib.request

url, token = sys.argv[1], sys.argv[2]
ctx = ssl._create_unverified_context()


def ask(path, accept):
    r = urllib.request.Request(url + path, headers={'Authorization': 'Bearer ' + token, 'Accept': accept})
    try:
        with urllib.request.urlopen(r, context=ctx) as a:
            return a.read()
    except urllib.error.HTTPError as e:
        return e.read()


def show(path, is_watch=False):
    data, text = ask(path, 'application/vnd.kubernetes.protobuf'), ask(path, 'application/json')
    print(json.dumps({'path': path, 'hex': binascii.hexlify(data).decode(), 'events' if is_watch else 'json': [
        json.loads(x) for x in text.splitlines()] if is_watch else json.loads(text)}))


ONE = '/api/v1/namespaces?fieldSelector=metadata.name=default'
show('/api/v1/configmaps?fieldSelector=metadata.name=nope')
show(ONE + '&limit=1&resourceVersion=0')
show('/api/v1/namespaces?limit=1&fieldSelector=metadata.name!=nope')
show('/apis/rbac.authorization.k8s.io/v1/clusterroles?limit=3')
show('/api/v1/namespaces/nope')
show('/api/v1/namespaces?limit=-1')
show('/api/v1/namespaces?continue=x')
show(ONE + '&watch=1&timeoutSeconds=1', True)
show('/api/v1/namespaces?watch=1&timeoutSeconds=1', True)
