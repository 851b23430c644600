#!/usr/bin/env bash
# `swift build` in debug, as everything here uses it: other options build all anew.
#
# The C of the dependencies is optimised: without it elliptic curves take most of the time of tests that connect.
# Without debug information the compiler takes a seventh less time for tests, and `runar` is a third smaller; a failed
# test names its lines without it. For a debugger, or a sanitizer's report: RUNAR_DEBUG_INFO=dwarf.
exec swift build -Xcc -O1 -debug-info-format "${RUNAR_DEBUG_INFO:-none}" "$@"
