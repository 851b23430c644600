internal import Foundation

/// The tests that need long real time.
///
/// The gate skips them; `make test-long` runs them.
package enum LongTests {
    /// Whether they run.
    package static let areRun = ProcessInfo.processInfo.environment["RUNAR_LONG"] != nil
}
