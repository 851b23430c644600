internal import APIDescription
internal import Bytes
internal import Foundation
internal import HTTPAPI
internal import NodeModel

extension RouteRequest {
    /// The network in the path, nil for the only one.
    var network: NetworkName? { parameters[NetworkName?.parameter].flatMap { NetworkName?(segment: $0) } }
}

extension ContentForm {
    /// The bytes.
    ///
    /// - Throws: ``RouteFailure`` when it is neither, or both.
    func bytes() throws -> Data {
        switch (text, base64) {
        case (let text?, nil): return Data(text.utf8)
        case (nil, let base64?): return try Self.decode(base64, "base64")
        default: throw RouteRequest.badField("text", "or \"base64\" must give the content, but not both")
        }
    }

    /// - Throws: ``RouteFailure``.
    static func decode(_ text: String, _ field: String) throws -> Data {
        guard let bytes = try? Base64.decode(text) else {  // invalid text fails below
            throw RouteRequest.badField(field, "is not base64: send the bytes in base64, with padding (RFC 4648)")
        }
        return Data(bytes)
    }
}
