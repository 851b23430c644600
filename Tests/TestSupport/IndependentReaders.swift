/// zbar and zxing-cpp, which read symbols that we draw (Tests/Interop/read_symbols.py).
package enum IndependentReaders {
    /// A symbol in one of the forms in which it is shown.
    package enum Image: Sendable {
        /// A line of 0 and 1 for each row of modules, without a quiet zone.
        case modules([String])
        case png([UInt8])
        case svg(String)
        /// The text that a terminal with a dark or a light background is to show.
        case terminal(String, isDark: Bool)
    }

    /// The results of both readers for one image.
    package struct Reading: Decodable, Sendable {
        /// A symbol that zxing-cpp read.
        package struct Symbol: Decodable, Sendable {
            /// Its bytes in hexadecimal digits.
            package let bytes: String
            package let text: String
            package let version: Int
            package let level: String
            package let mask: Int
        }

        /// The bytes of each symbol that zbar found, in hexadecimal digits.
        package let zbar: [String]
        package let zxing: [Symbol]
        package let width: Int
        package let height: Int

        /// Whether both found one symbol, with exactly these bytes.
        package func agrees(on bytes: [UInt8]) -> Bool {
            let hex = IndependentReaders.hex(bytes)
            return zbar == [hex] && zxing.map(\.bytes) == [hex]
        }
    }

    /// The reason why the readers cannot run, or an empty string if they can.
    package static let missing = PythonScripts.missing(for: script, otherwise: "zbar and zxing-cpp are not asked")
    private static let script = "read_symbols.py"

    /// Returns the results of both readers for each of the images.
    package static func read(_ images: [Image]) throws -> [Reading] {
        try PythonScripts.answers(of: script, to: images.map(\.request))
    }

    fileprivate static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension IndependentReaders.Image {
    fileprivate struct Request: Encodable {
        var modules: [String]?
        var png: String?
        var svg: String?
        var terminal: String?
        var isDark: Bool?
    }

    fileprivate var request: Request {
        switch self {
        case .modules(let lines): Request(modules: lines)
        case .png(let bytes): Request(png: IndependentReaders.hex(bytes))
        case .svg(let text): Request(svg: text)
        case .terminal(let text, let isDark): Request(terminal: text, isDark: isDark)
        }
    }
}
