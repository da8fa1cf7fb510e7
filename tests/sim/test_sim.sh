#!/bin/sh
# The simulation: random faults, one fault at every point, disks, equal replays. A failing line of a log names the
# command that plays it again.
set -u
build=${BUILD:-build}
runs=${SIM_RUNS:-200}
n=0
bad=0
check() {
	name=$1
	shift
	n=$((n + 1))
	if out=$("$build/sim" "$@" 2>&1); then
		echo "ok $n - $name"
	else
		bad=1
		echo "not ok $n - $name"
	fi
	echo "$out" | sed 's/^not ok/# violation:/; s/^\([^#]\)/# \1/'
}

check sim__random_faults_on_the_server --scenario server --runs "$runs"
check sim__random_faults_on_the_toy_controller --scenario toy --runs "$runs"
check sim__random_faults_in_one_process --scenario toy --runs "$((runs / 2))" --seed 5000 --together
check sim__one_fault_at_every_point_of_the_server --scenario server --exhaustive
check sim__one_fault_at_every_point --scenario toy --exhaustive
check sim__one_fault_at_every_point_in_one_process --scenario toy --exhaustive --together
check sim__a_seed_replays_identically --scenario toy --runs 30 --seed 9000 --twice
check sim__power_loss_at_every_disk_operation --disk
echo "1..$n"
exit $bad
