#!/bin/bash
# The way back to a version that no catalog has any more (lifecycle.md 7.4): its stored plan is applied, with the bytes
# that it had; without that plan, or with other values, one refusal says what to do, and the dry run says the same.
# shellcheck disable=SC2119
set -u
# shellcheck source=tests/e2e/lib.sh
. tests/e2e/lib.sh
command -v kubectl >/dev/null || {
	echo "ok 1 - rollback without a catalog # SKIP no kubectl"
	exit 0
}
chart() { # VERSION
	mkdir -p "$dir/dice/templates"
	printf 'apiVersion: v2\nname: dice\nversion: %s\n' "$1" >"$dir/dice/Chart.yaml"
	printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: dice}\ndata: {v: "%s {{ .Values.x }} {{ randAlphaNum 12 }}"}\n' "$1" >"$dir/dice/templates/c.yaml"
	printf 'x: y\n' >"$dir/dice/values.yaml"
	alm package build "$dir/dice" -o "$catalog" >/dev/null
}
up_start
manifests
cd "$dir" || exit 1
drawn() { k get configmap dice -n dice -o 'jsonpath={.data.v}'; }
versions() { k get catalog community -o 'jsonpath={.status.versions}'; }
state() { k get apptype dice -o 'jsonpath={.status.installedVersion} {.status.conditions[?(@.type=="Ready")].reason}'; }

chart 1.0.0
k create -f catalog.yaml >/dev/null
printf 'apiVersion: app.coreos.com/v1beta1\nkind: AppType\nmetadata: {name: dice}\nspec: {type: com.example}\n' | k create -f - >/dev/null
soon "the first version" "1.0.0 Installed" state
first=$(drawn)
chart 1.1.0
soon "the second one" "1.1.0 Installed" state
rm "$catalog/dice-1.0.0.tgz"
soon "the first one is in no catalog any more" 1 versions
code "the dry run says that there is a way back" 0 "dice can go back to 1.0.0" alm rollback dice --to 1.0.0 --dry-run
code "and there is" 0 "apptype.app.coreos.com/dice" alm rollback dice --to 1.0.0 --reason INC-1
soon "the former version runs, and nothing says otherwise" "1.0.0 Installed" state
is "with the bytes that it had" "$first" "$(drawn)"
has "alm status tells that no catalog has it" "catalog community does not have 1.0.0 any more" "$(alm status)"
has "the log has who asked, and why" "INC-1" "$(alm audit query --reason RollbackAsked --data-dir "$data" -o json)"
k patch apptype dice --type=merge -p '{"spec":{"upgrade":{"to":null}}}' >/dev/null
soon "and forward again" "1.1.0 Installed" state

k patch apptype dice --type=merge -p '{"spec":{"values":{"x":"z"}}}' >/dev/null
has_z() { drawn | cut -d' ' -f1-2; }
soon "other values" "1.1.0 z" has_z
soon "are installed" "1.1.0 Installed" state
text="no catalog has 1.0.0 any more, and its stored plan has other values than spec.values; put its archive back into the catalog, or its values into spec.values"
code "with other values the archive is needed: the dry run" 3 "$text" alm rollback dice --to 1.0.0 --dry-run
code "and the real one" 3 "$text" alm rollback dice --to 1.0.0 --reason INC-2
k patch apptype dice --type=merge -p '{"spec":{"upgrade":{"to":"1.0.0"}}}' >/dev/null
soon "asked for without alm the app says so" "1.1.0 UpgradeBlocked" state
has "and names what is missing" "no catalog has dice 1.0.0 any more" "$(alm status)"
chart 1.0.0
soon "put back into the catalog it is installed" "1.0.0 Installed" state

# A version above what is installed is no way back, though it ran: it is judged as any other, by both.
tomorrow=$(date -u -d "+2 days" +%a)
k patch apptype dice --type=merge -p "{\"spec\":{\"upgrade\":{\"windows\":[{\"days\":[\"$tomorrow\"],\"from\":\"02:00\",\"to\":\"03:00\"}]}}}" >/dev/null
code "what holds it is told, and until when" 0 "it waits: 1.1.0; OutsideWindow until $tomorrow 02:00Z" alm upgrade dice --to 1.1.0
is "and to programs" "Asked it waits: 1.1.0; OutsideWindow until $tomorrow 02:00Z" "$(alm upgrade dice --to 1.1.0 -o json | jq -r '"\(.outcome) \(.message)"')"
k patch apptype dice --type=merge -p '{"spec":{"paused":true,"upgrade":{"to":"1.0.0"}}}' >/dev/null
code "a pause, too" 0 "it begins when spec.paused is false" alm upgrade dice --to 1.1.0
k patch apptype dice --type=merge -p '{"spec":{"paused":false,"upgrade":{"to":"1.0.0","windows":null}}}' >/dev/null
soon "back again" "1.0.0 Installed" state
mv "$catalog/dice-1.1.0.tgz" "$dir"
soon "the newer one is in no catalog any more" 1 versions
text="no catalog has 1.1.0 any more, and going forward is no way back: it is planned anew; put its archive back into the catalog"
code "which the dry run says" 3 "$text" alm rollback dice --to 1.1.0 --dry-run
code "as the real one does" 3 "$text" alm rollback dice --to 1.1.0 --reason INC-3
mv "$dir/dice-1.1.0.tgz" "$catalog"
soon "put back" 2 versions

# An attempt that fails does not undo that a version ran.
k patch apptype dice --type=merge -p '{"spec":{"upgrade":{"deadlines":{"installing":"1s"}}}}' >/dev/null
k patch configmap dice -n dice --type=merge -p '{"immutable":true}' >/dev/null
alm upgrade dice --to 1.1.0 >/dev/null
phases() { k get ist -o 'jsonpath={range .items[*]}{.spec.version}={.status.phase} {end}'; }
soon "its second attempt fails" "1.0.0=Succeeded 1.1.0=RolledBack " phases
text="RollbackRefused: PreviouslyFailed: 1.1.0 failed before with the same archive and values; to try it again: alm upgrade dice --to 1.1.0 --retry"
code "which the dry run says" 3 "$text" alm rollback dice --to 1.1.0 --dry-run
has "the history does not say that it never ran" "1.1.0     RolledBack   2" "$(alm history dice)"
k delete configmap dice -n dice >/dev/null
code "what is printed tries it again" 0 "asked for 1.1.0" alm upgrade dice --to 1.1.0 --retry
soon "and it runs" "1.0.0=Superseded 1.1.0=Succeeded " phases
k patch configmap dice -n dice --type=merge -p '{"immutable":true}' >/dev/null
alm rollback dice --to 1.0.0 --reason INC-4 >/dev/null
soon "a way back fails" "1.0.0=RolledBack 1.1.0=Succeeded " phases
k patch apptype dice --type=merge -p '{"spec":{"upgrade":{"to":null}}}' >/dev/null
code "another try is refused by the dry run" 3 "RollbackRefused: PreviouslyFailed: 1.0.0 failed before" alm rollback dice --to 1.0.0 --dry-run
rm "$catalog/dice-1.0.0.tgz"
soon "in no catalog any more" 1 versions
code "it ran, and its stored plan is a way back" 0 "dice can go back to 1.0.0" alm rollback dice --to 1.0.0 --dry-run
finish
