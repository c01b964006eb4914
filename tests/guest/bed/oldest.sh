# Commands that take a newer kernel than the oldest that is supported, and some that do not although it might seem so.
. /steps.sh

folder=/out/oldest
mkdir -p $folder
add_publisher
until_true has_carrier publisher ts0
# `tried NAME WORDS`: what the program says, and its exit status.
tried() {
    name=$1
    shift
    triptime "$@" --quiet --no-flight-recorder --out $folder/$name.triptime >$folder/$name.txt 2>&1
    echo $? >$folder/$name.status
}
triptime trace p-ts --quiet --duration 1s --out $folder/trace.triptime >$folder/trace.txt 2>&1
echo $? >$folder/trace.status
tried busy-poll reflect p-ts --engine xdp --busy-poll --duration 1s
tried hwlat noise --cpus 1 --hwlat 1s --duration 100ms
ls -d /sys/kernel/tracing/instances/triptime-* >$folder/instances 2>/dev/null
say "tried"
clear_bed
