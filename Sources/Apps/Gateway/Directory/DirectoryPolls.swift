internal import ExitModel
internal import Identity

/// The descriptions of an exit's gateways as a directory received them, as a value.
struct DirectoryPolls: Sendable {
    private(set) var roster: SignedDocument<ExitRoster>
    private var content: ExitRoster
    private var descriptions: [Ed25519PublicKey: SignedDocument<GatewayDescription>] = [:]
    var issuerDirectory: [UInt8]?

    /// Takes the operator's roster, whose signature clients verify.
    ///
    /// - Throws: ``ExitModelError``.
    init(_ roster: SignedDocument<ExitRoster>) throws(ExitModelError) {
        self.roster = roster
        content = try roster.ownContent()
    }

    /// The URL of the issuer.
    var issuerURL: ExitURL { content.issuerURL }

    /// Takes another roster, and leaves out gateways that it does not list.
    ///
    /// - Throws: ``ExitModelError``; the former one stays in use.
    mutating func replace(_ roster: SignedDocument<ExitRoster>) throws(ExitModelError) {
        content = try roster.ownContent()
        self.roster = roster
        descriptions = descriptions.filter { content.gateways.contains($0.key) }
    }

    /// Takes the description that a gateway answered with.
    ///
    /// - Throws: ``ExitModelError`` for one that clients would refuse.
    mutating func record(_ document: SignedDocument<GatewayDescription>, at now: UInt64) throws(ExitModelError) {
        let description = try document.description(listedIn: content, at: now)
        descriptions[description.gateway] = document
    }

    /// The list of the gateways whose last description is at most 90 seconds old.
    ///
    /// - Throws: ``ExitModelError``.
    func directory(at now: UInt64) throws(ExitModelError) -> ExitDirectory {
        let fresh = descriptions.values.filter { document in
            (try? document.description(listedIn: content, at: now)) != nil  // silent for too long
        }
        return try ExitDirectory(roster: roster, gateways: Array(fresh), issuerDirectory: issuerDirectory)
    }
}
