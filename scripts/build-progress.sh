#!/usr/bin/env bash
# build-progress.sh COMMAND...: runs a build of SwiftPM and prints one line every ten seconds with the time that passed and
# about how much is left. Warnings, errors and everything that is no step are printed as they come.
set -u -o pipefail
"$@" 2>&1 | awk '
    function text(seconds) { return seconds < 60 ? seconds " s" : int(seconds / 60) " min" }
    BEGIN {
        began = systime(); last = began
        print "   the first build takes 15 to 20 minutes on two cores, later ones seconds"
        fflush()
    }
    match($0, /^\[[0-9]+\/[0-9]+\]/) {
        split(substr($0, 2, RLENGTH - 2), step, "/")
        now = systime(); passed = now - began
        if (now - last >= 10 && step[1] > 0) {
            last = now
            printf "   %d of %d steps, %s so far, about %s left\n", step[1], step[2], text(passed), text(int(passed * (step[2] - step[1]) / step[1]) + 1)
            fflush()
        }
        next
    }
    { print; fflush() }
'
