internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import Foundation
internal import ImageFiles
internal import NodeModel
internal import NodeService
internal import Platform
internal import QRCode

extension QR {
    struct Read: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "read",
            abstract: "Read the QR codes in a picture and print their texts.",
            discussion: """
                Needs no home. Reads PNG, PGM and JPEG, of up to 134 million pixels, and on Apple systems what else they \
                know. A text is printed as it is, with an end of line behind it; of several the highest in the picture \
                comes first. Where a terminal shows it, what could steer the terminal is escaped.
                """
        )

        @Argument(help: "The picture; - is standard input.", completion: .file())
        var file: String
        @OptionGroup(title: "Output") var options: OutputOptions

        func run() throws {
            let readings = try ImageCodes.readings(in: file)
            if options.json { return try Output.json(ReadReport(readings)) }
            for reading in readings {
                if let text = reading.text, reading.message.part == nil {
                    if Output.isTerminal { try Output.line(text) } else { try Output.raw(text + "\n") }
                } else if let part = reading.message.part {
                    Output.note("this is part \(part.index + 1) of \(part.count) of a message: read it with --json")
                } else {
                    Output.note("a code is in a character set that is not read here: its bytes come with --json")
                }
            }
            guard readings.contains(where: { $0.text != nil && $0.message.part == nil }) else {
                throw CommandFailure("no-text", .data, "no code in the picture contains a whole text")
            }
        }
    }
}

/// Reads the codes in image files.
enum ImageCodes {
    /// The codes in a file (`-` is standard input), the highest first.
    ///
    /// - Throws: ``CommandFailure`` when there is none, `ImageFileError` when it is no image.
    static func readings(in path: String) throws -> [QRReading] {
        let bytes = try InputText.bytes(path, limit: ImageFile.longestFile, otherwise: "make the picture smaller")
        let readings = QRReader().read(try ImageFile.greyImage(from: bytes))
        guard !readings.isEmpty else {
            throw CommandFailure(
                "no-code",
                .data,
                "no QR code was found in the picture: the whole code must be in it with a light border, sharp, and each of "
                    + "its little squares at least two pixels wide"
            )
        }
        return readings.sorted { $0.top < $1.top }
    }
}

extension QRReading {
    /// The vertical position of its highest corner.
    fileprivate var top: Double { corners.map(\.y).min() ?? 0 }
}

/// The codes of an image.
struct ReadReport: Codable {
    /// One code.
    struct Code: Codable {
        /// Absent when it is in a character set that is not read.
        let text: String?
        let base64: String
        let version: Int
        let level: String
        let mask: Int
        /// x and y of each, of an upright code from the upper left one clockwise.
        let corners: [[Double]]
        let inverted: Bool
        let mirrored: Bool
        /// Which part of a longer message it is, from 1, and of how many.
        let part: Int?
        let parts: Int?
    }

    let codes: [Code]

    init(_ readings: [QRReading]) {
        codes = readings.map { reading in
            Code(
                text: reading.text,
                base64: Data(reading.bytes).base64EncodedString(),
                version: reading.version.number,
                level: reading.level.rawValue,
                mask: reading.mask.reference,
                corners: reading.corners.map { [($0.x * 10).rounded() / 10, ($0.y * 10).rounded() / 10] },
                inverted: reading.isInverted,
                mirrored: reading.isMirrored,
                part: reading.message.part.map { $0.index + 1 },
                parts: reading.message.part?.count
            )
        }
    }
}
