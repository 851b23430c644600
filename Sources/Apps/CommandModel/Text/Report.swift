/// The result of a command: an object for scripts, lines for people.
package protocol Report: Codable, Sendable {
    /// The lines that people read, without the ends of lines; they are escaped when they are shown.
    var lines: [String] { get }
}

/// A report whose lines suggest commands.
package protocol HintingReport: Report {}
