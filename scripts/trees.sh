#!/usr/bin/env bash
# Recorded machines that util-linux and hwloc keep for their own tests, into target/trees: not ours to carry, and worth auditing.
# Fetches the sources of both through the package manager, from where this machine takes its packages.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=target/trees
[ -e "$folder/complete" ] && exit 0
rm -rf "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/parts" "$work/lists/partial" "$work/got" "$folder"

# The same places, for sources.
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
    [ -e "$list" ] || continue
    case "$list" in
    *.sources) sed 's/^Types:.*/Types: deb-src/' "$list" >"$work/parts/$(basename "$list")" ;;
    *.list) sed -n 's/^deb /deb-src /p' "$list" >"$work/parts/$(basename "$list")" ;;
    esac
done
apt=(apt-get -qq -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$work/parts" -o "Dir::State::Lists=$work/lists")
# A place without sources is no matter, as long as one has them.
"${apt[@]}" update >"$work/log" 2>&1 || true
(cd "$work/got" && "${apt[@]}" source --download-only util-linux hwloc >>"$work/log" 2>&1) || {
    tail -3 "$work/log" >&2
    echo "trees.sh: the sources of util-linux and hwloc cannot be had" >&2
    exit 1
}

tar -xf "$work"/got/util-linux_*.orig.tar.* -C "$work" --wildcards '*/tests/ts/lscpu/dumps/*.tar.gz'
tar -xf "$work"/got/hwloc_*.orig.tar.* -C "$work" --wildcards '*/tests/hwloc/linux/*.tar.bz2'
# As archives: unpacked, they take half a gigabyte.
mv "$work"/*/tests/ts/lscpu/dumps/*.tar.gz "$work"/*/tests/hwloc/linux/*.tar.bz2 "$folder"
touch "$folder/complete"
