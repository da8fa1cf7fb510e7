#!/bin/bash
# bench_replay.sh: what installs by alm controller take beyond what a real Kubernetes needs for the same requests alone (replay.py). ORACLE
# is a program: `ORACLE start DIR PORT` starts a Kubernetes on PORT to PORT + 2 whose programs' ids are in DIR/*.pid and whose kubeconfig is
# DIR/kubeconfig with the token admintoken, `ORACLE stop DIR` ends it. Here it is a script whose line of kube-apiserver has
# --allow-privileged and a /24 for Services: a copy of it gets the flags of an audit log and a /16. PORT=46443.
set -euo pipefail
skipped() {
	echo "bench_replay: skipped, $1"
	exit 0
}
[ -n "${ORACLE:-}" ] || skipped "ORACLE names no program that starts a real Kubernetes"
command -v kubectl >/dev/null || skipped "no kubectl"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/policy.yaml" <<'P'
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: Request, verbs: [create, update, patch, delete]}
- {level: Metadata}
P
sed "s|10.0.0.0/24|10.0.0.0/16|; s|--allow-privileged|& --audit-policy-file=$work/policy.yaml --audit-log-path=audit.log --audit-log-maxsize=10000|; s|^here=.*||" \
	"$ORACLE" >"$work/oracle"
chmod 700 "$work/oracle"
CLUSTER=$work/oracle python3 "$(dirname "$0")/replay.py" "${ALM:-build/alm}" "$work/run"
