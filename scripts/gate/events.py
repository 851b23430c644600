"""Reads the event stream of Swift Testing: one JSON record a line, written while the tests run."""

import json

# The kinds of failure that a log shows when a test process crashes.
CRASH_WORDS = ("Fatal error", "Segmentation fault", "Program crashed", "ERROR: AddressSanitizer", "WARNING: ThreadSan")


class Test:
    """One test function, and its outcome so far."""

    def __init__(self, name, place, has_cases=False):
        self.name = name
        self.place = place
        self.has_cases = has_cases
        self.started = None
        self.ended = None
        self.skipped = None
        self.issues = []

    @property
    def seconds(self):
        if self.started is None or self.ended is None:
            return 0.0
        return self.ended - self.started

    @property
    def is_unfinished(self):
        return self.started is not None and self.ended is None


class Turns:
    """Whose turn it is. Swift Testing announces a test before its turn comes, and reports the beginning only for the
    cases of a test with arguments. Turns come in the order of the announcements, as many at a time as may run."""

    def __init__(self, width):
        self.width = width
        self.waiting = []
        self.running = []
        self.case_count = 0

    def announce(self, test, time):
        self.waiting.append(test)
        self.give(time)

    def begin_case(self, test, time):
        test.started = time if test.started is None else test.started
        self.case_count += 1

    def end_case(self, time):
        self.case_count -= 1
        self.give(time)

    def end(self, test, time):
        if test in self.waiting and self.running:
            # It overtook another one, whose turn has not come.
            other = self.running.pop()
            self.waiting.remove(test)
            self.waiting.insert(0, other)
            test.started, other.started = other.started, None
        elif test in self.running:
            self.running.remove(test)
        self.give(time)

    def give(self, time):
        while self.waiting and len(self.running) + self.case_count < self.width:
            test = self.waiting.pop(0)
            test.started = time
            self.running.append(test)


class EventStream:
    """The tests of one process, which runs `width` of them at a time. `read()` may be called while the file grows."""

    def __init__(self, path, width):
        self.path = path
        self.position = 0
        self.tests = {}
        self.turns = Turns(width)
        self.is_complete = False

    def read(self):
        """Takes in the whole lines that were added since the last call."""
        try:
            with open(self.path, "rb") as file:
                file.seek(self.position)
                added = file.read()
        except FileNotFoundError:
            return
        whole = added.rfind(b"\n") + 1
        self.position += whole
        for line in added[:whole].splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                continue  # A crash can cut a record short.
            self.take(record)

    def take(self, record):
        payload = record.get("payload", {})
        if record.get("kind") == "test":
            if payload.get("kind") == "function":
                place = payload.get("sourceLocation", {})
                name = payload.get("displayName") or payload.get("name", "?")
                self.tests[payload["id"]] = Test(
                    name.strip("`"),
                    f"{place.get('fileID')}:{place.get('line')}",
                    has_cases=payload.get("isParameterized", False),
                )
        elif record.get("kind") == "event":
            self.take_event(payload)

    def take_event(self, event):
        kind = event.get("kind")
        if kind == "runEnded":
            self.is_complete = True
        test = self.tests.get(event.get("testID"))
        if test is None:
            if kind == "issueRecorded" and is_failure(event):
                self.tests.setdefault("", Test("outside of tests", "")).issues.append(issue_text(event))
            return
        time = event.get("instant", {}).get("absolute", 0.0)
        if kind == "testStarted" and not test.has_cases:
            self.turns.announce(test, time)
        elif kind == "testCaseStarted":
            self.turns.begin_case(test, time)
        elif kind == "testCaseEnded":
            self.turns.end_case(time)
        elif kind == "testEnded":
            test.ended = time
            self.turns.end(test, time)
        elif kind == "testSkipped":
            words = "; ".join(texts(event, "skip")) or "no reason given"
            test.skipped = words.split(" skipped: ")[-1].strip('"')
        elif kind == "issueRecorded" and is_failure(event):
            test.issues.append(issue_text(event))

    @property
    def passed(self):
        return [test for test in self.tests.values() if test.ended is not None and not test.issues]

    @property
    def failed(self):
        return [test for test in self.tests.values() if test.issues]

    @property
    def skipped(self):
        return [test for test in self.tests.values() if test.skipped is not None]

    @property
    def unfinished(self):
        return [test for test in self.tests.values() if test.is_unfinished and not test.issues]


def is_failure(event):
    """Whether an issue fails its test: known issues and warnings do not."""
    issue = event.get("issue", {})
    return not issue.get("isKnown") and issue.get("isFailure", True)


def texts(event, *symbols):
    """The messages of an event that carry one of the symbols, or all of them if none does."""
    messages = event.get("messages", [])
    chosen = [one["text"] for one in messages if one.get("symbol") in symbols]
    return chosen or [one["text"] for one in messages]


def issue_text(event):
    place = event.get("issue", {}).get("sourceLocation") or {}
    where = f"{place['fileID']}:{place['line']}: " if "fileID" in place else ""
    return where + "\n".join(one["text"] for one in event.get("messages", []))


def crash_lines(log, most=12):
    """The lines of a log that explain a crash and show the thread that crashed, or its last lines."""
    with open(log, "rb") as file:
        lines = file.read().decode(errors="replace").splitlines()
    found = []
    for words in (CRASH_WORDS, ('" crashed:',)):
        start = next((index for index, line in enumerate(lines) if any(word in line for word in words)), None)
        if start is not None:
            found += lines[start : start + most]
    return found or lines[-5:]
