internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import Foundation
internal import NodeModel
internal import NodeService
internal import Platform
internal import QRCode

extension QR {
    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show a text as a QR code: on the terminal, as SVG or as PNG.",
            discussion: """
                Needs no home. Drawings and pictures go to standard output or, with --output, into a file that only you \
                may read. An invitation is secret and comes on standard input only.
                """
        )

        /// The output format of a code.
        enum Format: String, CaseIterable, ExpressibleByArgument {
            case terminal
            case svg
            case png
        }

        /// More than any code holds, so that a longer text reaches the encoder and gets its error.
        private static let byteLimit = 16 << 10

        @Argument(help: "The text, in quotation marks; - is standard input, without the end of its last line.")
        var text: String
        @Option(
            help: ArgumentHelp("terminal, svg or png; else by the end of FILE, else terminal.", valueName: "format")
        )
        var format: Format?
        @Option(
            help: ArgumentHelp(
                "Write into this file, in place of what is there; - is standard output.",
                valueName: "file"
            ),
            completion: .file()
        )
        var output: String?
        @Option(
            help: ArgumentHelp("How much damage the code survives: l, m, q or h.", valueName: "level"),
            transform: Self.level(named:)
        )
        var level = ErrorCorrectionLevel.m
        @Option(help: ArgumentHelp("The pixels of a module in pictures, 1 to 50.", valueName: "pixels"))
        var scale = 8
        @Flag(help: "The terminal is light: dark letters on a light ground.")
        var light = false
        @Flag(help: "The terminal is dark: light letters on a dark ground.")
        var dark = false
        @OptionGroup(title: "Output") var options: OutputOptions

        func validate() throws {
            guard !light || !dark else { throw ValidationError("Give --light or --dark, not both.") }
            guard 1...50 ~= scale else { throw ValidationError("--scale is from 1 to 50.") }
            if format == nil, let file { _ = try Self.format(ofFile: file) }
        }

        /// The file to write; nil for standard output.
        private var file: String? { output == "-" ? nil : output }

        func run() throws {
            let format = try format ?? file.map(Self.format(ofFile:)) ?? .terminal
            guard format != .png || file != nil || options.json || !Output.isTerminal else {
                throw CommandFailure("usage", .usage, "a PNG is no text for a terminal: add --output FILE")
            }
            let text = try content()
            let symbol = try QRSymbol(encoding: text, level: level)
            var report = QRReport(symbol, of: text, format: format.rawValue)
            if format == .terminal, file == nil, !options.json {
                return try TerminalCode(symbol, style: style).show()
            }
            let bytes = drawing(of: symbol, as: format)
            if let file {
                let path = HomeOptions.absolute(file)
                try AtomicFile.write(bytes, to: path)
                report.path = path
            } else if options.json {
                if format == .png {
                    report.base64 = Data(bytes).base64EncodedString()
                } else {
                    report.text = String(decoding: bytes, as: UTF8.self)
                }
            } else {
                return try Output.bytes(bytes)
            }
            try Output.report(report, asJSON: options.json)
        }

        private static func level(named name: String) throws -> ErrorCorrectionLevel {
            guard let level = ErrorCorrectionLevel(rawValue: name.lowercased()) else {
                throw ValidationError("The level is l, m, q or h.")
            }
            return level
        }

        private var style: TerminalStyle? { light ? .light : dark ? .dark : nil }

        /// The format that the end of a file's name means.
        private static func format(ofFile path: String) throws -> Format {
            let name = FilePath.name(of: path).lowercased()
            guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return .terminal }
            switch name[name.index(after: dot)...] {
            case "svg": return .svg
            case "png": return .png
            case "txt": return .terminal
            case let end:
                throw ValidationError(
                    "A code cannot be written as .\(end): name a file .svg, .png or .txt, or add --format."
                )
            }
        }

        private func drawing(of symbol: QRSymbol, as format: Format) -> [UInt8] {
            switch format {
            case .terminal: Array(symbol.terminalText(style ?? .dark).utf8)
            case .svg: Array(symbol.svg(modulePixels: scale).utf8)
            case .png: symbol.png(modulePixels: scale)
            }
        }

        /// The text to show.
        private func content() throws -> String {
            guard text == "-" else { return text }
            let read = try InputText.read("-", limit: Self.byteLimit)
            // Swift takes the two characters of such an end of line for one.
            return read.hasSuffix("\n") || read.hasSuffix("\r\n") ? String(read.dropLast()) : read
        }
    }
}

/// A code that was made.
struct QRReport: Report {
    let format: String
    let version: Int
    let level: String
    /// The modules of a side.
    let modules: Int
    /// The bytes of the text.
    let bytes: Int
    /// The file to which it was written, or the drawing itself.
    var path: String?
    var text: String?
    var base64: String?

    init(_ symbol: QRSymbol, of text: String, format: String) {
        self.format = format
        version = symbol.version.number
        level = symbol.level.rawValue
        modules = symbol.size
        bytes = text.utf8.count
    }

    var lines: [String] {
        ["\(bytes) bytes as version \(version)-\(level.uppercased()), \(modules) modules a side"]
            + (path.map { ["written to \($0)"] } ?? [])
    }
}
