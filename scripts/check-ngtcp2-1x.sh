#!/usr/bin/env bash
# check-ngtcp2-1x.sh: on Debian 12, whose own ngtcp2 is 0.12, builds the QUIC transport against the 1.x of
# bookworm-backports, runs its suites, and lets the two versions talk to each other.
#
# Nothing of the system changes: apt-get downloads the packages with a source list, package lists and a cache of its own
# in .build-ngtcp2-1x, and dpkg unpacks them there.
set -eu
cd "$(dirname "$0")/.."

suite=bookworm-backports
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
folder=.build-ngtcp2-1x
place=$PWD/$folder/ngtcp2

fail() {
    printf 'error: %s\n' "$1" >&2
    shift
    for line in "$@"; do printf '       %s\n' "$line" >&2; done
    exit 1
}

# from_backports COMMAND...: an apt tool that sees this one source and writes below $place only.
from_backports() {
    local tool=$1
    shift
    "$tool" -q -o Dir::Etc::sourcelist="$place/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::State::lists="$place/lists" -o Dir::Cache="$place/cache" -o APT::Sandbox::User=root "$@"
}

fetch() {
    local packages="libngtcp2-dev libngtcp2-crypto-gnutls-dev" runtime
    mkdir -p "$place/lists/partial" "$place/cache/archives/partial" "$place/packages" "$place/unpacked"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$place/sources.list"
    from_backports apt-get update || return 1
    # shellcheck disable=SC2086  # several packages are several words
    runtime=$(from_backports apt-cache -t $suite --no-all-versions show $packages |
        sed -n 's/^Depends: \(libngtcp2[^ ,]*\).*/\1/p' | sort -u)
    # shellcheck disable=SC2086
    (cd "$place/packages" && rm -f ./*.deb && from_backports apt-get -t $suite download $packages $runtime) || return 1
    for package in "$place"/packages/*.deb; do dpkg -x "$package" "$place/unpacked" || return 1; done
    # The files say where they are when installed.
    sed -i "s|^prefix=.*|prefix=$place/unpacked/usr|" "$place"/unpacked/usr/lib/*/pkgconfig/*.pc
}

# talk SERVER CLIENT: one version's process answers, the other's dials it: bytes in bulk, many streams, handshakes.
talk() {
    local line id address order server
    coproc SERVER { exec "$1" quic server; }
    server=$SERVER_PID
    read -r line <&"${SERVER[0]}" || return 1
    id=$(sed -n 's/.*"id":"\([^"]*\)".*/\1/p' <<<"$line")
    address=$(sed -n 's/.*"address":"\([^"]*\)".*/\1/p' <<<"$line")
    for order in "bulk 64 65536" "roundtrip 200 0" "parallel 1600 16" "handshake 16 4"; do
        printf '   %s: ' "${order%% *}"
        # shellcheck disable=SC2086  # an order is several words
        timeout 60 "$2" quic client "$id" "$address" $order || return 1
    done
    exec {SERVER[1]}>&-
    wait "$server"
}

command -v apt-get >/dev/null && command -v dpkg >/dev/null || fail "this check needs Debian's apt-get and dpkg."
[ "$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)" = bookworm ] ||
    fail "this check is for Debian 12, which has both versions." "Where the system's own ngtcp2 is 1.x: make test"
./scripts/install-dependencies.sh test
if [ ! -e "$place/unpacked/usr/include/ngtcp2/ngtcp2.h" ]; then
    printf '\n== packages of %s\n' "$suite"
    fetch || fail "the packages of $suite could not be had from $mirror." \
        "Is it reachable? DEBIAN_MIRROR=URL names another one."
fi
library=$(dirname "$(echo "$place"/unpacked/usr/lib/*/libngtcp2.so)")
export PKG_CONFIG_PATH="$library/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
version=$(pkg-config --modversion libngtcp2)
case "$version" in 1.*) ;; *) fail "$library holds ngtcp2 $version, not 1.x." ;; esac

label="ngtcp2 $version"
options=(-Xlinker -rpath -Xlinker "$library")
SUITES=${SUITES:-"QUICTests InteropTests"} ALSO=runar-bench python3 -B scripts/gate suites "$label" $folder "${options[@]}"

newer=$folder/debug/runar-bench
ldd "$newer" | grep -q "$library/libngtcp2\.so" || fail "$newer is not linked with $library."
unset PKG_CONFIG_PATH
system=$(pkg-config --modversion libngtcp2)
./scripts/stage.sh "ngtcp2 $system: build" ./scripts/debug-build.sh --product runar-bench
older=$(swift build --show-bin-path)/runar-bench
printf '\n== ngtcp2 %s dials %s\n' "$system" "$version"
talk "$newer" "$older" || fail "ngtcp2 $system cannot talk to a server with $version."
printf '\n== ngtcp2 %s dials %s\n' "$version" "$system"
talk "$older" "$newer" || fail "ngtcp2 $version cannot talk to a server with $system."
printf '\nthe QUIC suites pass with ngtcp2 %s, and %s talks to %s both ways\n' "$version" "$system" "$version"
