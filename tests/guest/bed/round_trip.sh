# A round trip between two namespaces that sends by AF_XDP.
. /steps.sh

folder=/out/round-trip
mkdir -p $folder
add_publisher
until_true has_carrier publisher ts0
options="--engine packet-xdp --policy other --interval 10ms --quiet"
nsenter --net=/run/netns/publisher triptime reflect ts0 --role reflector $options --out $folder/far.triptime \
    >$folder/far.txt 2>&1 &
far=$!
say "measuring"
triptime reflect p-ts --role initiator $options --wait 60s --duration 5s --json --out $folder/near.triptime \
    >$folder/near.json 2>$folder/near.txt
echo $? >$folder/near.status
say "measured"
kill -INT $far
wait $far
cat $folder/*.txt
clear_bed
