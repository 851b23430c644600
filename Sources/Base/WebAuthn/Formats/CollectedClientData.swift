internal import Bytes
internal import Identity

/// The context of a ceremony as the client saw it (Web Authentication Level 3, section 5.8.1).
///
/// Members of unknown names are ignored: browsers add some so that servers do not compare with a template.
package struct CollectedClientData: Hashable, Sendable {
    /// The most bytes of the JSON text.
    package static let maximumByteCount = 4_096

    /// The kind of ceremony: `webauthn.create` or `webauthn.get`.
    package let type: String
    package let challenge: [UInt8]
    package let origin: String
    /// Whether the ceremony ran in a frame of a page of another origin.
    package let crossOrigin: Bool
    /// The origin of the outermost page, if the ceremony ran in a frame of another origin.
    package let topOrigin: String?

    /// Reads the JSON text in UTF-8, with or without a byte order mark.
    package init(json: [UInt8]) throws(WebAuthnError) {
        guard json.count <= Self.maximumByteCount else {
            throw .tooLong(Self.subject, limit: Self.maximumByteCount, found: json.count)
        }
        guard String(utf8: json) != nil else { throw .malformed(of: Self.subject, reason: "it is not UTF-8") }
        let fields: [JSONField]
        do {
            fields = try JSONValue.fields(
                of: json.starts(with: Self.byteOrderMark) ? [UInt8](json.dropFirst(Self.byteOrderMark.count)) : json,
                limits: Self.limits
            )
        } catch {
            throw .malformed(of: Self.subject, reason: "\(error)")
        }
        type = try Self.string("type", in: fields)
        origin = try Self.string("origin", in: fields)
        let challengeText = try Self.string("challenge", in: fields)
        do {
            challenge = try Base64URL.decode(challengeText)
        } catch {
            throw .malformed(of: Self.subject, reason: "the challenge is not base64url")
        }
        switch Self.value("crossOrigin", in: fields) {
        case nil: crossOrigin = false
        case .boolean(let value): crossOrigin = value
        case .object, .array, .string, .integer, .number, .null:
            throw .malformed(of: Self.subject, reason: "crossOrigin is not a Boolean")
        }
        topOrigin = Self.value("topOrigin", in: fields) == nil ? nil : try Self.string("topOrigin", in: fields)
    }

    private static let subject = "the client data"
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private static let limits = JSONLimits(byteCount: maximumByteCount, fieldCount: 64, depth: 8)

    private static func value(_ name: String, in fields: [JSONField]) -> JSONValue? {
        fields.first { $0.name == name }?.value
    }

    private static func string(_ name: String, in fields: [JSONField]) throws(WebAuthnError) -> String {
        guard case .string(let value) = value(name, in: fields) else {
            throw .malformed(of: subject, reason: "\(name) is missing or not a text")
        }
        return value
    }
}
