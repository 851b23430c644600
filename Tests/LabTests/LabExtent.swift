internal import Foundation

/// The extent of a run of the laboratory.
enum LabExtent {
    private static let asked = ProcessInfo.processInfo.environment["RUNAR_LAB"] ?? ""

    /// Whether everything is run, as by `make lab`; else only the tests for which the gate has time.
    static let isFull = !asked.isEmpty
    /// The repetitions of a test that depends on chance: the number in `RUNAR_LAB`, or 20 if it is `full`.
    static let repetitions = isFull ? Int(asked) ?? 20 : 1

    /// A directory for the nodes' logs, if `RUNAR_LAB_LOGS` names one.
    static let logs = ProcessInfo.processInfo.environment["RUNAR_LAB_LOGS"]

    /// Seconds with two digits, for tables.
    static func text(_ duration: Duration) -> String { String(format: "%.2f", duration / .seconds(1)) }

    /// Rows under a headline, in columns as wide as their widest cell; the first row names them.
    static func printTable(_ title: String, _ rows: [[String]]) {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        let lines = rows.map { row in
            zip(row, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }.joined(separator: "  ")
        }
        print("\n\(title)\n\(lines.joined(separator: "\n"))\n")
    }
}
