internal import Bytes
package import Identity

/// The description of a gateway, which it signs every 30 seconds.
package struct GatewayDescription: SignedContent, Identifiable {
    package static let label = DomainLabel("runar/gateway-description/v1")
    package static let subject = "the description of the gateway"
    package static let payloadByteLimit = 8_192
    /// The pause between two descriptions.
    package static let periodSeconds: UInt64 = 30
    /// The age from which a description is refused.
    package static let ageLimitSeconds: UInt64 = 90
    /// The most seconds by which a description may be in the future of the reader's clock.
    package static let aheadLimitSeconds: UInt64 = 60
    /// The path at a gateway of its signed description.
    package static let path = "/description"
    /// The most bytes of a certificate.
    package static let certificateByteLimit = 2_048

    /// The key that signs the description.
    package let gateway: Ed25519PublicKey
    /// The key: a later description is one of the same gateway.
    package var id: Ed25519PublicKey { gateway }
    package let exit: ExitName
    package let location: ServerLocation
    package let place: GatewayPlace
    /// The URL of the gateway's server, below which ``RedemptionForm/path`` lies.
    package let redemptionURL: ExitURL
    /// The SHA-256 digest of the SubjectPublicKeyInfo of the certificate, which clients pin.
    package let keyDigest: Bytes32
    /// The self-made certificate in DER, which clients then trust as the only authority; nil for one by a public authority.
    package let certificate: [UInt8]?
    /// The second since 1970 of the signature.
    package let time: UInt64
    /// Whether the gateway takes no further clients, because it is about to stop.
    package let isDraining: Bool

    /// Checks the fields.
    ///
    /// - Throws: ``ExitModelError``.
    package init(
        gateway: Ed25519PublicKey,
        exit: ExitName,
        location: ServerLocation,
        place: GatewayPlace,
        redemptionURL: ExitURL,
        keyDigest: Bytes32,
        certificate: [UInt8]?,
        time: UInt64,
        isDraining: Bool
    ) throws(ExitModelError) {
        if let certificate, certificate.count > Self.certificateByteLimit {
            throw .tooLong(of: "the certificate", limit: Self.certificateByteLimit, found: certificate.count)
        }
        guard time <= UnixTime.maximum else {
            throw .malformed(of: Self.subject, reason: "its time is after the year 9999")
        }
        self.gateway = gateway
        self.exit = exit
        self.location = location
        self.place = place
        self.redemptionURL = redemptionURL
        self.keyDigest = keyDigest
        self.certificate = certificate
        self.time = time
        self.isDraining = isDraining
    }

    /// Checks the age at `now`, in seconds since 1970: at most 90 seconds old, and at most 60 seconds in the future.
    ///
    /// - Throws: ``ExitModelError/stale(ageSeconds:limitSeconds:)``,
    ///   ``ExitModelError/fromTheFuture(of:aheadSeconds:)``.
    package func checkTime(at now: UInt64) throws(ExitModelError) {
        if time > now {
            guard time - now <= Self.aheadLimitSeconds else {
                throw .fromTheFuture(of: Self.subject, aheadSeconds: time - now)
            }
        } else {
            guard now - time <= Self.ageLimitSeconds else {
                throw .stale(ageSeconds: now - time, limitSeconds: Self.ageLimitSeconds)
            }
        }
    }

    /// The self-made certificate in PEM, as a web client takes its authorities; nil without one.
    package var certificatePEM: String? {
        guard let certificate else { return nil }
        let text = Array(Base64.encode(certificate).utf8)
        let lines = stride(from: 0, to: text.count, by: 64).map { start in
            String(decoding: text[start..<min(start + 64, text.count)], as: UTF8.self)
        }
        return (["-----BEGIN CERTIFICATE-----"] + lines + ["-----END CERTIFICATE-----", ""]).joined(separator: "\n")
    }
}

extension GatewayDescription: Codable {
    private enum CodingKeys: String, CodingKey {
        case gateway
        case exit
        case location
        case place
        case redemptionURL
        case keyDigest
        case certificate
        case time
        case isDraining
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let hasCertificate = try container.decodeIfPresent(String.self, forKey: .certificate) != nil
        try self.init(
            gateway: container.decode(Ed25519PublicKey.self, forKey: .gateway),
            exit: container.decode(ExitName.self, forKey: .exit),
            location: container.decode(ServerLocation.self, forKey: .location),
            place: container.decode(GatewayPlace.self, forKey: .place),
            redemptionURL: container.decode(ExitURL.self, forKey: .redemptionURL),
            keyDigest: container.bytes32(.keyDigest),
            certificate: hasCertificate ? container.bytes(.certificate, limit: Self.certificateByteLimit) : nil,
            time: container.decode(UInt64.self, forKey: .time),
            isDraining: container.decode(Bool.self, forKey: .isDraining)
        )
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(gateway, forKey: .gateway)
        try container.encode(exit, forKey: .exit)
        try container.encode(location, forKey: .location)
        try container.encode(place, forKey: .place)
        try container.encode(redemptionURL, forKey: .redemptionURL)
        try container.encode(Base64URL.encode(keyDigest.bytes), forKey: .keyDigest)
        try container.encodeIfPresent(certificate.map { Base64URL.encode($0) }, forKey: .certificate)
        try container.encode(time, forKey: .time)
        try container.encode(isDraining, forKey: .isDraining)
    }
}

extension SignedDocument<GatewayDescription> {
    /// Verifies the description of a gateway that `roster` lists, signed at most 90 seconds before `now`.
    ///
    /// - Throws: ``ExitModelError``.
    package func description(listedIn roster: ExitRoster, at now: UInt64) throws(ExitModelError) -> GatewayDescription {
        // The key is read from the payload, and trusted because the roster lists it.
        let key = try unverifiedContent().gateway
        guard roster.gateways.contains(key) else { throw .unlistedGateway }
        let description = try content(by: key)
        guard description.exit == roster.exit else {
            throw .otherExit(expected: roster.exit.text, found: description.exit.text)
        }
        try description.checkTime(at: now)
        return description
    }
}
