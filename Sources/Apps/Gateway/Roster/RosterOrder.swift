internal import CommandModel
internal import ExitModel
internal import Identity
internal import Platform
internal import WebClient

/// The order to sign a roster: the gateways of an exit, and its issuer.
package struct RosterOrder: Sendable {
    /// The days that a roster may be good.
    package static let days = 1...825

    /// The file of the operator's key, which is made if it is missing.
    package var keyPath: String
    package var exitName: String
    /// The URL of the issuer.
    package var issuer: String
    /// The keys of the gateways in padded base64.
    package var gateways: [String]
    package var days = 90
    /// The file that the roster is written to.
    package var rosterPath: String

    package init(keyPath: String, exitName: String, issuer: String, gateways: [String], rosterPath: String) {
        self.keyPath = keyPath
        self.exitName = exitName
        self.issuer = issuer
        self.gateways = gateways
        self.rosterPath = rosterPath
    }

    /// Signs the roster at `now`, in seconds since 1970, and writes it.
    ///
    /// - Throws: ``CommandFailure``, ``ExitModelError``, ``IdentityError``, ``FileError``.
    package func sign(at now: UInt64) throws -> RosterReport {
        guard Self.days.contains(days) else {
            throw CommandFailure(
                "bad-lifetime",
                .usage,
                "--days must be a number from \(Self.days.lowerBound) to \(Self.days.upperBound)"
            )
        }
        try FileToWrite.checkFolder(of: keyPath, option: "--operator-key")
        try FileToWrite.checkFolder(of: rosterPath, option: "--to")
        let url = try WebURL(issuer)
        try url.requireEncryption()
        let roster = try ExitRoster(
            exit: ExitName(exitName),
            issuerName: url.host.description,
            issuerURL: ExitURL(ExitURL(issuer).base),
            gateways: gateways.map { try Ed25519PublicKey(base64Encoded: $0) },
            issued: now,
            expires: now + UInt64(days) * 86_400
        )
        var random = SystemRandom()
        let key = try KeyFile(path: keyPath).load(using: &random)
        try AtomicFile.write(SignedDocument(roster, by: key).json, to: rosterPath, mode: 0o644)
        return RosterReport(
            operatorKey: key.publicKey.base64Encoded,
            roster: rosterPath,
            gateways: roster.gateways.map(\.base64Encoded),
            expires: roster.expires
        )
    }
}

/// A roster that was signed.
package struct RosterReport: Report {
    /// The public key that clients pin, in padded base64.
    package let operatorKey: String
    /// The path of the roster.
    package let roster: String
    package let gateways: [String]
    /// The first second since 1970 in which the roster is no longer good.
    package let expires: UInt64

    package var lines: [String] {
        [
            "signed the roster of \(gateways.count) gateways in \(roster), good until \(LocalTime(seconds: expires))",
            "operator key for clients: \(operatorKey)",
        ]
    }
}
