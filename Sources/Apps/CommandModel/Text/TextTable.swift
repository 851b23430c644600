/// Rows of values below a header, in aligned columns.
package enum TextTable {
    /// The sign of a value that is missing, so that every row has all columns.
    private static let missing = "-"

    /// Returns the header and a line for each row; the last column is not padded.
    package static func lines(_ header: [String], _ rows: [[String?]]) -> [String] {
        let cells = [header] + rows.map { row in row.map { $0.flatMap { $0.isEmpty ? nil : $0 } ?? missing } }
        let widths = header.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
        return cells.map { row in
            row.indices.map { $0 == row.count - 1 ? row[$0] : row[$0].padding(to: widths[$0]) }.joined(separator: "  ")
        }
    }
}

extension String {
    /// With spaces at the end up to a width.
    package func padding(to width: Int) -> String { self + String(repeating: " ", count: Swift.max(0, width - count)) }
}
