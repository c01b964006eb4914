# Ways through a host that take kernel modules, each traced as it is found.
. /steps.sh

# Plays a virtual machine whose tap vnet0 the kernel's vhost thread empties; $machine is its process.
start_machine() {
    vmm vnet0 >"$folder/vhost-frames" &
    machine=$!
    until_true ip link show vnet0
}

end_machine() {
    kill $machine
    wait $machine
}

begin() {
    folder=/out/$1
    mkdir "$folder"
    say "bed: $1"
    add_publisher
}

# Traces while samples are published: `trace_bed RATE DURATION NAME ARGUMENTS`.
trace_bed() {
    rate=$1
    duration=$2
    shift 2
    until_true has_carrier device dut0
    start_subscriber dut0
    start_trace "$@"
    publish --rate "$rate" --duration "$duration"
    end_trace
    end_subscriber
}

# A bridge with a virtual machine and a container. Receive packet steering hands the container's frames to a CPU that a thread
# blocks now and then.
begin bridge
add_device
mkdir /tmp/sys
within device sh -c 'mount -t sysfs sys /tmp/sys && echo 2 >/tmp/sys/class/net/dut0/queues/rx-0/rps_cpus'
start_machine
ip link add br0 type bridge mcast_snooping 0
ip link set br0 up
for port in p-ts p-dut vnet0; do
    ip link set $port master br0 up
done
blocker 1 100 400 &
blocker=$!
trace_bed 250 5s bridge p-ts --threshold 60ms
kill $blocker
end_machine
clear_bed

# A container's macvlan, and a macvtap that a process reads.
begin macvlan
ip netns add device
ip link add link p-ts name dut0 type macvlan mode bridge
ip link set dut0 netns device
within device /bin/ip link set dut0 up
ip link add link p-ts name mvt0 type macvtap mode bridge
# Else it takes no multicast but what its reader has asked for.
ip link set mvt0 allmulticast on up
cat /dev/tap"$(cat /sys/class/net/mvt0/ifindex)" >/dev/null &
reader=$!
trace_bed 500 1500ms macvlan p-ts --no-flight-recorder
kill $reader
clear_bed

# Open vSwitch's kernel datapath with a virtual machine and a container.
begin ovs
add_device
start_machine
export OVS_RUNDIR=/run/ovs OVS_LOGDIR=/run/ovs OVS_DBDIR=/run/ovs
mkdir /run/ovs
ovsdb-tool create /run/ovs/conf.db /usr/share/openvswitch/vswitch.ovsschema
ovsdb-server --detach --pidfile --remote=punix:/run/ovs/db.sock /run/ovs/conf.db
ovs-vsctl --no-wait init
ovs-vswitchd --detach --pidfile unix:/run/ovs/db.sock
ovs-vsctl add-br ovsbr0
for port in p-ts p-dut vnet0; do
    ip link set $port up
    ovs-vsctl add-port ovsbr0 $port
done
trace_bed 500 1500ms ovs p-ts --no-flight-recorder
end_machine
