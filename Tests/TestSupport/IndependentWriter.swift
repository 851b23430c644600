/// zxing-cpp, which draws symbols that we read (Tests/Interop/write_symbols.py).
///
/// It is available if `IndependentReaders.missing` is empty.
package enum IndependentWriter {
    /// A symbol to be drawn.
    package struct Request: Encodable, Sendable {
        package let text: String
        package let version: Int
        package let level: String

        /// A symbol of this version and level (`L`, `M`, `Q` or `H`) for `text`.
        package init(text: String, version: Int, level: String) {
            self.text = text
            self.version = version
            self.level = level
        }
    }

    /// For each request the rows of its modules, in which 1 is dark.
    package static func draw(_ requests: [Request]) throws -> [[String]] {
        try PythonScripts.answers(of: "write_symbols.py", to: requests)
    }
}
