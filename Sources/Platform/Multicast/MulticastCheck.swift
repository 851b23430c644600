internal import Identity

/// Whether multicast works on this machine, found out by listening to oneself.
package enum MulticastCheck {
    /// The outcome on an interface.
    package enum Outcome: String, Hashable, Sendable {
        /// The sent datagram was received.
        case heard
        /// No datagram was received.
        case silent
        /// The system refused to join a group.
        case refused
    }

    /// The outcome on an interface with one family of addresses.
    package struct Result: Hashable, Sendable {
        package let interface: String
        package let isIPv6: Bool
        package let outcome: Outcome
    }

    /// The time spent listening; a socket's own datagrams return at once.
    private static let patience = Duration.milliseconds(500)

    /// Joins the standard groups on each interface that carries multicast, on a port where no node listens, and listens.
    package static func run(on interfaces: [NetworkInterface]) -> [Result] {
        var random = SystemRandom()
        let mark = random.bytes(count: 16)
        guard let groups = MulticastGroups.standard(port: .random(in: 49_152...65_535, using: &random)),
            let events = NetworkEvents()
        else { return [] }
        var found: [(result: Result, socket: InterfaceSocket?)] = []
        for interface in interfaces where interface.carriesMulticast && !interface.isLoopback {
            for group in [groups.ipv4, groups.ipv6].compactMap(\.self) {
                guard let source = interface.sourceAddress(isIPv6: group.isIPv6) else { continue }
                let socket = InterfaceSocket(group: group, interface: interface.index, source: source)
                let outcome = socket == nil ? Outcome.refused : .silent
                found.append((Result(interface: interface.name, isIPv6: group.isIPv6, outcome: outcome), socket))
            }
        }
        for (_, socket) in found { socket?.send(mark) }
        var buffer = [UInt8](repeating: 0, count: MulticastDatagram.byteLimit)
        let deadline = ContinuousClock.now + patience
        // At least once, however long the system kept this waiting.
        repeat {
            let waiting = found.indices.filter { found[$0].result.outcome == .silent }
            let descriptors = waiting.compactMap { found[$0].socket?.descriptor }
            let (ready, _) = events.wait(for: descriptors, milliseconds: 50)
            for (index, isReady) in zip(waiting, ready) where isReady {
                guard case .datagram(let datagram)? = found[index].socket?.receive(into: &buffer),
                    datagram.bytes == mark
                else { continue }
                let known = found[index].result
                found[index].result = Result(interface: known.interface, isIPv6: known.isIPv6, outcome: .heard)
            }
        } while ContinuousClock.now < deadline && found.contains { $0.result.outcome == .silent }
        return found.map(\.result)
    }
}
