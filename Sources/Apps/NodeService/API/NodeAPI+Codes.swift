internal import Console
internal import Identity
internal import Platform
internal import QRCode

// Texts and the codes that carry them.
extension NodeAPI {
    private struct CodeForm: Decodable {
        enum Level: String, Decodable {
            case low = "L"
            case medium = "M"
            case quartile = "Q"
            case high = "H"
        }

        let text: String
        let level: Level?
    }

    private struct Code: Encodable {
        let size: Int
        /// A character for each module: 1 is dark.
        let rows: [String]
    }

    private struct Texts: Encodable {
        let texts: [String]
    }

    /// A frame of a camera has 2 megapixels.
    private static let pictureByteLimit = 4 << 20

    var codeRoutes: [ConsoleRoute] {
        [
            route(.post, "/inspect", body: .json()) { request in
                let text = try Self.text(request)
                do {
                    return try InspectionReport(Array(text.utf8), at: SystemProcess.wallSeconds)
                } catch {
                    return InspectionReport(malformed: "\(error)")
                }
            },
            route(.post, "/code", body: .json()) { request in
                let form: CodeForm = try request.form()
                let symbol = try QRSymbol(encoding: form.text, level: Self.level(form.level ?? .medium))
                let rows = (0..<symbol.size).map { y in
                    String((0..<symbol.size).map { x in symbol[x, y] ? "1" : "0" })
                }
                return Code(size: symbol.size, rows: rows)
            },
            route(.post, "/read-code", body: .bytes(limit: Self.pictureByteLimit)) { request in
                let sides = 1...GreyPicture.longestSide
                guard let width = try request.number("width", in: sides),
                    let height = try request.number("height", in: sides)
                else { throw ConsoleRequest.badField("width", "and \"height\" must say how large the picture is") }
                guard request.body.count == width * height else {
                    throw ConsoleFailure(
                        422,
                        "bad-picture",
                        "a picture of \(width) x \(height) has \(width * height) grey bytes, not \(request.body.count)"
                    )
                }
                let picture = try GreyPicture(width: width, height: height, pixels: request.body)
                return Texts(texts: QRReader().read(picture).compactMap { $0.message.part == nil ? $0.text : nil })
            },
        ]
    }

    private static func level(_ level: CodeForm.Level) -> ErrorCorrectionLevel {
        switch level {
        case .low: .l
        case .medium: .m
        case .quartile: .q
        case .high: .h
        }
    }
}
