#!/bin/sh
# The simulation: random faults, one fault at every point, disks, equal replays. A failing line of a log names the
# command that plays it again.
set -u
build=${BUILD:-build}
runs=${SIM_RUNS:-200}
n=0
bad=0
# The long ones run beside the others: later NAME ARGS... starts, collect NAME tells.
later() {
	name=$1
	shift
	(
		"$build/sim" "$@" >"$build/$name.log" 2>&1
		echo $? >"$build/$name.code"
	) &
}
collect() {
	check "$1" collected
}
check() {
	name=$1
	shift
	n=$((n + 1))
	if [ "$1" = collected ]; then
		out=$(cat "$build/$name.log")
		code=$(cat "$build/$name.code")
	else
		out=$("$build/sim" "$@" 2>&1)
		code=$?
	fi
	if [ "$code" -eq 0 ]; then
		echo "ok $n - $name"
	else
		bad=1
		echo "not ok $n - $name"
	fi
	echo "$out" | sed 's/^not ok/# violation:/; s/^\([^#]\)/# \1/'
}

later sim__random_faults_on_the_story --scenario story --runs "$((runs / 2))"
check sim__random_faults_on_the_server --scenario server --runs "$runs"
check sim__random_faults_on_the_toy_controller --scenario toy --runs "$runs"
check sim__random_faults_in_one_process --scenario toy --runs "$((runs / 2))" --seed 5000 --together
check sim__one_fault_at_every_point_of_the_server --scenario server --exhaustive
check sim__one_fault_at_every_point --scenario toy --exhaustive
check sim__one_fault_at_every_point_in_one_process --scenario toy --exhaustive --together
check sim__a_seed_replays_identically --scenario toy --runs 30 --seed 9000 --twice
wait
later sim__random_faults_on_the_story_in_one_process --scenario story --runs "$((runs / 2))" --seed 3000 --together
check sim__one_fault_at_every_point_of_an_install --scenario install --exhaustive --every 2
check sim__one_fault_at_every_point_of_an_install_in_one_process --scenario install --exhaustive --every 3 --together
check sim__random_faults_on_an_approval_race --scenario race --runs "$((runs / 10))"
check sim__random_faults_while_objects_drift --scenario drift --runs "$((runs / 10))"
check sim__one_fault_at_points_of_an_upgrade --scenario upgrade --exhaustive --every 9
check sim__power_loss_at_every_disk_operation --disk
wait
collect sim__random_faults_on_the_story
collect sim__random_faults_on_the_story_in_one_process
echo "1..$n"
exit $bad
