#!/bin/sh
# Installs meanwhile from a folder or address that has the files of a release. The archive is checked against
# SHA256SUMS before anything is installed.
#
#     install.sh FROM [--to DIR]        FROM: a folder, or an address for curl; DIR: ~/.local by default
set -eu

die() {
    echo "install.sh: $1" >&2
    exit 1
}

[ $# -ge 1 ] || die "name the folder or address of the release: install.sh FROM [--to DIR]"
from=$1
shift
to=${HOME:?}/.local
case "${1-}" in
--to) to=${2:?install.sh: --to needs a directory} ;;
"") ;;
*) die "unknown option $1; use install.sh FROM [--to DIR]" ;;
esac

[ "$(uname -s)" = Linux ] || die "meanwhile runs on Linux only"
case "$(uname -m)" in
x86_64 | amd64) arch=x86_64 ;;
aarch64 | arm64) arch=aarch64 ;;
*) die "there is no archive for $(uname -m); build it from source with cargo xtask install" ;;
esac

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

fetch() {
    if [ -d "$from" ]; then
        cp "$from/$1" "$place/$1" || die "$from has no $1"
    else
        curl -fsSL "$from/$1" -o "$place/$1" || die "cannot fetch $from/$1"
    fi
}

fetch SHA256SUMS
archive=$(sed -n "s/^[0-9a-f]*  \(meanwhile-[^ ]*-$arch-linux\.tar\.gz\)$/\1/p" "$place/SHA256SUMS")
[ -n "$archive" ] || die "SHA256SUMS names no archive for $arch"
fetch "$archive"
(cd "$place" && grep "  $archive\$" SHA256SUMS | sha256sum -c --status) ||
    die "$archive does not match its checksum; nothing was installed"

tar -xzf "$place/$archive" -C "$place"
mkdir -p "$to/bin"
for program in "$place/${archive%.tar.gz}/bin"/*; do
    name=${program##*/}
    # A rename, so that running tasks keep the executable that they were started with.
    cp "$program" "$to/bin/.$name.new"
    mv "$to/bin/.$name.new" "$to/bin/$name"
done
mkdir -p "$to/share/man/man1"
cp "$place/${archive%.tar.gz}/share/man/man1"/* "$to/share/man/man1/"
echo "installed $("$to/bin/mw" --version) in $to/bin"
case ":$PATH:" in
*":$to/bin:"*) ;;
*) echo "add $to/bin to PATH, for example: export PATH=\"$to/bin:\$PATH\"" ;;
esac
