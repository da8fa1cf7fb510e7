# shellcheck shell=bash disable=SC2034,SC2154 # of lib.sh
# controllers.sh: sourced after lib.sh by scripts that run `alm controller` themselves, on alm server or a real cluster. Their app is
# etcd of catalog.yaml.
#	definitions                ALM's own are served: what is created of them is understood. An Established CRD is not, for a moment
#	first_version              the catalog, read each 2 s, and the app, with version 1.0.0
#	version VERSION            appears in the catalog: an operator whose definition stays as it is
#	installed                  the version of the app
#	found_here FILE NAME=PORT...	in the manifests of FILE Service NAME, and what leads to it, is this machine, where ALM listens on PORT
#	speaks_for_users           this cluster's API server names its users to APIServices of others (tests/cluster/front_proxy.sh)
#	records_here               before cluster_start, on such a cluster: it serves `kubectl get auditrecords`, over the chart's APIService
#	acts                       the process that works with the log
#	kill_in_upgrades SECONDS   ROUNDS versions, or as many as KILL_S seconds hold, of which each comes to its end although who acts is killed
#	                           in the first seconds of it, now and then twice; start of the script starts another one. last_transition is
#	                           done, and ROUNDS is how many there were
#	watch_transitions          from now on; until watch_ends, which the script's end calls, too
#	last_transition / transitions_are_once LOG	those of the app, before its controllers end; and after it. What was watched is in the log
definitions() { k get apps.app.coreos.com,catalogs.app.coreos.com,installstrategies.opinstaller.coreos.com >/dev/null 2>&1 && echo served; }
first_version() {
	sed -i 's/30s/2s/' "$dir/catalog.yaml"
	version 1.0.0
	k create -f "$dir/catalog.yaml" -f "$dir/etcd-apptype.yaml" >/dev/null
	WAIT_S=90 soon "an app" 1.0.0 installed
}
version() {
	rm -rf "$dir/chart"
	cp -R "$demo/charts/etcd-operator" "$dir/chart"
	cp -R "$demo/charts/overlays/0.9.5/." "$dir/chart/"
	"$alm_bin" package build "$dir/chart" --version "$1" -o "$catalog" >/dev/null
}
installed() { k get apptypes.app.coreos.com etcd -o 'jsonpath={.status.installedVersion}' 2>/dev/null; }
found_here() {
	python3 - "$@" <<'PY'
import sys
path, ports = sys.argv[1], dict(a.split("=") for a in sys.argv[2:])
parts = open(path, encoding="utf-8").read().split("\n---\n")
for i, p in enumerate(parts):
    for name, port in ports.items():
        if "\nkind: Service\n" in p and f"\n  name: {name}\n" in p:
            parts[i] = p[:p.index("\nspec:")] + "\nspec: {type: ExternalName, externalName: localhost, ports: [{port: %s}]}\n" % port
        elif f" name: {name}\n" in p and ("\nkind: APIService\n" in p or "\nkind: ValidatingWebhookConfiguration\n" in p):
            parts[i] = p.replace("port: 443", "port: " + port)
open(path, "w", encoding="utf-8").write("\n---\n".join(parts))
PY
}
speaks_for_users() {
	[ -n "$(k get configmap extension-apiserver-authentication -n kube-system -o 'jsonpath={.data.requestheader-client-ca-file}' 2>/dev/null)" ]
}
records_here() {
	local records
	records=$(free_port)
	controller_flags=(--records-listen "127.0.0.1:$records")
	"$alm_bin" template alm "$demo/../charts/alm" -n alm-system --set createNamespace=true,auditRecords.enabled=true \
		-s templates/namespace.yaml -s templates/auditrecords.yaml >"$dir/records.yaml"
	found_here "$dir/records.yaml" "alm-records=$records"
	k apply -f "$dir/records.yaml" >/dev/null
}
acts() { cat "$data/alm.db.lock" 2>/dev/null; }
watching=()
watch_transitions() {
	for kind in apptypes installstrategies; do
		kubectl get "$kind" --watch --output-watch-events -o json >"$dir/seen.$kind" 2>/dev/null &
		watching+=($!)
	done
}
watch_ends() {
	[ "${#watching[@]}" = 0 ] || kill "${watching[@]}" 2>/dev/null
	watching=()
}
rounds_left() { # ROUND BEGAN
	if [ "${KILL_S:-0}" -gt 0 ]; then [ "$((SECONDS - $2))" -lt "$KILL_S" ]; else [ "$1" -lt "$ROUNDS" ]; fi
}
kill_in_upgrades() {
	local round=0 leader killed began=$SECONDS
	watch_transitions
	while rounds_left "$round" "$began"; do
		version "1.0.$((++round))"
		killed=
		for _ in $(seq $((RANDOM % 4 ? 1 : 2))); do
			sleep "$((RANDOM % $1)).$((RANDOM % 10))" # sleep: the moment of the upgrade, not a wait for something
			leader=$(acts)
			kill -9 "$leader" 2>/dev/null
			killed="$killed $leader"
			start
		done
		WAIT_S=120 soon "upgrade $round ends although$killed was killed (SEED=$SEED)" "1.0.$round" installed
	done
	ROUNDS=$round
	last_transition
}
last_transition() {
	last=$(k get apptypes.app.coreos.com etcd -o 'jsonpath={.status.transitionSeq}')
	uid=$(k get apptypes.app.coreos.com etcd -o 'jsonpath={.metadata.uid}')
}
installed_twice() { jq -r '.[] | select(.reason == "Installed") | .body.version.to // empty' "$dir/transitions.json" | sort | uniq -d; }
# Each status that a user saw is that of one entry, word for word.
seen_elsewhere() { comm -13 <(sort -u "$dir/logged") <(jq -cS '.object | select(.status.transitionSeq) | [.metadata.uid, .status.transitionSeq, .status]' "$dir"/seen.* | sort -u); }
transitions_are_once() {
	code "the log is whole" 0 "" alm audit verify --data-dir "$1"
	alm audit query --data-dir "$1" --subject AppType/etcd --type Transition --limit 10000 -o json >"$dir/transitions.json"
	is "each transition is in it once, none is missing" "$(seq "${last:-0}")" \
		"$(jq -r --arg uid "$uid" '.[] | select(.subject.uid == $uid) | .transitionSeq' "$dir/transitions.json" | sort -n | head -"${last:-0}")"
	none "no version was installed twice" installed_twice
	[ -e "$dir/seen.apptypes" ] || return
	alm audit query --data-dir "$1" --type Transition --limit 10000 -o json |
		jq -cS '.[] | [.subject.uid, .transitionSeq, (.body.status | fromjson)]' >"$dir/logged"
	none "what was watched meanwhile is in it, word for word" seen_elsewhere
	none "no transition of a strategy is in it twice" uniq -d <(jq -c '[.[0], .[1]]' "$dir/logged" | sort)
	echo "# $(wc -l <"$dir/logged") transitions, of which $(jq -c .type "$dir"/seen.* | wc -l) events showed $(jq -c '.object | [.metadata.uid, .status.transitionSeq]' "$dir"/seen.* | sort -u | wc -l)"
}
