#!/usr/bin/env bash
# check-posix-udp.sh: the QUIC suites over the sockets of Apple systems (udp_posix.c), as far as Linux can stand in for
# them: one system call for each datagram, a pipe for waking up, waits of whole milliseconds.
set -u
cd "$(dirname "$0")/.."

export SUITES=${SUITES:-"QUICTests InteropTests"}
python3 -B scripts/gate suites "POSIX sockets" .build-posix-udp -Xcc -DRUNAR_POSIX_UDP || exit 1
echo "the QUIC suites pass without anything that only Linux has"
