# A virtual machine that receives on eth0 what its host hands over: traced inside, and received, until the host says so.
. /steps.sh

ip link set eth0 up
folder=/out/delivery
mkdir -p $folder
triptime subscribe eth0 --receive block --window 1s --no-flight-recorder --quiet \
    --out $folder/subscribe.triptime >$folder/subscribe.txt 2>&1 &
subscriber=$!
until_true has_packet_socket $subscriber
start_trace delivery eth0 --record --no-flight-recorder
echo "GUEST IS READY"
read -r _
# The guest may be far behind its host: all that was sent has come when nothing comes any more.
until_true is_quiet eth0
echo "GUEST IS QUIET"
read -r _
end_trace
end_subscriber
cat $folder/subscribe.txt
