#!/bin/bash
# What waits for a person (lifecycle.md 4.1, 6): one version at a time, and an approval whose time runs while it waits.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - states that wait # SKIP no kubectl"
	exit 0
}
up_start
resident() { [ "$(awk '/^VmRSS/ {print $2}' "/proc/$pid/status")" -lt 20480 ] && echo yes; }
# Processor time, in hundredths of a second: how busy the machine is changes nothing of it.
of_alm() { awk '{print $14 + $15}' "/proc/$pid/stat"; }
of_kubectl() {
	python3 -c 'import resource, subprocess
subprocess.run(["kubectl", "version", "--client"], stdout=subprocess.DEVNULL, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(int((used.ru_utime + used.ru_stime) * 100) + 1)'
}
is_cheap() { [ "$1" -le "$2" ] && echo yes || echo "$1, want at most $2"; }
case $BUILD in
*address*)
	skip "N11 alm up at rest has less than 20 MiB" "sanitizers have memory of their own"
	skip "N11 it is there for the work of three kubectl version" "and work of their own"
	;;
*)
	started=$(of_alm)
	is "N11 it is there for the work of three kubectl version" yes "$(is_cheap "$started" $((3 * $(of_kubectl))))"
	soon "N11 alm up at rest has less than 20 MiB" yes resident
	;;
esac
manifests
cd "$dir" || exit 1
package 0.9.4 >/dev/null
sed -i 's/mode: Automatic/mode: Manual/' etcd-apptype.yaml
before=$(writes)
k create -f catalog.yaml -f etcd-apptype.yaml >/dev/null
app_is etcd "status.installedVersion = '0.9.4'" >/dev/null
n=$(($(writes) - before))
is "N11 its twelve objects and their CRD are there after at most 100 writes" yes "$(is_cheap "$n" 100)"
phases() { k get ist -o 'jsonpath={range .items[*]}{.spec.version}={.status.phase} {end}'; }
condition() { k get ist install.0.9.5.etcd.com.tectonic.storage -o 'jsonpath={.status.conditions[?(@.type=="Approved")].reason}'; }

package 0.9.5 >/dev/null
soon "A34 a newer version waits" "0.9.4=Succeeded 0.9.5=AwaitingApproval " phases
k patch apptype etcd --type=merge -p '{"spec":{"values":{"replicas":2}}}' >/dev/null
soon "A34 changed values wait, and the newer version gives way" "0.9.4=AwaitingApproval 0.9.5=Superseded " phases
code "A34 what gave way never ran, and is no way back" 3 "RollbackRefused: 0.9.5 never ran, it is Superseded" alm rollback etcd --to 0.9.5 --dry-run
has "A34 the history says so" "0.9.5     Superseded, never ran" "$(alm history etcd)"
code "A34 approved" 0 "" alm approve etcd 0.9.4 --reason more
soon "A34 they are in, and the newer version waits again" "0.9.4=Succeeded 0.9.5=AwaitingApproval " phases
soon "A34 the values are in" "2" k get deployment etcd-operator -n etcd -o 'jsonpath={.spec.replicas}'

# N3: approved while paused, for longer than the approval holds.
k patch apptype etcd --type=merge -p '{"spec":{"paused":true,"upgrade":{"approvalTTL":"2s"}}}' >/dev/null
soon "N3 paused" "Paused" condition
k patch ist install.0.9.5.etcd.com.tectonic.storage --type=merge -p '{"spec":{"approved":true}}' >/dev/null
has_expired() {
	local at
	at=$(k get ist install.0.9.5.etcd.com.tectonic.storage -o 'jsonpath={.status.approval.expires}')
	[ -n "$at" ] && [ "$(date +%s)" -gt "$(date -d "$at" +%s)" ] && echo yes
}
soon "N3 the approval is recorded while it waits, and runs out" "yes" has_expired
k patch apptype etcd --type=merge -p '{"spec":{"paused":false}}' >/dev/null
soon "N3 it installs nothing afterwards" "ApprovalExpired" condition
is "N3 what ran runs" "0.9.4=Succeeded 0.9.5=AwaitingApproval " "$(phases)"
k patch ist install.0.9.5.etcd.com.tectonic.storage --type=merge -p '{"spec":{"approved":false}}' >/dev/null
soon "N3 taken back" "ApprovalRequired" condition
k patch apptype etcd --type=merge -p '{"spec":{"upgrade":{"approvalTTL":"1h"}}}' >/dev/null
code "N3 and approved again" 0 "" alm approve etcd 0.9.5 --reason again
soon "N3 it is installed" "0.9.4=Superseded 0.9.5=Succeeded " phases

# Approval out of git: a range of versions.
package 0.9.6 >/dev/null
soon "16 another version waits" "0.9.4=Superseded 0.9.5=Succeeded 0.9.6=AwaitingApproval " phases

# Whoever deletes the strategy of what runs gives no consent to another version (lifecycle.md 8).
deployment() { k get deployment etcd-operator -n etcd -o 'jsonpath={.metadata.uid}'; }
before=$(deployment)
k delete ist install.0.9.5.etcd.com.tectonic.storage >/dev/null
soon "8 the deleted strategy of what runs is made again" "0.9.4=Superseded 0.9.5=Succeeded 0.9.6=AwaitingApproval " phases
is "8 and its objects stayed" "$before" "$(deployment)"

# An Automatic app beside it waits for nobody (lifecycle.md 4.1).
tool() { # VERSION
	mkdir -p tool/templates
	printf 'apiVersion: v2\nname: tool\nversion: %s\n' "$1" >tool/Chart.yaml
	printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: tool}\n' >tool/templates/c.yaml
	alm package build tool -o "$catalog" >/dev/null
}
tool 1.0.0
printf 'apiVersion: app.coreos.com/v1beta1\nkind: AppType\nmetadata: {name: tool}\nspec: {type: com.example}\n' | k create -f - >/dev/null
app_is tool "status.installedVersion = '1.0.0'" >/dev/null
tool 1.1.0
soon "15 an Automatic app beside it is upgraded" "1.1.0" k get apptype tool -o 'jsonpath={.status.installedVersion}'
is "15 and the Manual one waits as before" "0.9.4=Superseded 0.9.5=Succeeded 0.9.6=AwaitingApproval " \
	"$(k get ist -o 'jsonpath={range .items[?(@.spec.appTypeRef.name=="etcd")]}{.spec.version}={.status.phase} {end}')"
k delete apptype tool >/dev/null
soon "15 which goes alone" "" k get ist -o 'jsonpath={.items[?(@.spec.appTypeRef.name=="tool")].metadata.name}'

k patch apptype etcd --type=merge -p '{"spec":{"upgrade":{"approveVersion":">=0.9.0 <0.9.6"}}}' >/dev/null
generation=$(k get apptype etcd -o 'jsonpath={.metadata.generation}')
soon "16 a range without it" "$generation" k get apptype etcd -o 'jsonpath={.status.observedGeneration}'
is "16 approves nothing else" "0.9.4=Superseded 0.9.5=Succeeded 0.9.6=AwaitingApproval " "$(phases)"
k patch apptype etcd --type=merge --field-manager=flux -p '{"spec":{"upgrade":{"approveVersion":"0.9.x"}}}' >/dev/null
soon "16 one with it does" "0.9.4=Superseded 0.9.5=Superseded 0.9.6=Succeeded " phases
is "16 the status tells whose manifest" "approveVersion (manager flux)" \
	"$(k get ist install.0.9.6.etcd.com.tectonic.storage -o 'jsonpath={.status.approval.by}')"
has "16 the log tells the user" "spec.upgrade.approveVersion is 0.9.x" "$(k get auditrecords -o yaml --field-selector type=Approval)"
up_stop
code "and the log is whole" 0 "" alm audit verify --data-dir "$data"
finish
