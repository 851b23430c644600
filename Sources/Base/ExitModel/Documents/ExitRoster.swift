package import Identity

/// The gateways of an exit and its issuer, signed by the operator, whose key clients pin.
package struct ExitRoster: SignedContent {
    package static let label = DomainLabel("runar/exit-roster/v1")
    package static let subject = "the operator's roster"
    package static let payloadByteLimit = 32_768
    /// The most gateways of an exit.
    package static let gatewayLimit = 256
    /// The most seconds by which a roster may be issued in the future of the reader's clock.
    package static let aheadLimitSeconds: UInt64 = 60

    package let exit: ExitName
    /// The host name of the issuer, as in token challenges.
    package let issuerName: String
    package let issuerURL: ExitURL
    /// The keys that sign descriptions: 1 to 256, no two equal.
    package let gateways: [Ed25519PublicKey]
    /// The second since 1970 of the signature.
    package let issued: UInt64
    /// The first second since 1970 in which the roster is no longer good.
    package let expires: UInt64

    /// Checks the fields.
    ///
    /// - Throws: ``ExitModelError``.
    package init(
        exit: ExitName,
        issuerName: String,
        issuerURL: ExitURL,
        gateways: [Ed25519PublicKey],
        issued: UInt64,
        expires: UInt64
    ) throws(ExitModelError) {
        guard 1...ExitName.byteLimit ~= issuerName.utf8.count,
            issuerName.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ",") })
        else {
            throw .malformed(of: "the name of the issuer", reason: "it is a host name of at most 253 characters")
        }
        guard 1...Self.gatewayLimit ~= gateways.count else {
            throw .tooLong(of: "the list of gateways", limit: Self.gatewayLimit, found: gateways.count)
        }
        guard Set(gateways).count == gateways.count else {
            throw .malformed(of: Self.subject, reason: "it lists a gateway twice")
        }
        guard issued < expires, expires <= UnixTime.maximum else {
            throw .malformed(of: Self.subject, reason: "it expires before it is issued, or after the year 9999")
        }
        self.exit = exit
        self.issuerName = issuerName
        self.issuerURL = issuerURL
        self.gateways = gateways
        self.issued = issued
        self.expires = expires
    }

    /// Checks the times at `now`, in seconds since 1970.
    ///
    /// - Throws: ``ExitModelError/rosterExpired(at:)``, ``ExitModelError/fromTheFuture(of:aheadSeconds:)``.
    package func checkTimes(at now: UInt64) throws(ExitModelError) {
        guard now < expires else { throw .rosterExpired(at: expires) }
        let ahead = issued > now ? issued - now : 0
        guard ahead <= Self.aheadLimitSeconds else { throw .fromTheFuture(of: Self.subject, aheadSeconds: ahead) }
    }
}

extension ExitRoster: Codable {
    private enum CodingKeys: String, CodingKey {
        case exit
        case issuerName
        case issuerURL
        case gateways
        case issued
        case expires
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            exit: container.decode(ExitName.self, forKey: .exit),
            issuerName: container.decode(String.self, forKey: .issuerName),
            issuerURL: container.decode(ExitURL.self, forKey: .issuerURL),
            gateways: container.decode([Ed25519PublicKey].self, forKey: .gateways),
            issued: container.decode(UInt64.self, forKey: .issued),
            expires: container.decode(UInt64.self, forKey: .expires)
        )
    }
}

extension SignedDocument<ExitRoster> {
    /// Verifies the operator's signature and the times at `now`, in seconds since 1970, and returns the roster.
    ///
    /// - Throws: ``ExitModelError``.
    package func roster(of operatorKey: Ed25519PublicKey, at now: UInt64) throws(ExitModelError) -> ExitRoster {
        let roster = try content(by: operatorKey)
        try roster.checkTimes(at: now)
        return roster
    }
}
