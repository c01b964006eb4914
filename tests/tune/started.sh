# Starts the manager of systemd as that of a user, for which it mounts nothing: in namespaces, on the only writable control group ($2), with
# the tree $1 as /etc/systemd/system. Beforehand no thread is called ktimers/3; then the unit runs again beside one.
set -e
tree=$1
mount --bind "$2" /mnt
mount --bind /proc/sys /proc/sys
for place in /proc/sys $(cut -d' ' -f5 /proc/self/mountinfo | grep '^/sys' | sort -r); do
    mount -o remount,bind,ro "$place"
done
mount --move /mnt /sys/fs/cgroup
mount -t tmpfs none /run
mkdir -p /run/systemd/system /run/user /run/none
# Messages for the kernel's log go to a file.
: >/run/messages
mount --bind /run/messages /dev/kmsg
export XDG_RUNTIME_DIR=/run/user HOME=/run SYSTEMD_LOG_TARGET=kmsg
export SYSTEMD_UNIT_PATH="$tree/etc/systemd/system" SYSTEMD_GENERATOR_PATH=/run/none SYSTEMD_ENVIRONMENT_GENERATOR_PATH=/run/none
/lib/systemd/systemd --user --unit=multi-user.target >>/run/messages 2>&1 </dev/null &
manager=$!
until=$(($(date +%s) + 20))
state() {
    systemctl --user show triptime-ktimers.service -p "$1" --value 2>/dev/null || true
}
ended() {
    # Of the first run and of the second one.
    until [ "$(state ActiveState)" = inactive ] && [ "$(state ExecMainExitTimestampMonotonic)" -gt "$1" ]; do
        if ! kill -0 "$manager" || [ "$(state ActiveState)" = failed ] || [ "$(date +%s)" -gt "$until" ]; then
            cat /run/messages
            exit 1
        fi
    done
    echo "$2: $(state Result)"
}
ended 0 alone
before=$(state ExecMainExitTimestampMonotonic)
mkfifo /run/wait
for name in ktimers/3 myktimer; do
    sh -c "printf $name >/proc/\$\$/comm; : >/run/is_named; read line </run/wait" &
    until [ -e /run/is_named ]; do :; done
    rm /run/is_named
done
systemctl --user start triptime-ktimers.service
ended "$before" beside
for process in $(pgrep ktimer); do
    echo "$(cat "/proc/$process/comm"): $(chrt -p "$process" | tr '\n' ' ')"
done
