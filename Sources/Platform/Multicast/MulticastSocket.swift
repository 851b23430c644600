internal import Concurrency
package import Identity

/// Sends to and receives from the multicast groups of a local network, on every interface on which a node can be dialled.
///
/// The socket adapts to added, removed and changed interfaces, and reports the addresses at which the node can be dialled.
/// One thread waits in the system for all events and is idle otherwise. Releasing the socket closes it.
///
/// On iOS the app needs the entitlement `com.apple.developer.networking.multicast`; without it nothing is received.
package final class MulticastSocket: Sendable {
    /// The settings of a socket.
    package struct Configuration: Sendable {
        /// The groups in which to send and listen.
        package var groups: MulticastGroups
        /// The addresses on which the node waits for connections, with their ports.
        package var bound: [SocketAddress]
        /// Lists the interfaces; tests put their own here.
        package var interfaces: @Sendable () -> [NetworkInterface]?
        /// Ranks the interfaces, if there are too many.
        var ranks: @Sendable ([NetworkInterface]) -> [UInt32: InterfaceRank] = { InterfaceRank.ranks(of: $0) }

        package init(
            groups: MulticastGroups,
            bound: [SocketAddress],
            interfaces: @escaping @Sendable () -> [NetworkInterface]? = { NetworkInterface.all() }
        ) {
            self.groups = groups
            self.bound = bound
            self.interfaces = interfaces
        }
    }

    /// The received datagrams, our own included, for one reader; bounded, later ones are dropped.
    package let datagrams: AsyncStream<MulticastDatagram>
    /// The addresses at which others can dial the node: at once, and at each change, for one reader.
    package let localAddresses: AsyncStream<[SocketAddress]>
    private let loop: MulticastLoop

    /// Opens the sockets that can be opened now; interfaces that refuse are tried again.
    ///
    /// - Throws: ``MulticastError`` if the process has no more descriptors or threads.
    package static func open(_ configuration: Configuration) throws(MulticastError) -> MulticastSocket {
        guard let events = NetworkEvents() else { throw .noDescriptors }
        let (datagrams, heard) = AsyncStream.makeStream(
            of: MulticastDatagram.self,
            bufferingPolicy: .bufferingOldest(MulticastLoop.waitingDatagrams)
        )
        let (lists, addresses) = AsyncStream.makeStream(
            of: [SocketAddress].self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let loop = MulticastLoop(configuration, events: events, heard: heard, addresses: addresses)
        try loop.start()
        return MulticastSocket(datagrams: datagrams, localAddresses: lists, loop: loop)
    }

    private init(
        datagrams: AsyncStream<MulticastDatagram>,
        localAddresses: AsyncStream<[SocketAddress]>,
        loop: MulticastLoop
    ) {
        self.datagrams = datagrams
        self.localAddresses = localAddresses
        self.loop = loop
    }

    deinit {
        loop.post(.close)
    }

    /// Sends one datagram of 1 to ``MulticastDatagram/byteLimit`` bytes on every interface, without waiting.
    ///
    /// Errors are ignored like packet loss.
    package func send(_ bytes: [UInt8]) {
        guard (1...MulticastDatagram.byteLimit).contains(bytes.count) else { return }
        loop.post(.send(bytes))
    }

    /// Ends both streams and frees the port; datagrams passed to ``send(_:)`` before are still sent.
    package func close() async {
        loop.post(.close)
        await loop.ended()
    }

    /// The names of the interfaces on which the groups are joined at the moment.
    package var interfaceNames: [String] { loop.joinedNames.withLock { $0 } }

    /// The names of the interfaces that are beyond the limit.
    package var leftOutInterfaceNames: [String] { loop.leftOutNames.withLock { $0 } }

    /// The number of interfaces on which the groups are joined at most.
    package static let interfaceLimit = MulticastLoop.interfaceLimit
}

/// Why no multicast socket could be opened.
package enum MulticastError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The process has reached its limit of open descriptors.
    case noDescriptors
    /// The system refused a thread, with its error number.
    case noThread(Int32)

    package var description: String {
        switch self {
        case .noDescriptors: "no more file descriptors for multicast; raise the limit (ulimit -n) or close something"
        case .noThread(let code): "the system refused a thread for multicast: \(SystemErrors.text(of: code))"
        }
    }
}
