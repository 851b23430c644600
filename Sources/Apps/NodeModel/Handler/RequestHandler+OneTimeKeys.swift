internal import CommandModel
internal import Foundation
internal import Identity
internal import OneTimeKeys
internal import Platform
internal import RunarNode
internal import SealedMessages

// One-time keys, and messages that are sealed with them.
extension RequestHandler {
    package func keyRelationships() throws -> KeyRelationshipsReport {
        let labels = Dictionary(
            uniqueKeysWithValues: try node.knownPeers().compactMap { known in known.label.map { (known.peerId, $0) } }
        )
        let relationships = try keyStores().relationships
        return KeyRelationshipsReport(relationships: relationships.map { .init($0, label: labels[$0.peer]) })
    }

    package func exchangeKeys(with peer: PeerName) async throws -> KeyRelationshipReport {
        KeyRelationshipReport(try await keyStores().exchangeKeys(with: resolve(peer)))
    }

    package func verifyKeys(of peer: PeerName, digits: String) async throws -> KeyRelationshipReport {
        let number = try Self.safetyNumber(digits)
        let peer = try resolve(peer)
        let keyStores = try keyStores()
        try await keyStores.verify(number, with: peer)
        return try report(of: peer, keyStores)
    }

    /// - Throws: ``CommandFailure`` unless there are 60 digits.
    static func safetyNumber(_ digits: String) throws(CommandFailure) -> SafetyNumber {
        if let number = SafetyNumber(digits) { return number }
        throw CommandFailure(
            "bad-safety-number",
            .data,
            "a safety number has 60 digits: give all twelve groups, with or without spaces"
        )
    }

    package func removeKeys(of peer: PeerName) async throws -> DoneReport {
        try await keyStores().removeKeys(of: resolve(peer))
        return DoneReport(done: true)
    }

    package func sendSealed(_ text: String, to peer: PeerName) async throws -> SentReport {
        let keyStores = try keyStores()
        return try await deliver(text, to: resolve(peer), isSealed: true) { peer in
            try await keyStores.send(Array(text.utf8), to: peer)
        }
    }

    private func report(of peer: PeerId, _ keyStores: KeyStoreManager) throws -> KeyRelationshipReport {
        guard let relationship = keyStores.relationship(with: peer) else { throw SealedMessageError.noKeys(peer) }
        return KeyRelationshipReport(relationship)
    }
}
