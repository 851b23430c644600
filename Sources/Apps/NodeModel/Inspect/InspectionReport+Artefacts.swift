internal import Bytes
internal import Certificates
internal import Circle
internal import Identity
package import NanoTDF

extension InspectionReport {
    private static let pemBegin = Array("-----BEGIN ".utf8)

    /// Identifies the content of a file, and whether it is valid at `now`, in seconds since 1970.
    ///
    /// `key` opens an identity token.
    ///
    /// - Throws: ``IdentityError``, ``NodeCertificateError`` or ``NanoTDFError`` when it has none of the known formats.
    package init(_ bytes: [UInt8], at now: UInt64, key: NanoTDFPrivateKey? = nil) throws {
        if bytes.starts(with: Self.pemBegin) {
            let text = String(decoding: bytes, as: UTF8.self)
            self.init(try CertificateSummary(pem: text))
        } else if let text = String(utf8: bytes), ProfileCard.isText(text) {
            self.init(try ProfileCard(text: text))
        } else if let text = String(utf8: bytes), Self.isIdentityToken(text) {
            try self.init(identityToken: text, at: now, key: key)
        } else {
            self.init(try Artefact.parse(bytes: bytes).explanation(at: now))
        }
    }

    private init(_ explanation: Artefact.Explanation) {
        let fields = explanation.fields.map { field in
            let value: Field.Value =
                switch field.value {
                case .string(let text): .text(text)
                case .integer(let number): .number(number)
                case .boolean(let answer): .answer(answer)
                case .strings(let texts): .texts(texts)
                case .null: .none
                }
            return Field(field.name, value)
        }
        self.init(kind: explanation.kind, problem: explanation.problem, fields: fields)
    }

    private init(_ card: ProfileCard) {
        self.init(
            kind: "person",
            problem: nil,
            fields: [
                Field("person_id", .text(card.publicID.text)),
                Field("name", .text(card.profile.name)),
                Field("blurb", card.profile.blurb.map { .text($0) } ?? .none),
                Field("devices", .texts(card.devices.map(\.text))),
                Field("homes", .texts(card.homes.map(\.text))),
                Field("issued", .text(CivilTime(seconds: card.issuedSeconds).description)),
            ]
        )
    }

    private init(_ certificate: CertificateSummary) {
        let problem: String?
        if certificate.peerId == nil {
            problem = "its key (\(certificate.keyKind)) cannot be the key of a node: nodes use Ed25519"
        } else {
            problem = certificate.isSelfSigned ? nil : "it is not signed by its own key"
        }
        let notBefore = UnixTime.clampedSeconds(of: certificate.notValidBefore)
        let notAfter = UnixTime.clampedSeconds(of: certificate.notValidAfter)
        self.init(
            kind: "certificate",
            problem: problem,
            fields: [
                Field("peer_id", certificate.peerId.map { .text($0.base64Encoded) } ?? .none),
                Field("peer_text", certificate.peerId.map { .text($0.text) } ?? .none),
                Field("key_kind", .text(certificate.keyKind)),
                Field("subject", .text(certificate.subject)),
                Field("issuer", .text(certificate.issuer)),
                Field("serial_number", .text(Hex.encode(certificate.serialNumber))),
                Field("not_before", .text(CivilTime(seconds: notBefore).description)),
                Field("not_after", .text(CivilTime(seconds: notAfter).description)),
            ]
        )
    }
}
