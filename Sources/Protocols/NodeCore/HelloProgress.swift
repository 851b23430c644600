internal import Identity

/// The hellos on one connection, and the process behind it that they name.
struct HelloProgress: Sendable {
    /// The process of the peer, once it proved a membership.
    private(set) var remoteInstance: InstanceId?
    /// The roles of that process.
    private(set) var remoteCapabilities: Frame.Capabilities = []
    /// Whether a hello of the peer was received.
    private(set) var isReceived = false
    private var repliesAwaited = 0

    /// Whether a hello of this node has no answer yet.
    var awaitsReply: Bool { repliesAwaited > 0 }

    /// Whether the peer names the process that it named before.
    func isFrom(_ instance: InstanceId) -> Bool { remoteInstance ?? instance == instance }

    mutating func noteSent() { repliesAwaited += 1 }
    mutating func noteReceived() { isReceived = true }
    mutating func noteReply() { repliesAwaited -= 1 }

    /// Learns the process of the peer; returns false if it is known.
    mutating func learn(_ instance: InstanceId, _ capabilities: Frame.Capabilities) -> Bool {
        guard remoteInstance == nil else { return false }
        remoteInstance = instance
        remoteCapabilities = capabilities
        return true
    }
}
