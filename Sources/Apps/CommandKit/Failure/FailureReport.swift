package import CommandModel

/// The one object that a failing command prints with `--json`.
package struct FailureReport: Codable {
    package let error: CommandFailure
}
