#!/usr/bin/env bash
# `swift build` in debug with the C of the dependencies optimised: without it elliptic curves take most of the time of
# tests that connect. Everything that builds in debug uses this, because other options build all anew.
exec swift build -Xcc -O1 "$@"
