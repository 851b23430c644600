internal import Bytes
internal import Identity
internal import NanoTDF
internal import RegistrationModel

extension InspectionReport {
    /// Whether a text begins as a NanoTDF in base64url, the form of identity tokens, and is longer than any id.
    static func isIdentityToken(_ text: String) -> Bool {
        guard 128...2 * IdentityTokenSealer.textByteLimit ~= text.utf8.count else { return false }
        // The first three bytes of the format are L1L.
        return PlainText.trimmed(text).utf8.starts(with: "TDFM".utf8)
    }

    /// Describes the header of a token, and with the key of its recipient the claims.
    init(identityToken text: String, at now: UInt64, key: NanoTDFPrivateKey?) throws {
        let file = try NanoTDF(Base64URL.decode(PlainText.trimmed(text)))
        let keyName = file.header.keyAccess.trimmedIdentifier
        let creator = file.signature?.creator.compressedRepresentation
        var problem: String? = file.hasValidCreatorSignature == true ? nil : "it has no valid signature"
        var fields = [
            Field("key_access", .text(file.header.keyAccess.url ?? file.header.keyAccess.body)),
            Field("key_name", keyName.isEmpty ? .none : .text(String(decoding: keyName, as: UTF8.self))),
            Field("creator", creator.map { .text(Hex.encode($0)) } ?? .none),
        ]
        if let key {
            do {
                let opened = try OpenedIdentityToken(file, with: key)
                fields += Self.fields(of: opened.token, issuer: opened.issuer)
                let isPast = UnixTime.isPast(opened.token.expires, at: now)
                problem = problem ?? (isPast ? IdentityTokenError.expired.description : nil)
            } catch {
                problem = problem ?? error.description
            }
        }
        self.init(kind: "identity-token", problem: problem, fields: fields)
    }

    private static func fields(of token: IdentityToken, issuer: String) -> [Field] {
        [
            Field("token_id", .text(token.tokenId.text)),
            Field("user_id", .text(token.userId.text)),
            Field("issuer", .text(issuer)),
            Field("audience", .text(token.audience)),
            Field("scopes", .texts(token.scopes)),
            Field("flags", .number(token.flags.rawValue)),
            Field("issued", .text(CivilTime(seconds: token.issued).description)),
            Field("expires", .text(CivilTime(seconds: token.expires).description)),
            Field("session_id", token.sessionId.map { .text($0.text) } ?? .none),
            Field("device", token.device.map { .text($0) } ?? .none),
            Field("did", token.did.map { .text($0.description) } ?? .none),
        ]
    }
}
