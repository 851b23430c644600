#!/usr/bin/env bash
# install-dependencies.sh [build|test|bench|release|packages]: installs what is missing, says what it does, changes nothing otherwise.
#
# Each need is a check, not a package name: a library that came by other means is left alone. Debian and Ubuntu
# get packages by apt, macOS by Homebrew. sudo is used only by a user who is not root, and only if something is missing.
set -eu

purpose=${1:-build}
minimum_swift="6.3"

say() { printf '   %s\n' "$*"; }
fail() {
    printf 'error: %s\n' "$1" >&2
    shift
    for line in "$@"; do printf '       %s\n' "$line" >&2; done
    exit 1
}

has_command() { command -v "$1" >/dev/null 2>&1; }
has_library() { has_command pkg-config && pkg-config --exists "$1"; }
has_venv() { has_command python3 && python3 -c 'import ensurepip, venv' >/dev/null 2>&1; }
has_file() { [ -e "$1" ]; }
# A library that is only opened at run time: no header is needed.
has_shared() { on_apple || compgen -G "/usr/lib/*/$1" >/dev/null || compgen -G "/usr/lib*/$1" >/dev/null; }
on_apple() { [ "$(uname -s)" = Darwin ]; }
# A toolchain that was only unpacked may lack the system's libraries that it is linked with, or those it links with.
swift_runs() { swift --version >/dev/null 2>&1; }
can_link() { on_apple || { has_file /usr/include/stdlib.h && compgen -G '/usr/lib/gcc/*/*/crtbeginS.o' >/dev/null; }; }
# Namespaces are made by root, whose PATH has the folder; others need not see these commands.
has_system_command() { on_apple || has_command "$1" || has_file "/usr/sbin/$1" || has_file "/sbin/$1"; }
# Independent programs that only run where there are namespaces.
has_browser() {
    on_apple || has_command chromium-headless-shell || has_command chromium || has_command google-chrome
}
has_certificates() { on_apple || has_file /etc/ssl/certs/ca-certificates.crt; }

# need CHECK ARGUMENT DEBIAN-PACKAGES HOMEBREW-FORMULA ("-": comes with the system)
missing_apt=()
missing_brew=()
# What this system has no package of, though the tests can do without: those that need it say that they are skipped.
unavailable=""
can_do_without() { [ "$1" = chromium-headless-shell ]; }
need() {
    "$1" "$2" && return
    case " $unavailable " in *" $3 "*) return ;; esac
    # shellcheck disable=SC2206  # several packages are several words
    [ "$3" = "-" ] || missing_apt+=($3)
    [ "$4" = "-" ] || missing_brew+=("$4")
}

collect_needs() {
    missing_apt=()
    missing_brew=()
    need swift_runs - "libncurses6 libcurl4 libxml2 libsqlite3-0" -
    need can_link - g++ -
    need has_certificates - ca-certificates -
    need has_command git git git
    need has_command pkg-config pkg-config pkgconf
    need has_library libngtcp2 libngtcp2-dev libngtcp2
    need has_library libngtcp2_crypto_gnutls libngtcp2-crypto-gnutls-dev libngtcp2
    need has_library gnutls libgnutls28-dev gnutls
    need has_library sqlite3 libsqlite3-dev -
    need has_library zlib zlib1g-dev -
    on_apple || need has_library libturbojpeg libturbojpeg0-dev -
    case "$purpose" in
    build) ;;
    test)
        need has_system_command ip iproute2 -
        need has_system_command nft nftables -
        need has_system_command conntrack conntrack -
        need has_system_command wireguard-go wireguard-go -
        need has_system_command wg wireguard-tools -
        need has_command curl curl -
        need has_command openssl openssl openssl
        need has_command python3 python3 python3
        need has_venv - python3-venv python3
        need has_shared libzbar.so.0 libzbar0 -
        need has_command turnserver coturn coturn
        need has_command tmux tmux tmux
        need has_command xz xz-utils xz
        need has_browser - chromium-headless-shell -
        ;;
    bench)
        need has_command cc g++ -
        need has_command openssl openssl openssl
        need has_command python3 python3 python3
        need has_venv - python3-venv python3
        need has_shared libzbar.so.0 libzbar0 -
        need has_system_command nats-server nats-server nats-server
        need has_library libnats libnats-dev cnats
        need has_system_command ip iproute2 -
        need has_system_command wireguard-go wireguard-go -
        ;;
    release)
        need has_command python3 python3 python3
        need has_venv - python3-venv python3
        ;;
    packages)
        need has_command python3 python3 python3
        need has_system_command debootstrap debootstrap -
        need has_command systemd-nspawn systemd-container -
        need has_command skopeo skopeo -
        need has_command lintian lintian -
        need has_command mandoc mandoc -
        need has_system_command ip iproute2 -
        ;;
    *) fail "install-dependencies.sh: '$purpose' is none of build, test, bench, release, packages." ;;
    esac
}

find_swift() {
    has_command swift && return
    fail "no 'swift' on the PATH." \
        "Runar needs the Swift toolchain $minimum_swift or newer: https://www.swift.org/install" \
        "If it is installed, put its bin folder on the PATH and try again."
}

check_swift_version() {
    local version
    version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9][0-9.]*\).*/\1/p' | head -1) || true
    if [ -z "$version" ]; then
        swift --version || true
        fail "$(command -v swift) does not run (its own message is above)."
    fi
    if [ "$(printf '%s\n%s\n' "$minimum_swift" "$version" | sort -t . -k 1,1n -k 2,2n | head -1)" != "$minimum_swift" ]; then
        fail "Swift $version is too old; Runar needs $minimum_swift or newer: https://www.swift.org/install"
    fi
    say "Swift $version ($(command -v swift))"
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif has_command sudo; then
        sudo "$@"
    else
        fail "these packages are missing and neither root nor sudo is at hand: ${missing_apt[*]}" \
            "Ask an administrator for: apt-get install ${missing_apt[*]}"
    fi
}

install_with_apt() {
    has_command apt-get ||
        fail "missing: ${missing_apt[*]} (names of Debian's packages); this system has no apt-get." \
            "Install the same libraries with its own package manager and try again."
    say "missing: ${missing_apt[*]}; installing with apt-get"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q
    for package in "${missing_apt[@]}"; do
        apt-cache show "$package" >/dev/null 2>&1 && continue
        can_do_without "$package" ||
            fail "this system's package lists have no $package." \
                "Debian 12 or newer and Ubuntu 24.04 or newer are expected; elsewhere install it by hand."
        say "this system's package lists have no $package: the tests that need it are skipped"
        unavailable="$unavailable $package"
    done
    collect_needs
    [ "${#missing_apt[@]}" -eq 0 ] ||
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing_apt[@]}"
}

install_with_brew() {
    has_command brew || fail "missing: ${missing_brew[*]}; Homebrew is needed to install them: https://brew.sh"
    say "missing: ${missing_brew[*]}; installing with brew"
    brew install "${missing_brew[@]}"
}

printf '\n== dependencies (%s)\n' "$purpose"
find_swift
collect_needs
if on_apple; then
    [ "${#missing_brew[@]}" -eq 0 ] || install_with_brew
else
    [ "${#missing_apt[@]}" -eq 0 ] || install_with_apt
fi
collect_needs
if on_apple && [ "${#missing_brew[@]}" -ne 0 ]; then
    fail "still missing after the installation: ${missing_brew[*]}" \
        "Homebrew's libngtcp2 has no GnuTLS part (libngtcp2_crypto_gnutls): build ngtcp2 yourself, with --with-gnutls." \
        "No build on macOS was tried yet."
elif ! on_apple && [ "${#missing_apt[@]}" -ne 0 ]; then
    fail "still missing after the installation: ${missing_apt[*]}"
fi
check_swift_version
say "nothing is missing"
