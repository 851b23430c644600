package import Identity
package import Platform

/// A node's ear and voice in its local network, and its knowledge of where others can dial it.
///
/// The real one is ``Platform/MulticastSocket``; tests have one in memory.
package protocol DiscoveryLink: AnyObject, Sendable {
    /// The received datagrams, our own among them, for one reader.
    ///
    /// A reader that is too slow loses datagrams. Ends when the link is closed.
    var datagrams: AsyncStream<MulticastDatagram> { get }

    /// The addresses at which others can dial us: at once, and then whenever they change, for one reader.
    ///
    /// A reader that is too slow gets only the newest list. Ends when the link is closed.
    var localAddresses: AsyncStream<[SocketAddress]> { get }

    /// The names of the interfaces on which it currently receives and sends.
    var interfaceNames: [String] { get }

    /// The names of the interfaces that are beyond its limit.
    var leftOutInterfaceNames: [String] { get }

    /// Sends one datagram of at most ``MulticastDatagram/byteLimit`` bytes on every interface, without waiting.
    ///
    /// Whatever hinders it is dropped like loss.
    func send(_ bytes: [UInt8])

    /// Ends both streams and gives the port back.
    ///
    /// Datagrams that were given to ``send(_:)`` before are still sent.
    func close() async
}

extension MulticastSocket: DiscoveryLink {}
