internal import Identity

// Peers of another version of the protocol.
extension NodeCore {
    /// Refuses a peer of another version; a dialler receives this node's version, in a place that every version reads.
    ///
    /// The reply holds no offer, and an instance of zeros: it reveals nothing but the version.
    mutating func refuseVersion(found: UInt8, supported: UInt8, on id: ConnectionId, _ turn: inout Turn) {
        guard let link = connections[id]?.link else { return }
        turn.emit(.peer(.refused(link.peer, nil, .unsupportedVersion(found: found, supported: supported))))
        if !link.isDialler {
            let reply = Frame.HelloReply(instance: .zero, capabilities: [], proofs: [], refusals: [])
            connections.send(.helloReply(reply), on: id, &turn)
        }
        close(id, .protocolViolation, &turn)
    }
}
