internal import Console
internal import Identity
internal import Platform
internal import QRCode

// Texts and the codes that carry them.
extension NodeAPI {
    private struct CodeForm: Decodable {
        enum Level: String, Decodable, CaseIterable {
            case low = "L"
            case medium = "M"
            case quartile = "Q"
            case high = "H"
        }

        let text: String
        let level: Level?
    }

    private struct Code: Codable {
        let size: Int
        /// A character for each module: 1 is dark.
        let rows: [String]
    }

    private struct Texts: Codable {
        let texts: [String]
    }

    /// A frame of a camera has 2 megapixels.
    private static let imageByteLimit = 4 << 20

    var codeOperations: [APIOperation] {
        [
            route(.post, "/inspect", .overTheNetwork, .json(TextForm.self)) { _, form in
                let text = try Self.text(form.text)
                do {
                    return try InspectionReport(Array(text.utf8), at: SystemProcess.wallSeconds)
                } catch {
                    return InspectionReport(malformed: "\(error)")
                }
            },
            route(.post, "/code", .overTheNetwork, .json(CodeForm.self)) { _, form in
                let symbol = try QRSymbol(encoding: form.text, level: Self.level(form.level ?? .medium))
                let rows = (0..<symbol.size).map { y in
                    String((0..<symbol.size).map { x in symbol[x, y] ? "1" : "0" })
                }
                return Code(size: symbol.size, rows: rows)
            },
            route(
                .post,
                "/read-code",
                .overTheNetwork,
                .query(ImageQuery.self, body: .bytes(limit: Self.imageByteLimit))
            ) { request, query in
                let sides = 1...GreyImage.longestSide
                guard let width = try RouteRequest.number(query.width, "width", in: sides),
                    let height = try RouteRequest.number(query.height, "height", in: sides)
                else { throw RouteRequest.badField("width", "and \"height\" must give the size of the picture") }
                guard request.body.count == width * height else {
                    throw RouteFailure(
                        422,
                        "bad-picture",
                        "a picture of \(width) x \(height) has \(width * height) grey bytes, not \(request.body.count)"
                    )
                }
                let image = try GreyImage(width: width, height: height, pixels: request.body)
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
