#!/bin/busybox sh
# The guest's first process: makes the guest fit for tests, runs the scripts in /scenarios, and writes what that left in /out to the disk.

/bin/busybox mkdir -p /proc /sys /dev /run /tmp /out
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs run /run
mkdir /run/netns
while read -r module; do
    insmod "/modules/$module.ko" || echo "$module: cannot be loaded"
done </modules/order
# Nobody but the publisher sends.
echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
uname -r >/out/kernel

status=0
for scenario in /scenarios/*; do
    sh "$scenario" || status=$?
done
echo $status >/out/status
tar -c -f /dev/vda -C /out .
sync
poweroff -f
