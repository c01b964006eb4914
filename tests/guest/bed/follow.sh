# Single sampled values followed over a bridge into a container, by tracepoints and functions.
. /steps.sh

folder=/out/follow
mkdir -p $folder
mount -t tracefs tracefs /sys/kernel/tracing
add_publisher
add_device
ip link add br0 type bridge mcast_snooping 0
ip link set br0 up
for port in p-ts p-dut; do
    ip link set $port master br0 up
done
until_true has_carrier device dut0
# Seldom: each event takes such a guest long. Not by `within`: it would run in a shell of its own, with another number.
nsenter --net=/run/netns/publisher triptime publish ts0 --streams 1 --rate 250 --no-flight-recorder --quiet --out $folder/publish.triptime \
    >$folder/publish.txt 2>&1 &
publisher=$!
say "following"
triptime trace p-ts --follow 2 --stream MU01 --json --duration 60s >$folder/passages.json 2>$folder/passages.txt
echo $? >$folder/passages.status
say "followed"
kill $publisher
wait $publisher
cat $folder/*.txt
clear_bed
