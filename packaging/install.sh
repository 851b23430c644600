#!/bin/sh
# install.sh [--prefix DIR]             installs runar from the directory of this script
# install.sh uninstall [--prefix DIR]   removes the files that an installation has written, and nothing else
#
# DIR is /usr/local for root and ~/.local for other users, unless given. The installed files are listed in
# DIR/share/runar/installed-files; a directory that the installation created has a slash at its end.
set -euf
umask 022

version="@VERSION@"
machine="@MACHINE@"
list=share/runar/installed-files

say() { printf '%s\n' "$*"; }
fail() {
    printf 'error: %s\n' "$1" >&2
    shift
    for line in "$@"; do printf '       %s\n' "$line" >&2; done
    exit 1
}

usage() {
    say "install.sh [--prefix DIR]             install runar $version"
    say "install.sh uninstall [--prefix DIR]   remove the installed files; data directories stay"
    say "DIR is /usr/local for root and ~/.local for other users, unless given."
}

# The files of the archive, with slashes and without spaces in their names.
archive_files() { (cd "$here" && find . -type f ! -name install.sh | LC_ALL=C sort); }

# target_of FILE: sets $target to the place below the prefix, or to nothing for a file that has no use there.
target_of() {
    target=${1#./}
    case $target in
    lib/systemd/system/* | lib/sysusers.d/*)
        # The system's manager reads these below two prefixes only.
        case $prefix in /usr | /usr/local) ;; *) target="" ;; esac
        ;;
    */*) ;;
    *) target=share/doc/runar/$target ;;
    esac
}

is_listed() { [ -f "$prefix/$list" ] && grep -Fqx -e "$1" "$prefix/$list"; }

check_machine() {
    [ "$(uname -s)" = Linux ] || fail "this archive is for Linux; this system is $(uname -s)." \
        "Build runar from its sources: see README.md there."
    [ "$(uname -m)" = "$machine" ] || fail "this archive is for $machine; this machine is $(uname -m)." \
        "Take the archive for $(uname -m), or build runar from its sources."
    [ -f "$here/bin/runar" ] || fail "bin/runar is missing next to install.sh." \
        "Unpack the whole archive, and run install.sh in its directory."
}

# Runs the program once, so that nothing is installed that cannot run.
check_program() {
    output=$("$here/bin/runar" --version 2>&1) && return
    case $output in
    *libgnutls.so.30*)
        fail "runar needs the library libgnutls.so.30 (GnuTLS 3), which this system lacks." \
            "Debian, Ubuntu:  apt-get install libgnutls30 (on newer ones: libgnutls30t64)" \
            "Fedora, RHEL:    dnf install gnutls" \
            "Arch:            pacman -S gnutls" \
            "Then run install.sh again."
        ;;
    *GLIBC_*)
        fail "this system's C library is older than runar needs: $output" \
            "Use a newer release of the system, or the container image."
        ;;
    *)
        [ -e /lib64/ld-linux-x86-64.so.2 ] || [ -e /lib/ld-linux-aarch64.so.1 ] ||
            fail "this system has no glibc, which runar needs." "Use the container image."
        fail "bin/runar does not run here: $output" \
            "If this directory is on a file system without execution (noexec), unpack the archive elsewhere."
        ;;
    esac
}

check_writable() {
    place=$prefix
    while [ ! -e "$place" ]; do place=$(dirname "$place"); done
    for directory in "$place" "$prefix/bin" "$prefix/share" "$prefix/lib"; do
        [ -e "$directory" ] || continue
        [ -d "$directory" ] || fail "$directory is no directory." "Give another one with --prefix."
        [ -w "$directory" ] || fail "$(id -un) cannot write to $directory." \
            "Run install.sh as root (sudo), or give a directory of your own, as in --prefix ~/.local"
    done
}

# Refuses to replace a file that no installation has listed.
check_conflicts() {
    for file in $(archive_files); do
        target_of "$file"
        [ -n "$target" ] && [ -e "$prefix/$target" ] || continue
        is_listed "$target" || fail "$prefix/$target exists, and install.sh has not written it." \
            "Remove it, or give another directory with --prefix."
    done
}

# make_directories PATH: creates the directories of a path below the prefix, and adds new ones to $made.
make_directories() {
    built=""
    IFS=/
    for part in $1; do
        built=$built${built:+/}$part
        [ -d "$prefix/$built" ] && continue
        mkdir "$prefix/$built"
        made="$made$built/
"
    done
    unset IFS
}

# put SOURCE TARGET: writes a file that appears when it is whole, also where a running program has the old one.
put() {
    case $2 in bin/* | *.sh) mode=755 ;; *) mode=644 ;; esac
    case $2 in
    # Units name the program by its path.
    *.service) sed "s|^ExecStart=/[^ ]*\( runar\)\{0,1\} |ExecStart=\"$quoted/bin/runar\" |" "$1" >"$prefix/$2.new" ;;
    *) cp "$1" "$prefix/$2.new" ;;
    esac
    chmod "$mode" "$prefix/$2.new"
    mv -f "$prefix/$2.new" "$prefix/$2"
}

install_files() {
    # For a replacement by sed, in a unit where % begins a specifier.
    quoted=$(printf '%s' "$prefix" | sed 's/%/%%/g; s/[&|\\]/\\&/g')
    old=""
    [ ! -f "$prefix/$list" ] || old=$(cat "$prefix/$list")
    targets="share/runar/install.sh
"
    made=""
    mkdir -p "$prefix"
    make_directories share/runar
    for file in $(archive_files); do
        target_of "$file"
        [ -n "$target" ] || continue
        make_directories "$(dirname "$target")"
        targets="$targets$target
"
    done
    # Listed before they are written, so that an interrupted installation can be repeated or removed.
    printf '%s\n%s%s' "$old" "$made" "$targets" | grep . | LC_ALL=C sort -u >"$prefix/$list.new"
    mv -f "$prefix/$list.new" "$prefix/$list"
    for file in $(archive_files); do
        target_of "$file"
        [ -z "$target" ] || put "$here/$file" "$target"
    done
    put "$here/install.sh" share/runar/install.sh
    remove_obsolete
}

# Removes the files of the previous version that this one lacks.
remove_obsolete() {
    while read -r entry; do
        case $entry in */) continue ;; esac
        printf '%s' "$targets" | grep -Fqx -e "$entry" || remove_file "$entry"
    done <"$prefix/$list"
    { grep '/$' "$prefix/$list" || true; printf '%s' "$targets"; } | LC_ALL=C sort -u >"$prefix/$list.new"
    mv -f "$prefix/$list.new" "$prefix/$list"
}

remove_file() {
    case "/$1/" in
    */../* | //*) fail "$prefix/$list names $1, which is outside the prefix; the rest stays." ;;
    esac
    rm -f "$prefix/$1" || fail "$prefix/$1 cannot be removed." "Run install.sh as root (sudo)."
}

install_all() {
    check_machine
    check_program
    check_writable
    check_conflicts
    install_files
    say "runar $version is installed in $prefix."
    case ":$PATH:" in *":$prefix/bin:"*) ;; *) say "Add $prefix/bin to your PATH." ;; esac
    say "Next: runar init. A node that runs already keeps the previous version until it is restarted."
    if is_listed lib/systemd/system/runar.service; then
        say "For a service of the system: systemd-sysusers && systemctl daemon-reload && systemctl enable --now runar"
    fi
}

uninstall_all() {
    [ -f "$prefix/$list" ] || fail "no installation is listed in $prefix/$list." \
        "Give the directory of the installation with --prefix."
    [ -w "$prefix/share/runar" ] || fail "$(id -un) cannot write to $prefix." "Run install.sh as root (sudo)."
    entries=$(LC_ALL=C sort -r "$prefix/$list")
    for entry in $entries; do
        case $entry in */) ;; *) remove_file "$entry" ;; esac
    done
    rm -f "$prefix/$list"
    for entry in $entries; do
        case $entry in
        *../*) ;;
        # A directory in which other files are stays.
        */) rmdir "$prefix/$entry" 2>/dev/null || true ;;
        esac
    done
    say "runar is removed from $prefix."
    say "Data directories stay, with keys, messages and files: ~/.local/share/runar of each user, or RUNAR_HOME."
    for directory in "${RUNAR_HOME:-}" "${HOME:-}/.local/share/runar" /var/lib/runar; do
        [ -z "$directory" ] || [ ! -d "$directory" ] || say "   $directory"
    done
}

here=$(cd "$(dirname "$0")" && pwd)
action=install
prefix=""
while [ $# -gt 0 ]; do
    case $1 in
    uninstall) action=uninstall ;;
    --prefix)
        [ $# -gt 1 ] || fail "--prefix needs a directory."
        shift
        prefix=$1
        ;;
    --prefix=*) prefix=${1#--prefix=} ;;
    -h | --help)
        usage
        exit 0
        ;;
    *) fail "'$1' is no argument of install.sh." "install.sh --help lists them." ;;
    esac
    shift
done
if [ -z "$prefix" ] && [ -f "$here/installed-files" ]; then
    prefix=$(cd "$here/../.." && pwd)
elif [ -z "$prefix" ] && [ "$(id -u)" -eq 0 ]; then
    prefix=/usr/local
elif [ -z "$prefix" ]; then
    prefix=${HOME:?}/.local
fi
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
[ "$prefix" = / ] || prefix=${prefix%/}
"${action}_all"
