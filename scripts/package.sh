#!/usr/bin/env bash
# Makes a Debian package, and where rpmbuild is installed an RPM, of the binary that `make build` left: `package.sh [FOLDER]`, into
# target/package unless another folder is named. Beside each lies its SHA-256. The same binary gives the same octets: every date is that
# of its commit. The last line is the file of the Debian package.
# TRIPTIME_MAINTAINER='NAME <ADDRESS>' says who answers for the package.
set -euo pipefail
cd "$(dirname "$0")/.."

binary=${TRIPTIME_BIN:-target/triptime}
folder=${1:-target/package}
[ -x "$binary" ] || {
    echo "package.sh: no $binary: run \`make build\` first" >&2
    exit 2
}
# The package is of the commit that the binary was built from, whatever has been committed since.
said() {
    "$binary" --version | sed -n "s/^$1//p"
}
commit=$(said 'commit: ')
number=$(said 'triptime ')
date=$(git log -1 --format=%ct "${commit%-dirty}" 2>/dev/null) || {
    echo "package.sh: $binary does not know its commit (\"$commit\"): run \`make build\` in a clone of the repository" >&2
    exit 2
}
export SOURCE_DATE_EPOCH=$date
export TZ=UTC LC_ALL=C.UTF-8
# The author of the commit answers for the package, unless somebody else does.
maintainer=${TRIPTIME_MAINTAINER:-$(git log -1 --format='%an <%ae>' "${commit%-dirty}")}
version="$number+git$(date -d "@$date" +%Y%m%d.%H%M%S).${commit/-dirty/.dirty}"

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
umask 022
chmod 755 "$root"
share=$root/usr/share
doc=$share/doc/triptime

install -D -m 755 "$binary" "$root/usr/bin/triptime"
"$binary" manual "$share"
# Where Debian's zsh looks for what packages bring.
mkdir -p "$share/zsh/vendor-completions"
mv "$share/zsh/site-functions/_triptime" "$share/zsh/vendor-completions/"
rmdir "$share/zsh/site-functions"
gzip -9n "$share"/man/man1/*.1

mkdir -p "$doc/examples"
scripts/package_docs.py "$doc"
cp -r limits plans crates/waveform/scenarios crates/waveform/type-tests crates/relay/relays packaging/sql packaging/monitoring "$doc/examples/"
# Where Ansible looks for collections that packages bring.
collection=$share/ansible/collections/ansible_collections/triptime/host
mkdir -p "$collection"
cp -r packaging/ansible/. "$collection"
install -m 644 packaging/copyright "$doc/copyright"
"$binary" --sbom=cyclonedx >"$doc/triptime.cdx.json"
"$binary" --sbom=spdx >"$doc/triptime.spdx.json"
scripts/notices.py | gzip -9n >"$doc/notices.gz"
{
    echo "triptime ($version) unstable; urgency=medium"
    echo
    # The latest changes; git has the others.
    git log -n 20 --format='%w(76,2,4)* %s' "${commit%-dirty}"
    echo
    echo " -- $maintainer  $(date -R -d "@$date")"
} | gzip -9n >"$doc/changelog.gz"
install -D -m 644 packaging/lintian-overrides "$share/lintian/overrides/triptime"

mkdir "$root/DEBIAN"
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
size=$(du -k -s --apparent-size "$root/usr" | cut -f1)
control=$(<packaging/control)
control=${control/@VERSION@/"$version"}
control=${control/@SIZE@/"$size"}
echo "${control/@MAINTAINER@/"$maintainer"}" >"$root/DEBIAN/control"
find "$root" -type d -exec chmod 755 {} + -o -type f ! -path '*/bin/*' -exec chmod 644 {} +

mkdir -p "$folder"
package=triptime_${version}_amd64.deb
# One thread: with more, the compressed blocks depend on how many there are.
dpkg-deb --root-owner-group --threads-max=1 -Zxz --build "$root" "$folder/$package" >/dev/null
(cd "$folder" && sha256sum "$package" >"$package.sha256")

if command -v rpmbuild >/dev/null; then
    # The same files, without those of Debian's own tools.
    rm -r "$root/DEBIAN" "$share/lintian"
    mkdir -p "$share/zsh/site-functions"
    mv "$share/zsh/vendor-completions/_triptime" "$share/zsh/site-functions/"
    rmdir "$share/zsh/vendor-completions"
    build=$(mktemp -d)
    trap 'rm -rf "$root" "$build"' EXIT
    # As dpkg-deb does it with this level.
    payload=w6.xzdio
    [ "${DPKG_DEB_COMPRESSOR_LEVEL:-}" = 0 ] && payload=w.ufdio
    rpm=triptime-${version//-/.}-1.x86_64.rpm
    SOURCE_DATE_EPOCH=$date rpmbuild -bb --quiet packaging/triptime.spec --target x86_64 --define "_topdir $build" --define "source $root" \
        --define "number ${version//-/.}" --define "_binary_payload $payload" --define "packager $maintainer" >&2
    mv "$build/RPMS/x86_64/$rpm" "$folder/"
    (cd "$folder" && sha256sum "$rpm" >"$rpm.sha256")
fi
echo "$folder/$package"
