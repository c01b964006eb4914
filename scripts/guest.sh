#!/usr/bin/env bash
# Gets a kernel for the tests' guests: `guest.sh 6.12-rt`, `guest.sh 6.1-rt` or `guest.sh 5.10-rt`. Debian's package is downloaded and
# taken apart, not installed. A kernel of an older Debian comes from the same mirror, by lists of this script's own: what apt
# knows on this machine stays as it is. Leaves in target/guest/KERNEL:
#   vmlinux   uncompressed, which QEMU boots at once
#   modules/  what the guests load
#   order     the modules' names, each behind those it needs
#   vmlinuz   the same kernel as firmware boots it
#   disk/     a folder of the same modules and of those for a disk that boots by itself, with an order of its own
#   made-by   the sum of this script when it was made
# What is there already is kept, unless the script is another now. Ends with 3 and the reason when the package cannot be had or holds
# something else than is known here.
set -euo pipefail

kernel=${1:-}
# The Debian that has it, where that is not the one that runs here.
older=
case "$kernel" in
6.12-rt) meta=linux-image-6.12-rt-amd64 ;;
6.1-rt) meta=linux-image-rt-amd64 ;;
5.10-rt) meta=linux-image-rt-amd64 older=bullseye ;;
*)
    echo "guest.sh: unknown kernel \"$kernel\" (have: 6.12-rt, 6.1-rt, 5.10-rt)" >&2
    exit 2
    ;;
esac
wanted=(crc32c_generic virtio_pci virtio_net virtio_blk virtio_console e1000e bridge veth tun macvlan macvtap vhost_net openvswitch)
wanted_of_disk=(ahci sd_mod nvme vmw_pvscsi vfat nls_cp437 nls_ascii nls_iso8859_1 nls_utf8)

root=$(cd "$(dirname "$0")/.." && pwd)/target/guest
mkdir -p "$root"
# One at a time: tests of two crates may ask for the same kernel.
exec 9>"$root/lock"
flock 9
made_by=$(sha256sum <"$0")
[ "$(cat "$root/$kernel/made-by" 2>/dev/null)" = "$made_by" ] && exit 0

work=$(mktemp -d "$root/$kernel.XXXXXX")
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"

cannot() {
    echo "guest.sh: $1" >&2
    exit 3
}

# What makes apt look there instead, with lists and sources in the working folder.
apt=()
if [ -n "$older" ]; then
    newer=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    keys=/usr/share/keyrings/debian-archive-keyring.gpg
    mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial"
    # The mirror's address, as apt would ask for its lists: 'ADDRESS/dists/RELEASE/InRelease'. Not that of later corrections: a mirror
    # may list them longer than it has them.
    apt-get update --print-uris 2>/dev/null \
        | sed -n "s|^'\(.*\)/dists/$newer/InRelease'.*|deb [signed-by=$keys] \1 $older main|p" >"$work/apt/sources"
    [ -s "$work/apt/sources" ] || cannot "$kernel is in Debian's $older, and apt knows no mirror of Debian here"
    apt=(-o "Dir::Etc::sourcelist=$work/apt/sources" -o Dir::Etc::sourceparts=/dev/null -o "Dir::State::lists=$work/apt/lists"
        -o "Dir::Cache=$work/apt/cache" -o Acquire::Languages=none -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false
        # The last lists of a release that gets no more updates are past their time.
        -o Acquire::Check-Valid-Until=false)
fi
# No mirror that stands still is to hold a test up.
apt+=(-o APT::Sandbox::User=root -o Acquire::http::Timeout=30 -o Acquire::https::Timeout=30 -o Acquire::Retries=1)

# The package that the meta package stands for today; older ones leave the archive.
newest() {
    apt-cache "${apt[@]}" depends "$meta" 2>/dev/null | awk '/Depends: linux-image-'"${kernel%-rt}"'[.]/ { print $2; exit }'
}
download() {
    local package
    package=$(newest)
    [ -n "$package" ] && (cd "$work" && timeout 300 apt-get "${apt[@]}" download -qq "$package" >&2)
}
if ! download; then
    timeout 120 apt-get "${apt[@]}" update -qq >&2 || cannot "the lists of packages cannot be had"
    download || cannot "no package of $meta for kernel $kernel can be had"
fi

mkdir "$work/package"
dpkg --fsys-tarfile "$work"/*.deb | tar -x -C "$work/package" --wildcards './boot/vmlinuz-*' './lib/modules/*/kernel/net/*' \
    './lib/modules/*/kernel/lib/*' './lib/modules/*/kernel/crypto/*' './lib/modules/*/kernel/arch/x86/crypto/*' \
    './lib/modules/*/kernel/drivers/net/*.ko*' './lib/modules/*/kernel/drivers/vhost/*' './lib/modules/*/kernel/drivers/virtio/*' \
    './lib/modules/*/kernel/drivers/ptp/*' './lib/modules/*/kernel/drivers/pps/*' './lib/modules/*/kernel/drivers/block/virtio_blk.ko*' \
    './lib/modules/*/kernel/drivers/ata/*' './lib/modules/*/kernel/drivers/scsi/*' './lib/modules/*/kernel/drivers/nvme/*' \
    './lib/modules/*/kernel/drivers/char/*' './lib/modules/*/kernel/block/*' './lib/modules/*/kernel/fs/fat/*' './lib/modules/*/kernel/fs/nls/*' \
    || cannot "the package of $kernel does not hold what it did"

# The compressed kernel inside the boot image: its place and length stand in the header (Documentation/arch/x86/boot.rst). The last
# four octets are its length unpacked.
image=$(echo "$work"/package/boot/vmlinuz-*)
field() {
    od -An "-t$3" -j"$1" -N"$2" "$image" | tr -d ' '
}
sectors=$(field $((0x1f1)) 1 u1)
from=$(((sectors + 1) * 512 + $(field $((0x248)) 4 u4)))
length=$(($(field $((0x24c)) 4 u4) - 4))
payload() {
    dd if="$image" bs=1M iflag=skip_bytes,count_bytes skip="$from" count="$1" status=none
}
mkdir "$work/result"
case "$(payload 4 | od -An -tx1 | tr -d ' ')" in
28b52ffd) payload "$length" | zstd -dcq >"$work/result/vmlinux" ;;
fd377a58) payload "$length" | xz -dc >"$work/result/vmlinux" ;;
*) cannot "$kernel is packed in a way that is not known here" ;;
esac

mkdir "$work/result/modules"
declare -A added
# A module that is not in the package is built in.
add() {
    local name=$1 file dependency
    [ -z "${added[$name]:-}" ] || return 0
    added[$name]=yes
    file=$(find "$work/package/lib" -name "${name//_/[-_]}.ko*" -print -quit)
    [ -n "$file" ] || return 0
    case "$file" in
    *.xz) xz -dc "$file" >"$work/result/modules/$name.ko" ;;
    *) cp "$file" "$work/result/modules/$name.ko" ;;
    esac
    for dependency in $(grep -ao 'depends=[a-z0-9_,-]*' "$work/result/modules/$name.ko" | cut -d= -f2 | tr ',-' ' _'); do
        add "$dependency"
    done
    echo "$name" >>"$work/result/$list"
}
list=order
for module in "${wanted[@]}"; do
    add "$module"
done
cp "$image" "$work/result/vmlinuz"
mkdir "$work/result/disk"
ln -s ../modules "$work/result/disk/modules"
cp "$work/result/order" "$work/result/disk/order"
list=disk/order
for module in "${wanted_of_disk[@]}"; do
    add "$module"
done
echo "$made_by" >"$work/result/made-by"
rm -rf "${root:?}/$kernel"
mv "$work/result" "$root/$kernel"
