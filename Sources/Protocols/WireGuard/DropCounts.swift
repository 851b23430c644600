/// The numbers of packets and messages that an interface dropped, by reason; none of them causes an answer.
package struct DropCounts: Hashable, Sendable {
    /// Datagrams that are no messages.
    package var malformed: UInt64 = 0
    /// Handshake messages with a wrong first code: their sender does not know the local key.
    package var wrongCode: UInt64 = 0
    /// Handshake messages beyond the budgets under load.
    package var overloaded: UInt64 = 0
    /// Initiations of peers that are not configured.
    package var unknownPeer: UInt64 = 0
    /// Initiations that are not newer than an earlier one, or too frequent.
    package var replayedInitiation: UInt64 = 0
    /// Messages with an index that is not in use.
    package var unknownIndex: UInt64 = 0
    /// Messages that are not authentic.
    package var forged: UInt64 = 0
    /// Transport messages that arrived before, or too late.
    package var replayed: UInt64 = 0
    /// Packets inside the tunnel with a source that is not the peer's, or that are no IP packets.
    package var wrongSource: UInt64 = 0
    /// Packets of the local machine without a peer, or to a peer without an endpoint.
    package var unroutable: UInt64 = 0
}
