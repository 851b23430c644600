internal import APIDescription
internal import HTTPAPI
internal import Identity
internal import NodeModel
internal import QRCode

// Texts and the codes that carry them.
extension Operations {
    /// A frame of a camera has 2 megapixels.
    private static let imageByteLimit = 4 << 20

    static let inspect = Operation<NoPath, TextForm, InspectionReport>(.post, "/inspect", .overTheNetwork)

    static let code = Operation<NoPath, NodeAPI.CodeForm, NodeAPI.Code>(.post, "/code", .overTheNetwork)

    static let readCode = Operation<NoPath, ImageQuery, NodeAPI.Texts>(
        .post,
        "/read-code",
        .overTheNetwork,
        body: .bytes(limit: imageByteLimit)
    )
}

extension NodeAPI {
    struct CodeForm: Decodable {
        enum Level: String, Decodable, CaseIterable {
            case low = "L"
            case medium = "M"
            case quartile = "Q"
            case high = "H"
        }

        let text: String
        let level: Level?
    }

    struct Code: Codable {
        let size: Int
        /// A character for each module: 1 is dark.
        let rows: [String]
    }

    struct Texts: Codable {
        let texts: [String]
    }

    var codeOperations: [APIOperation] {
        [
            serve(Operations.inspect) { request in
                let text = try Self.text(request.form.text)
                do {
                    return try InspectionReport(Array(text.utf8), at: handler.now.wallSeconds)
                } catch {
                    return InspectionReport(malformed: "\(error)")
                }
            },
            serve(Operations.code) { request in
                let level = Self.level(request.form.level ?? .medium)
                let symbol = try QRSymbol(encoding: request.form.text, level: level)
                let rows = (0..<symbol.size).map { y in
                    String((0..<symbol.size).map { x in symbol[x, y] ? "1" : "0" })
                }
                return Code(size: symbol.size, rows: rows)
            },
            serve(Operations.readCode) { request in
                let sides = 1...GreyImage.longestSide
                guard let width = try RouteRequest.number(request.form.width, "width", in: sides),
                    let height = try RouteRequest.number(request.form.height, "height", in: sides)
                else { throw RouteRequest.badField("width", "and \"height\" must give the size of the picture") }
                let pixels = request.content
                guard pixels.count == width * height else {
                    throw RouteFailure(
                        422,
                        "bad-picture",
                        "a picture of \(width) x \(height) has \(width * height) grey bytes, not \(pixels.count)"
                    )
                }
                let image = try GreyImage(width: width, height: height, pixels: pixels)
                return Texts(texts: QRReader().read(image).compactMap { $0.message.part == nil ? $0.text : nil })
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
