"""Runs scenarios of the simulation and prints their figures beside published anchors and aims.

`make bench` runs the quick ones, `make bench-long` the big ones. Each runs alone, so that its speed is its own.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

from table import aligned, number


class Figure:
    """A line of the table: a figure of a report, what others published, and what it should be."""

    def __init__(self, title, name, unit, anchor="", at_least=None, at_most=None, equal=None, factor=1):
        self.title, self.name, self.unit, self.anchor, self.factor = title, name, unit, anchor, factor
        self.at_least, self.at_most, self.equal = at_least, at_most, equal

    def aim(self):
        for sign, bound in (("≥", self.at_least), ("≤", self.at_most), ("=", self.equal)):
            if bound is not None:
                return f"{sign} {number(bound)}"
        return ""

    def verdict(self, value):
        if value is None:
            return "MISSING"
        checks = []
        if self.at_least is not None:
            checks.append(value >= self.at_least)
        if self.at_most is not None:
            checks.append(value <= self.at_most)
        if self.equal is not None:
            checks.append(value == self.equal)
        return "" if not checks else "met" if all(checks) else "MISSED"


def milliseconds(title, name, at_most, anchor=""):
    return Figure(title, name + "Milliseconds", "ms", anchor, at_most=at_most)


def share(title, name, at_least=None, anchor=""):
    return Figure(title, name, "%", anchor, at_least=at_least, factor=100)


NEIGHBOURS = [
    share("nodes that know all of their 20 nearest", "tablesKnowingAllShare", 85, "61.09 IPFS"),
    share("nodes that know at least 18 of them", "tablesKnowing18Share", 99, "95.2 IPFS"),
    Figure("hops of a lookup, p50", "dhtLookupHopsP50", "", "4", at_most=3),
    Figure("hops of a lookup, p90", "dhtLookupHopsP90", "", "6", at_most=5),
]

BROADCAST = [
    Figure("copies too many for each event due", "eventRedundancy", "", "< 0.2 iroh-gossip", at_most=0.15),
    Figure("hops of the last first delivery, mean", "eventLastHopsMean", "", "< 15 iroh-gossip", at_most=10),
    Figure("events missed", "eventsMissed", "", "0 iroh-gossip", equal=0),
]

HONEST = [
    share("correct reads, everybody asked", "dhtGetCorrectShare", 99, "about 20 (Sybil)"),
    share("lookups that find the nearest honest node", "dhtLookupCorrectShare", 99),
]

QUICK = [
    (
        "lan-discovery",
        None,
        [
            milliseconds("50 nodes, 20 % loss: heard, p50", "discoveryP50", 300, "1000-8000 zenoh"),
            milliseconds("the same, p99", "discoveryP99", 2000),
            Figure("ordered pairs that heard each other", "discoveryCount", "", equal=2450),
        ],
    ),
    (
        "revocation",
        None,
        [
            milliseconds("revocation known to 100 nodes, p99", "revocationKnownP99", 5000, "no peer has it"),
            milliseconds("after a partition, from first contact, max", "revocationKnownAfterContactMax", 5000),
            Figure("nodes that do not know in the end", "revocationUnknownNodes", "", equal=0),
        ],
    ),
    (
        "dht-lookup",
        None,
        [
            milliseconds("first verified record, p50", "dhtGetFirstP50", 450, "620 mean"),
            milliseconds("first verified record, p99", "dhtGetFirstP99", 1500),
            milliseconds("nearest 20, p50", "dhtLookupP50", 1500),
            share("correct reads", "dhtGetCorrectShare", 100),
        ],
    ),
    (
        "dht-store",
        None,
        [
            milliseconds("stored at 15 of the 20 nearest, p50", "dhtPutP50", 2000, "6000-13000"),
            milliseconds("stored at 15 of the 20 nearest, p99", "dhtPutP99", 5000),
            Figure("records lost", "recordsLost", "", equal=0),
        ],
    ),
    ("dht-churn", 300, NEIGHBOURS),
    ("broadcast", 100, BROADCAST),
    ("broadcast", 1000, BROADCAST),
    (
        "broadcast-silence",
        None,
        [
            Figure("30 % fall silent: missing after 3 s", "eventsMissingShareAt3s", "%", at_most=0.5, factor=100),
            Figure("missing after 15 s", "eventsMissingShareAt15s", "%", equal=0, factor=100),
        ],
    ),
    (
        "mail",
        None,
        [
            Figure("mails lost although a member had them", "mailsLost", "", equal=0),
            Figure("mails shown twice", "mailsShownTwice", "", equal=0),
            share("mails delivered before they expired", "mailsDeliveredShare", 95),
            milliseconds("after the recipient came online, p50", "mailAfterStartP50", 10_000),
            milliseconds("the same, p99, waiting for holders included", "mailAfterStartP99", None),
            Figure("mails held by a member, p90", "mailsHeldP90", ""),
        ],
    ),
    ("small-family", None, [share("three devices: correct reads", "dhtGetCorrectShare", 100)]),
]

LONG = [
    ("dht-hostile", None, HONEST),
    ("dht-besieged", None, [share("16 of 20 hostile: correct reads, everybody asked", "dhtGetCorrectShare")]),
    (
        "ten-thousand",
        None,
        [
            Figure("times as fast as real time, one core", "speed", "x", at_least=20),
            Figure("memory", "gigabytes", "GB", at_most=8),
            *NEIGHBOURS[:2],
        ],
    ),
    ("dht-churn", 1000, NEIGHBOURS),
    (
        "dht-durability",
        None,
        [
            Figure("records lost of 10 000 in 36 h", "recordsLost", "", "0", equal=0),
            Figure("of the 20 nearest so many hold a record, p50", "recordHoldersP50", "", at_least=15),
        ],
    ),
    ("dht-churn", 10_000, NEIGHBOURS),
]


class Simulations:
    def __init__(self, options):
        self.options = options
        self.lines = [["scenario", "", "unit", "seen", "published", "aim", ""]]
        self.log = open(options.output, "w") if options.output else None

    def run(self, scenario, nodes=None, runar=None):
        """One run in a process of its own: its report, with the speed and the memory that it took."""
        command = [runar or self.options.runar, "simulate", scenario, "--seed", str(self.options.seed), "--json"]
        if nodes:
            command += ["--nodes", str(nodes)]
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            text = output.read()
        # 70: something came out otherwise than the scenario expects; the table shows what.
        if process.returncode not in (0, 70):
            raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
        report = json.loads(text)
        report["figures"]["speed"] = report["virtualSeconds"] / (usage.ru_utime + usage.ru_stime)
        report["figures"]["gigabytes"] = usage.ru_maxrss * 1024 / 1e9
        if self.log:
            self.log.write(json.dumps(report) + "\n")
            self.log.flush()
        return report

    def measure(self, scenario, nodes, figures):
        print(f"   {scenario}{f', {nodes} nodes' if nodes else ''}", file=sys.stderr, flush=True)
        try:
            report = self.run(scenario, nodes)
        except (RuntimeError, ValueError) as failure:
            self.lines.append([scenario, str(failure), "", "", "", "", "MISSING"])
            return
        shown = f"{scenario}, {report['nodes']} nodes"
        for figure in figures:
            value = report["figures"].get(figure.name)
            value = value * figure.factor if value is not None else None
            cells = [shown, figure.title, figure.unit, number(value), figure.anchor, figure.aim(), figure.verdict(value)]
            self.lines.append(cells)
            shown = ""

    def compare(self):
        """The same run in two processes, in another build if there is one, and with another seed."""
        first = self.run("real-life")["digest"]
        seen = {"a second process": self.run("real-life")["digest"] == first}
        if self.options.other and os.path.exists(self.options.other):
            seen["a debug build"] = self.run("real-life", runar=self.options.other)["digest"] == first
        for title, is_same in seen.items():
            self.lines.append(["real-life", f"the same digest in {title}", "", "yes" if is_same else "no", "", "yes",
                               "met" if is_same else "MISSED"])
        self.options.seed += 1
        differs = self.run("real-life")["digest"] != first
        self.options.seed -= 1
        self.lines.append(["", "another digest with another seed", "", "yes" if differs else "no", "", "yes",
                           "met" if differs else "MISSED"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runar", required=True, help="the runar command, a release build")
    parser.add_argument("--other", help="a debug build of it, for comparing digests")
    parser.add_argument("--long", action="store_true", help="the big scenarios instead of the quick ones")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SEED", "1")))
    parser.add_argument("--only", default=os.environ.get("ONLY", ""), help="names of scenarios; left out, all")
    parser.add_argument("--output", help="where every report goes, as JSON lines")
    options = parser.parse_args()
    simulations = Simulations(options)
    start = time.monotonic()
    for scenario, nodes, figures in LONG if options.long else QUICK:
        if not options.only or scenario in options.only.split():
            simulations.measure(scenario, nodes, figures)
    if not options.only:
        simulations.compare()
    print(f"\nsimulations, seed {options.seed}, {time.monotonic() - start:.0f} s\n")
    print(aligned(simulations.lines))


if __name__ == "__main__":
    main()
