internal import Identity

/// The sockets of the groups that are joined, one per group and interface.
struct GroupMemberships {
    /// The identity of a socket; a change of any of it needs a new one.
    struct Key: Hashable {
        let interface: UInt32
        let name: String
        let source: IPAddress
        let group: SocketAddress
    }

    private(set) var sockets: [(key: Key, socket: InterfaceSocket)] = []

    /// The numbers of the interfaces on which a group is joined.
    var interfaces: Set<UInt32> { Set(sockets.map(\.key.interface)) }

    /// Sends a datagram to every group.
    func send(_ bytes: [UInt8]) {
        for (_, socket) in sockets { socket.send(bytes) }
    }

    /// Leaves a group.
    mutating func remove(_ key: Key) {
        sockets.removeAll { $0.key == key }
    }

    /// Leaves all groups.
    mutating func removeAll() {
        sockets = []
    }

    /// Leaves the groups that are not wanted and joins those that are new; false when the system refused one.
    mutating func follow(_ wanted: [Key]) -> Bool {
        sockets.removeAll { !wanted.contains($0.key) }
        var kept: [(key: Key, socket: InterfaceSocket)] = []
        for key in wanted {
            let socket =
                sockets.first { $0.key == key }?.socket
                ?? InterfaceSocket(group: key.group, interface: key.interface, source: key.source)
            if let socket { kept.append((key, socket)) }
        }
        sockets = kept
        return kept.count == wanted.count
    }
}
