/// The bounds of a node, each with its reason.
package struct Limits: Hashable, Sendable {
    /// The duration of a manual disconnect from a peer: long enough for its purpose, and short enough to forget about.
    package var manualDisconnectPause = Duration.seconds(600)
    /// The time that a connection may stay without an admission: a hello takes one round trip.
    package var helloTimeout = Duration.seconds(5)
    /// Concurrent connections to peers; a further one is closed with `tooManyPeers`.
    package var connections = 2048
    /// Connections that are kept without use; beyond them the least recently used are closed.
    package var keptConnections = 64
    /// The time after its last use before which a surplus connection is not closed.
    package var idlePause = Duration.seconds(30)
    /// The interval of the checks for surplus connections.
    package var surplusLook = Duration.seconds(5)
    /// The time for which a peer is not sought again after one of the two had no room for an idle connection.
    package var surplusPause = Duration.seconds(600)
    /// Concurrent accepted connections without an admission, in addition to those with peers: each may hold 200 KB.
    package var unadmittedConnections = 256
    /// The interval of the notes that peers are connected, the most that a crash loses: each is one transaction for all
    /// peers.
    package var seenPause = Duration.seconds(600)
    /// Connections to one peer: the one in use, and some that drain.
    package var connectionsPerPeer = 4
    /// Remembered peers; the oldest one that is neither wanted nor connected makes room.
    package var knownPeers = 16384
    /// Addresses kept for a peer, the most promising first.
    package var addressesPerPeer = 8
    /// Failed dials in a row after which an address is forgotten if the peer answered at another port of the same IP
    /// address: enough for a short fault, and few enough that the ports before restarts are soon no longer dialled.
    package var failuresPerAddress = 3
    /// Networks that may be admitted on one connection.
    package var networksPerConnection = 64
    /// Hellos that one connection may send at once, and one more each minute: each may cost eight signature checks.
    package var hellosPerConnection = 256
    /// Comparisons of revocations that one connection may request at once, and one more each minute: each may cost a
    /// long answer.
    package var comparisonsPerConnection = 512
    /// Requests for a new token that one connection may send at once, and one more each minute: each costs a signature.
    package var renewalsPerConnection = 4
    /// The time that a dial may take before the traversal over other members starts, as RFC 8305, section 8,
    /// waits before the next attempt.
    package var traversalDelay = Duration.milliseconds(250)
    /// Concurrent dials; further ones are queued.
    package var dials = 64
    /// Concurrent dials of one peer, each to addresses that the others do not try.
    package var dialsPerPeer = 4
    /// Queued dials; further peers are tried again later.
    package var queuedDials = 4096
    /// Messages of hash tables that wait for one peer's admission: one query of each of some lookups.
    package var pendingMessagesPerPeer = 32
    /// Bytes of all messages that wait: some records of the largest size for all their replicas.
    package var pendingMessageBytes = 16 << 20
    /// The first pause before dialling again; doubled with every failure.
    package var firstRetry = Duration.milliseconds(500)
    /// The time for which a peer that could not be dialled, or did not stay, is not dialled for a message of a hash
    /// table.
    package var failurePause = Duration.seconds(10)
    /// The longest pause between dials of a wanted peer.
    package var longestRetry = Duration.seconds(300)
    /// The longest pause between dials of a peer that is neither wanted nor an inviter.
    package var longestSearch = Duration.seconds(3600)
    /// The pause after the first of the replacements by which two nodes with one key take turns; doubled with each.
    package var firstKeyPause = Duration.seconds(2)
    /// The longest of these pauses.
    package var longestKeyPause = Duration.seconds(300)
    /// The time without a sign of it after which a key no longer counts as used in two places: both nodes may wait
    /// for the longest pause before the next sign.
    package var keyQuietTime = Duration.seconds(900)
    /// A connection that was admitted for so long was a success: the next pause is short again.
    package var stableAfter = Duration.seconds(30)
    /// The longest interval of the checks for expiry, because the wall clock may be set.
    package var longestExpirySleep = Duration.seconds(60)
    /// A wall clock further than this behind a signed time already seen does not decide about expiry.
    package var clockToleranceSeconds: UInt64 = 300
    /// Wrong proofs after which an invitation is burnt.
    package var wrongProofs = 5
    /// Concurrently open invitations of one network.
    package var openInvitations = 16
    /// Ended invitations that are remembered, so that a joiner learns the fate of its invitation.
    package var endedInvitations = 64
    /// Proofs that one connection may show at once, and one more each minute: each costs a hash for every invitation.
    package var joinsPerConnection = 8
    /// The time that the inviter's user may take to consent.
    package var joinPatience = Duration.seconds(120)
    /// The further time that a joiner waits for the inviter, which reports that consent did not arrive in time.
    package var joinReplyPause = Duration.seconds(10)
    /// The time within which a joiner must reach the inviter.
    package var joinReach = Duration.seconds(30)
    /// Joins of this device that may be under way.
    package var joins = 8

    package init() {}
}

extension Limits {
    /// Limits the connections to `peers`; the node refuses further ones with `tooManyPeers`.
    package mutating func keep(peers: Int) {
        connections = peers
        keptConnections = min(keptConnections, peers)
        // Enough that a hello arrives before as many handshakes from elsewhere took the places.
        unadmittedConnections = min(unadmittedConnections, max(64, peers / 4))
    }
}
