# Functions that scenarios share. Read by them with `.`.

# Not the shell's own, which knows less.
ip() {
    /bin/ip "$@"
}

# Shows on the console how far it has come.
say() {
    echo "$(cut -d' ' -f1 /proc/uptime) $*"
}

# Until a command succeeds, but no longer than some minutes: an emulated machine takes its time to verify eBPF programs.
until_true() {
    tries=1500
    until "$@" >/dev/null 2>&1; do
        tries=$((tries - 1))
        if [ $tries -eq 0 ]; then
            echo "never came true: $*"
            cat /out/*/*.txt
            exit 1
        fi
        sleep 0.1
    done
}

# Runs a command in a network namespace.
within() {
    space=$1
    shift
    nsenter "--net=/run/netns/$space" "$@"
}

# The thread that reads the points' counts is started when all of them are watched.
is_tracing() {
    grep -q triptime-hops /proc/"$1"/task/*/comm
}

# Nothing came through the interface for a second.
is_quiet() {
    before=$(cat "/sys/class/net/$1/statistics/rx_packets")
    sleep 1
    [ "$before" = "$(cat "/sys/class/net/$1/statistics/rx_packets")" ]
}

has_packet_socket() {
    [ "$(wc -l <"/proc/$1/net/packet")" -gt 1 ]
}

has_carrier() {
    within "$1" /bin/ip link show "$2" | grep -q LOWER_UP
}

# A publisher in a namespace of its own, whose frames come out at p-ts.
add_publisher() {
    ip netns add publisher
    ip link add p-ts type veth peer name ts0 netns publisher
    ip link set p-ts up
    within publisher /bin/ip link set ts0 up
}

# A device in a namespace of its own; what is sent on p-dut comes to its dut0.
add_device() {
    ip netns add device
    ip link add p-dut type veth peer name dut0 netns device
    ip link set p-dut up
    within device /bin/ip link set dut0 up
}

# Starts tracing; $tracer is its process.
start_trace() {
    folder=/out/$1
    interface=$2
    shift 2
    triptime trace "$interface" --show-path >"$folder/way"
    triptime trace "$interface" --window 1s --quiet --out "$folder/trace.triptime" "$@" >"$folder/trace.txt" 2>&1 &
    tracer=$!
    until_true is_tracing $tracer
    say "tracing"
}

# Ends tracing, and keeps its exit status.
end_trace() {
    # Frames under way may still come.
    sleep 0.3
    kill -INT $tracer
    wait $tracer
    echo $? >"$folder/trace.status"
    say "traced"
    grep -v '^  hop/.*unexplained' "$folder/trace.txt"
}

# Receives in the device's namespace, on this interface; $subscriber is the process.
start_subscriber() {
    # Not by the function: it would run in a shell of its own, with another number.
    nsenter --net=/run/netns/device triptime subscribe "$1" --receive block --cpu 0 --window 1s --no-flight-recorder --quiet \
        --out "$folder/subscribe.triptime" >"$folder/subscribe.txt" 2>&1 &
    subscriber=$!
    until_true has_packet_socket $subscriber
}

end_subscriber() {
    kill -INT $subscriber
    wait $subscriber
    echo $? >"$folder/subscribe.status"
}

# Publishes in the publisher's namespace.
publish() {
    within publisher triptime publish ts0 --streams 1 --cpu 0 --window 1s --no-flight-recorder --quiet \
        --out "$folder/publish.triptime" "$@" >"$folder/publish.txt" 2>&1
    echo $? >"$folder/publish.status"
    say "published"
}

# Takes away what a bed left.
clear_bed() {
    for space in publisher device; do
        [ -e /run/netns/$space ] && ip netns del $space
    done
    for link in br0 vnet0; do
        ip link del $link 2>/dev/null
    done
    until_true sh -c '! /bin/ip link show p-ts'
}
