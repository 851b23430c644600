internal import Bytes
package import Identity

/// The list of an exit's gateways as a directory serves it: equal bytes for every client.
package struct ExitDirectory: Hashable, Sendable {
    /// The path at the server of the directory.
    package static let path = "/exit"
    /// The most bytes of the JSON.
    package static let byteLimit = 4 << 20
    /// The most bytes of the issuer's directory.
    package static let issuerDirectoryByteLimit = 65_536

    package let roster: SignedDocument<ExitRoster>
    /// The descriptions, ordered by their bytes, so that the order reveals nothing about the polls.
    package let gateways: [SignedDocument<GatewayDescription>]
    /// The issuer's directory as the exit directory received it, a second path for the consistency of its keys; nil before
    /// the first answer of the issuer.
    package let issuerDirectory: [UInt8]?

    /// Orders the descriptions.
    ///
    /// - Throws: ``ExitModelError/tooLong(of:limit:found:)``.
    package init(
        roster: SignedDocument<ExitRoster>,
        gateways: [SignedDocument<GatewayDescription>],
        issuerDirectory: [UInt8]?
    ) throws(ExitModelError) {
        guard gateways.count <= ExitRoster.gatewayLimit else {
            throw .tooLong(of: "the list of gateways", limit: ExitRoster.gatewayLimit, found: gateways.count)
        }
        if let issuerDirectory, issuerDirectory.count > Self.issuerDirectoryByteLimit {
            throw .tooLong(
                of: "the issuer's directory",
                limit: Self.issuerDirectoryByteLimit,
                found: issuerDirectory.count
            )
        }
        self.roster = roster
        self.gateways = gateways.sorted { $0.payload.lexicographicallyPrecedes($1.payload) }
        self.issuerDirectory = issuerDirectory
    }

    /// Reads ``json``, without a check of its signatures.
    ///
    /// - Throws: ``ExitModelError``.
    package init(json: [UInt8]) throws(ExitModelError) {
        self = try ExitJSON.decode(from: json, limit: Self.byteLimit, of: "the list of gateways")
    }

    /// The list as it travels.
    package var json: [UInt8] { ExitJSON.bytes(self) }

    /// Verifies the roster, and the descriptions at `now`, in seconds since 1970.
    ///
    /// Descriptions that are refused are left out of the result with their reason, so that one silent gateway does not hide
    /// the others.
    ///
    /// - Throws: ``ExitModelError`` for the roster.
    package func verified(by operatorKey: Ed25519PublicKey, at now: UInt64) throws(ExitModelError) -> VerifiedExit {
        let roster = try roster.roster(of: operatorKey, at: now)
        var descriptions: [Ed25519PublicKey: GatewayDescription] = [:]
        var refused: [ExitModelError] = []
        for gateway in gateways {
            do throws(ExitModelError) {
                let description = try gateway.description(listedIn: roster, at: now)
                // Of two descriptions of one gateway, the later one counts.
                if let other = descriptions[description.gateway], other.time >= description.time { continue }
                descriptions[description.gateway] = description
            } catch {
                refused.append(error)
            }
        }
        return VerifiedExit(
            roster: roster,
            gateways: descriptions.values.sorted {
                ($0.location.id, $0.gateway.base64Encoded) < ($1.location.id, $1.gateway.base64Encoded)
            },
            refused: refused,
            issuerDirectory: issuerDirectory
        )
    }
}

extension ExitDirectory: Codable {
    private enum CodingKeys: String, CodingKey {
        case roster
        case gateways
        case issuerDirectory
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let hasIssuer = try container.decodeIfPresent(String.self, forKey: .issuerDirectory) != nil
        try self.init(
            roster: container.decode(SignedDocument<ExitRoster>.self, forKey: .roster),
            gateways: container.decode([SignedDocument<GatewayDescription>].self, forKey: .gateways),
            issuerDirectory: hasIssuer
                ? container.bytes(.issuerDirectory, limit: Self.issuerDirectoryByteLimit) : nil
        )
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(roster, forKey: .roster)
        try container.encode(gateways, forKey: .gateways)
        try container.encodeIfPresent(issuerDirectory.map { Base64URL.encode($0) }, forKey: .issuerDirectory)
    }
}

/// A directory whose signatures and times were verified.
package struct VerifiedExit: Hashable, Sendable {
    package let roster: ExitRoster
    /// One description of each gateway, ordered by the id of its location.
    package let gateways: [GatewayDescription]
    /// The reasons for which other descriptions were refused.
    package let refused: [ExitModelError]
    /// The issuer's directory as the exit directory received it.
    package let issuerDirectory: [UInt8]?
}
