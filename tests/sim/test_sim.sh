#!/bin/sh
# The simulation: random faults, one fault at every point, disks, equal replays. A failing line of a log names the
# command that plays it again. What each job came to, all its runs together, is compared with recorded.txt (tests/lib/digests.h):
# `make check RUN=test_sim.sh SIM_RECORD=1` records it anew, after a change that is meant; --list prints the jobs.
# A part of it, that `make test` ends in eight minutes: `make check RUN=test_sim.sh SIM_RUNS=200 SIM_EVERY=1` is the whole.
# SIM_RUNS=N: seeds of the small scenarios, of which the story, whose run costs ten times as much, takes three fifths (half of
# them in one process); SIM_EVERY=N: only every n-th point of the operator's
# scenarios, of which the kinds of faults take turns. A build with sanitizers takes fewer of both and says so.
set -u
build=${BUILD:-build}
if [ "${1:-}" = --job ]; then
	# shellcheck disable=SC2086 # words
	set -- $2
	name=$1
	shift
	key="$name $*"
	"$build/sim" --edges "$build/edges.taken" --recorded "$key" "$@" >"$build/$name.log" 2>&1
	echo $? >"$build/$name.code"
	exit 0
fi
runs=80
every=3
lost=1             # of the pairs of an operation and a way to lose power 1 in so many
sweep=--exhaustive # a point costs as much as three stories
case $build in *address*)
	runs=16
	every=23
	lost=4
	sweep=--crash-only
	;;
esac
runs=${SIM_RUNS:-$runs}
every=${SIM_EVERY:-$every}
few=$(((runs + 9) / 10))
story=$(((runs * 3 + 9) / 10)) # in each of the two ways
n=0
bad=0
whole=$([ "$runs" -eq 80 ] && [ "$every" -eq 3 ] && [ "$lost" -eq 1 ] && echo yes) # as it is recorded
[ "${1:-}" = --list ] || echo "# $((story * 2)) seeds of the story; of the points of install and upgrade 1 in $every"

# A job is a line, NAME ARGUMENTS of sim; one core takes one at a time, so that none waits for the others' longest.
jobs() {
	echo "sim__random_faults_on_the_story --scenario story --runs $story"
	echo "sim__random_faults_on_the_story_in_one_process --scenario story --runs $story --seed 3000 --together"
	echo "sim__a_removal_after_a_restart_on_old_lists --scenario remove --seed 2 --together"
	echo "sim__ten_versions_of_an_app_one_after_the_other --scenario versions --seed 2 --fault none"
	echo "sim__ten_apps_live_through_a_week --scenario week --fault none"
	echo "sim__twelve_apps_at_once_in_one_process --scenario crowd --fault none --together"
	echo "sim__random_faults_on_a_migration --scenario migrate --runs $few"
	echo "sim__a_story_replays_identically --scenario story --runs 3 --seed 7000 --twice"
	echo "sim__random_faults_on_an_approval_race --scenario race --runs $few --together"
	echo "sim__random_faults_while_objects_drift --scenario drift --runs $few"
	echo "sim__random_faults_on_a_removal --scenario remove --runs $few --together"
	echo "sim__random_faults_on_removal_and_return --scenario again --runs $few"
	echo "sim__random_faults_on_a_reconcile_that_stalls --scenario stalled --runs $few"
	echo "sim__random_faults_on_a_catalog_that_goes_bad --scenario catalog --runs $few"
	echo "sim__all_that_can_fail --scenario ways --fault none"
	echo "sim__a_first_install_that_fails --scenario first --fault none"
	echo "sim__random_faults_on_all_that_can_fail --scenario ways --runs $(((few + 1) / 2))"
	echo "sim__random_faults_on_a_first_install_in_one_process --scenario first --runs $(((few + 3) / 4)) --together"
	echo "sim__a_strategy_is_deleted_while_its_app_lives --scenario detached --runs $few"
	echo "sim__random_faults_on_alm_run_once --scenario oneoff --runs $few"
	echo "sim__random_faults_on_alm_run_at_an_interval --scenario interval --runs $few"
	echo "sim__random_faults_on_alm_run_for_objects --scenario resource --runs $few"
	echo "sim__random_faults_on_a_canary --scenario canary --runs $(((few + 6) / 7))"
	echo "sim__random_faults_on_what_nobody_declared --scenario sweep --runs $(((few + 4) / 5))"
	echo "sim__random_faults_on_a_bundle --scenario bundle --runs $(((few + 1) / 2))"
	echo "sim__a_fight_over_the_objects_of_a_bundle --scenario fight --fault none"
	echo "sim__what_is_applied_is_kept_while_revisions_are_refused --scenario held --fault none"
	echo "sim__random_faults_while_revisions_are_refused --scenario held --runs $(((few + 6) / 7))"
	echo "sim__random_faults_on_a_fight --scenario fight --runs $(((few + 7) / 8))"
	echo "sim__a_bundle_in_steps --scenario steps --fault none"
	echo "sim__random_faults_on_a_bundle_in_steps --scenario steps --runs $few"
	echo "sim__a_crash_at_writes_of_a_bundle_that_sweeps --scenario bundle-sweep --crash-only --writes-only --every $((every * 16))"
	echo "sim__two_alm_run_of_one_bundle --scenario pair --runs $(((few + 4) / 5))"
	for s in remove drift resource; do
		echo "sim__answers_that_overtake_each_other_on_$s --scenario $s --fault answer-held --runs $few"
	done
	echo "sim__a_late_write_of_an_inventory_that_is_gone --scenario resource --seed 27"
	echo "sim__a_late_create_where_the_clock_of_the_server_is_behind --scenario oneoff --seed 172"
	echo "sim__a_late_delete_of_what_is_wanted_again --scenario oneoff --seed 280"
	echo "sim__random_faults_on_the_server --scenario server --runs $runs"
	echo "sim__random_faults_on_the_toy_controller --scenario toy --runs $runs"
	echo "sim__random_faults_in_one_process --scenario toy --runs $((runs / 2)) --seed 5000 --together"
	echo "sim__a_seed_replays_identically --scenario toy --runs 30 --seed 9000 --twice"
	points
}
# Each of these forks over all cores, and waits for the last of its forks: the next one begins meanwhile.
points() {
	echo "sim__one_fault_at_every_point_of_the_server --scenario server --exhaustive"
	echo "sim__one_fault_at_every_point --scenario toy --exhaustive"
	echo "sim__one_fault_at_every_point_in_one_process --scenario toy --exhaustive --together"
	echo "sim__one_fault_at_every_point_of_an_install --scenario install --exhaustive --every $every"
	echo "sim__a_token_that_ends_at_every_write_of_an_install --scenario install --exhaustive --only revoked --every $every"
	echo "sim__a_crash_at_every_write_and_commit_of_an_install_in_one_process --scenario install --crash-only --every $every --together"
	echo "sim__a_crash_at_every_write_and_commit_of_an_upgrade --scenario upgrade --crash-only --every $((every * 2))"
	echo "sim__a_crash_at_every_write_and_commit_of_an_upgrade_in_one_process --scenario upgrade --crash-only --every $((every * 2)) --together"
	echo "sim__a_crash_at_every_write_of_a_migration_and_the_upgrade_it_frees --scenario migrate --crash-only --writes-only --every $every"
	echo "sim__a_crash_at_every_write_of_a_migration_with_other_writers --scenario writers --crash-only --writes-only --every $((every * 2))"
	for s in oneoff interval resource; do
		echo "sim__a_crash_at_every_write_and_commit_of_alm_run_$s --scenario $s --crash-only --every $((every * 2))"
		echo "sim__one_fault_at_every_point_of_alm_run_$s --scenario $s --exhaustive --every $((every * 4))"
		echo "sim__a_token_that_ends_at_a_write_of_alm_run_$s --scenario $s --exhaustive --only revoked --every $((every * 3))"
	done
	echo "sim__one_fault_at_points_of_a_bundle --scenario bundle --exhaustive --every $((every * 60))"
	echo "sim__a_crash_at_writes_of_the_canaries_of_a_bundle --scenario bundle-canary --crash-only --writes-only --every $((every * 16))"
	echo "sim__one_fault_at_every_point_of_what_nobody_declared --scenario sweep $sweep --writes-only --every $((every * 6))"
	echo "sim__power_loss_at_every_disk_operation --disk --every $lost"
	echo "sim__power_loss_at_every_disk_operation_of_an_upgrade_of_the_layout --upgrade --every $lost"
}
if [ "${1:-}" = --list ]; then
	jobs
	exit 0
fi
tell() {
	n=$((n + 1))
	if [ "$2" -eq 0 ]; then
		echo "ok $n - $1"
	else
		bad=1
		echo "not ok $n - $1"
	fi
	if grep -q ' was recorded in ' "$build/$1.log" 2>/dev/null; then
		echo "# what it does now: $build/sim $(sed -n "s/^$1 //p" "$build/sim.jobs") --trace (-v: all of it), and the same before the"
		echo "# change; if that is meant: make check RUN=test_sim.sh SIM_RECORD=1"
	fi
	sed '/^# not compared: /d; s/^not ok/# violation:/; s/^\([^#]\)/# \1/'
}
rm -f "$build"/sim__*.code "$build"/sim__*.log "$build/edges.taken" "$build/sim.digests"
if [ -n "${SIM_RECORD:-}" ] && [ -z "$whole" ]; then
	echo "not ok 1 - sim__digests: recorded of all seeds and points of a build without sanitizers alone"
	exit 1
fi
[ -z "${SIM_RECORD:-}" ] || export DIGESTS_RECORD="$build/sim.digests"
jobs >"$build/sim.jobs"
xargs -d '\n' -n 1 -P "$(nproc)" sh "$0" --job <"$build/sim.jobs"
while read -r name _; do
	tell "$name" "$(cat "$build/$name.code" || echo 1)" <"$build/$name.log"
done <"$build/sim.jobs"

# Every edge of phases and states is taken, here or by the unit test that edges.txt names.
untaken() {
	here=$(dirname "$0")
	sort -u "$build/edges.taken" >"$build/edges.seen"
	sed -n 's/ by .*//p' "$here/edges.txt" >>"$build/edges.seen"
	"$build/sim" --table | grep -vxF -f "$build/edges.seen" | sed 's/^/no run takes the edge /'
	sed -n 's/ by .*//p' "$here/edges.txt" | while read -r edge; do
		"$build/sim" --table | grep -qxF "$edge" || echo "not in the table any more: $edge"
		test=$(sed -n "s/^$edge by //p" "$here/edges.txt")
		grep -rqF "$test" "$here/../unit" || echo "no unit test $test"
	done
}

# The digests of all jobs: one line, of why they are not compared if they are not.
recorded=$(dirname "$0")/recorded.txt
n=$((n + 1))
others=$(cat "$build"/sim__*.log | grep -m 1 '^# not compared: ')
new=$(grep -L '^# digest [0-9a-f]*, as recorded$' "$build"/sim__*.log | wc -l)
if [ -n "${SIM_RECORD:-}" ] && [ $bad -ne 0 ]; then
	echo "not ok $n - sim__digests_are_recorded: not of a run that failed"
elif [ -n "${SIM_RECORD:-}" ]; then
	{
		echo "# libraries: $("$build/sim" --libraries)"
		LC_ALL=C sort -k 2 "$build/sim.digests"
	} >"$recorded"
	echo "ok $n - sim__digests_are_recorded"
elif [ -n "$others" ]; then
	echo "ok $n - sim__all_is_as_recorded # SKIP ${others#\# }"
elif [ ! -e "$recorded" ]; then
	echo "ok $n - sim__all_is_as_recorded # SKIP nothing is recorded yet: make check RUN=test_sim.sh SIM_RECORD=1"
elif [ "$new" -eq 0 ]; then
	echo "ok $n - sim__all_is_as_recorded"
elif [ -z "$whole" ]; then
	echo "ok $n - sim__all_is_as_recorded # SKIP $new jobs take other seeds here than were recorded"
else
	bad=1
	echo "not ok $n - sim__all_is_as_recorded"
	echo "# $new jobs are not, or are not recorded: make check RUN=test_sim.sh SIM_RECORD=1"
fi
if [ "$runs" -lt 80 ] || [ "$every" -gt 3 ]; then
	n=$((n + 1))
	echo "ok $n - sim__every_edge_of_phases_and_states_is_taken # SKIP asked of all seeds and points, not of a part"
else
	untaken >"$build/edges.log"
	[ ! -s "$build/edges.log" ]
	tell sim__every_edge_of_phases_and_states_is_taken $? <"$build/edges.log"
fi
echo "1..$n"
exit $bad
