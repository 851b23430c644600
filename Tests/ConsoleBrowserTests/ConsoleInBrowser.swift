internal import Testing

/// One scenario at a time: each has nodes and browsers of its own, and two of them at once would measure each other.
@Suite(
    "The console in a browser",
    .serialized,
    .timeLimit(.minutes(15)),
    .enabled(if: BrowserScenario.missing.isEmpty, Comment(rawValue: BrowserScenario.missing))
) enum ConsoleInBrowser {}
