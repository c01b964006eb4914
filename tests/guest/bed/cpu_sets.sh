# A measurement on a CPU that control groups of version 2 keep apart: killed in the middle, and the next one.
. /steps.sh

folder=/out/cpu-sets
groups=/sys/fs/cgroup
mkdir -p $folder
mount -t cgroup2 cgroup $groups
mkdir $groups/system.slice $groups/user.slice $groups/machine.slice
# The older kernel stands for a host that uses CPU sets already.
case $(uname -r) in
    5.10.*) echo +cpuset >$groups/cgroup.subtree_control ;;
esac
sleep 1000 &
service=$!
echo $service >$groups/system.slice/cgroup.procs
sleep 1000 &
chosen=$!
echo $chosen >$groups/machine.slice/cgroup.procs
# It would not keep its choice on its way into a group before Linux 6.2.
taskset -p 2 $chosen
cat >/cell.toml <<END
name = "parted"
what = "Wake-ups on a CPU that nothing else has"
limits = "substation"
window = "100ms"
[cpus]
housekeeping = "first"
measured = "rest"
[cell]
place = "native"
load = "none"
isolation = "cpuset"
[[step]]
probe = "wakeup"
duration = "3s"
interval = "10ms"
END

# Like a login's: its own group is not the top one.
measure() {
    sh -c "echo \$\$ >$groups/user.slice/cgroup.procs; exec triptime qualify /cell.toml --quiet --disturb --no-flight-recorder --out $folder/$1.triptime" \
        >$folder/$1.txt 2>&1 &
    measuring=$!
}

is_measuring() {
    grep -q wakeup /proc/$measuring/task/*/comm
}

state() {
    echo "others: $(ls -d $groups/triptime-others 2>/dev/null)"
    echo "controllers: $(cat $groups/cgroup.subtree_control)"
    for slice in system user machine; do
        echo "$slice: $(cat $groups/$slice.slice/cpuset.cpus 2>/dev/null)"
    done
    for process in $service $chosen; do
        grep Cpus_allowed_list /proc/$process/status
    done
}

state >$folder/before
measure first
until_true is_measuring
state >$folder/meanwhile
cat /proc/$measuring/cgroup >$folder/own
say "measuring"
kill -KILL $measuring
wait $measuring
measure second
until_true is_measuring
# A process that measures goes back to its group.
wait $measuring
echo $? >$folder/second.status
say "measured"
state >$folder/after
cat $folder/*.txt
kill $service $chosen
for slice in system user machine; do
    until_true rmdir $groups/$slice.slice
done
umount $groups
