internal import Crypto
internal import Identity
internal import OrderedCollections

/// The filtering of this node's NAT, or of a firewall, in the words of RFC 4787, section 5.
package enum FilteringBehaviour: Hashable, Sendable {
    /// Any source may send to a port that has sent a datagram.
    case endpointIndependent
    /// Only sources to whose address, or address and port, a datagram was sent.
    case endpointDependent
    /// It could not be determined.
    case unknown(Reason)

    /// Why not.
    package enum Reason: Hashable, Sendable {
        /// No member is connected that could help.
        case noHelper
        /// No member that is not connected to this device could be found: to such a one something was sent already.
        case noAlternate
        /// The member that was requested did not answer.
        case noAnswer
    }
}

/// The test of this node's filtering: a member has another one, to which this node never sent anything, send a probe.
///
/// A STUN server with two addresses would answer from the other one; among members a second one does instead.
struct FilteringTest: Sendable {
    /// A test under way.
    private struct Pending: Sendable {
        let key: PathKey
        /// The member to which the request was sent.
        let helper: PeerId
        /// The member that was found to send the probe.
        var alternate: PeerId?
        /// The deadline.
        let endsAt: Duration
    }

    private var pending: Pending?

    /// The deadline of the test under way.
    var due: Duration? { pending?.endsAt }

    /// Begins the test, unless one is under way.
    mutating func begin(
        _ peers: AdmittedPeers,
        _ secrets: inout SecretSource,
        _ patience: Duration,
        _ turn: inout Reach.Turn
    ) {
        guard pending == nil else { return }
        guard let (helper, peer) = peers.states.first(where: { $0.value.channel == nil && !$0.value.isSuspect }),
            let network = peer.networks.first
        else { return turn.emit(.host(.filteringFound(.unknown(.noHelper)))) }
        let drawn = secrets.drawPathKey()
        pending = Pending(key: drawn, helper: helper, endsAt: turn.now + patience)
        let known = Array(peers.states.keys.prefix(Reach.Message.knownLimit))
        turn.emit(.send(helper, network, Reach.Message.filteringRequest(drawn.id, drawn.key, known: known).bytes))
    }

    /// The member that got the request names the peer that sends the probe.
    mutating func alternateNamed(
        _ id: SessionId,
        _ alternate: PeerId?,
        by helper: PeerId,
        _ peers: AdmittedPeers,
        _ turn: inout Reach.Turn
    ) {
        guard let pending, pending.key.id == id, pending.helper == helper else { return }
        guard let alternate, peers[alternate] == nil else { return end(.unknown(.noAlternate), &turn) }
        self.pending?.alternate = alternate
    }

    /// Ends the test with its probe; returns whether the packet is one.
    ///
    /// A probe from an address to which nothing was sent passed the NAT, which proves endpoint-independent filtering.
    mutating func takeProbe(
        _ packet: STUNPacket,
        _ id: SessionId,
        from address: SocketAddress,
        _ peers: AdmittedPeers,
        _ turn: inout Reach.Turn
    ) -> Bool {
        guard let pending, pending.key.id == id,
            packet.isAuthentic(under: SymmetricKey(data: pending.key.key.bytes), by: .sha256)
        else { return false }
        let isFromAlternate = !peers.states.values.contains { $0.link.remote.ip == address.ip }
        end(isFromAlternate ? .endpointIndependent : .unknown(.noAlternate), &turn)
        return true
    }

    /// Ends the test if its deadline has passed.
    mutating func expire(_ turn: inout Reach.Turn) {
        guard let pending, pending.endsAt <= turn.now else { return }
        end(pending.alternate == nil ? .unknown(.noAnswer) : .endpointDependent, &turn)
    }

    private mutating func end(_ answer: FilteringBehaviour, _ turn: inout Reach.Turn) {
        pending = nil
        turn.emit(.host(.filteringFound(answer)))
    }
}
