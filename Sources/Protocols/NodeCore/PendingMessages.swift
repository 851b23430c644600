internal import Identity

/// Messages of hash tables that await the admission of their receiver, in order.
struct PendingMessages: Sendable {
    /// A message for a peer.
    struct Message: Sendable {
        let network: NetworkId
        let bytes: [UInt8]
    }

    /// By receiver; looked up, never walked.
    private var messages: [PeerId: [Message]] = [:]
    /// The bytes of all messages.
    private var byteCount = 0

    var isEmpty: Bool { messages.isEmpty }

    /// The number of messages for a peer.
    func count(for peer: PeerId) -> Int { messages[peer]?.count ?? 0 }

    /// Whether a message for the peer stays within the bounds.
    func hasRoom(for bytes: [UInt8], to peer: PeerId, within limits: Limits) -> Bool {
        count(for: peer) < limits.pendingMessagesPerPeer
            && byteCount + bytes.count <= limits.pendingMessageBytes
    }

    mutating func add(_ bytes: [UInt8], to peer: PeerId, in network: NetworkId) {
        messages[peer, default: []].append(Message(network: network, bytes: bytes))
        byteCount += bytes.count
    }

    /// Takes the messages for a peer out, those of all networks if `network` is nil.
    mutating func take(for peer: PeerId, in network: NetworkId?) -> [Message] {
        guard let messages = self.messages[peer] else { return [] }
        let taken = messages.filter { network == nil || $0.network == network }
        let left = messages.filter { network != nil && $0.network != network }
        self.messages[peer] = left.isEmpty ? nil : left
        for message in taken { byteCount -= message.bytes.count }
        return taken
    }
}
