internal import Foundation

/// How much of the laboratory is run.
enum LabExtent {
    /// Everything, as `make lab` does; else what a gate has time for.
    static let isFull = ProcessInfo.processInfo.environment["RUNAR_LAB"] == "full"

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
