extension WireGuardInterface {
    /// The bounds of one interface.
    package struct Limits: Hashable, Sendable {
        /// The most peers; further ones are refused.
        package var peers = 65_536
        /// The most blocks of allowed addresses, of all peers; further ones are refused.
        package var allowedAddresses = 1 << 20

        // MARK: Packets that wait for a session

        /// The packets of one peer.
        package var stagedPacketsPerPeer = 32
        /// The packets of all peers.
        package var stagedPackets = 4_096
        /// The bytes of these.
        package var stagedBytes = 4 << 20

        // MARK: Load

        /// The handshake messages in the long run above which cookies are demanded: half a core.
        package var handshakesPerSecond = 2_000
        /// And at once: so that the clients of a restarted gateway connect without cookies.
        package var handshakesAtOnce = 4_000
        /// The handshake messages of one source under load, in the long run.
        package var handshakesPerSourcePerSecond = 20
        /// And at once.
        package var handshakesPerSourceAtOnce = 5
        /// The sources under load that are distinguished, and the blocks that got cookies, in each of two generations.
        package var handshakeSources = 4_096
        /// The replies with cookies in the long run, and at once.
        package var cookieRepliesPerSecond = 5_000

        package init() {}
    }
}
