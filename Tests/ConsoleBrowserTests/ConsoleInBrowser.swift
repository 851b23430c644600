internal import Testing

/// The scenarios of the console.
///
/// Their server plays several at the same time; the tests wait for its results.
@Suite(
    "The console in a browser",
    .timeLimit(.minutes(15)),
    .enabled(if: BrowserScenario.missing.isEmpty, Comment(rawValue: BrowserScenario.missing))
) enum ConsoleInBrowser {}
