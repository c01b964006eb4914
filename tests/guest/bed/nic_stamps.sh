# Cards whose driver claims time stamps, and whose clocks stand still: nothing is measured by them, and they are as before.
. /steps.sh

folder=/out/nic-stamps
mkdir -p $folder
for card in /sys/bus/pci/drivers/e1000e/*/net/*; do
    ls -d "$card/device/ptp/"* && name=${card##*/}
done
echo "$name" >$folder/card
ip link set "$name" up
for command in "listen $name" "subscribe $name" "talk $name" "publish $name" "reflect $name"; do
    triptime $command --stamps hardware --duration 1s --out $folder/run.triptime >>$folder/said.txt 2>&1
    echo $? >>$folder/statuses
done
say "stamps tried"
