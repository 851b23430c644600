internal import APIDescription
internal import ExitModel
internal import HTTPAPI

/// The endpoints of an exit directory.
enum DirectoryEndpoints {
    static let exit = Endpoint<NoPath, NoForm, ExitDirectory>(
        .get,
        ExitDirectory.path,
        .none,
        notes: EndpointNotes(
            summary: "The gateways of the exit",
            details:
                "Equal bytes for every client: the signed roster, the signed descriptions, and the issuer's directory.",
            tags: ["directory"],
            answerFields: ["ETag": "The digest of the bytes, for If-None-Match."]
        )
    )
    static let health = Endpoint<NoPath, NoForm, DirectoryHealthReport>(
        .get,
        "/health",
        .none,
        notes: EndpointNotes(summary: "The number of gateways in the list", tags: ["operation"])
    )
}

/// The state of an exit directory.
struct DirectoryHealthReport: Codable, Sendable {
    let gateways: Int
}
