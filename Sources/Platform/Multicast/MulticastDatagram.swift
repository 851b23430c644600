package import Identity

/// A datagram that was received in a multicast group; nothing about it is verified.
package struct MulticastDatagram: Hashable, Sendable {
    /// The payload: 1 to ``byteLimit`` bytes.
    package var bytes: [UInt8]
    /// The claimed sender; an IPv6 link-local source has the interface's number as its scope.
    package var source: SocketAddress
    /// The index of the interface on which it was received.
    package var interface: UInt32

    package init(bytes: [UInt8], source: SocketAddress, interface: UInt32) {
        self.bytes = bytes
        self.source = source
        self.interface = interface
    }

    /// The most bytes that fit into one packet on every IPv6 link: 1280 (RFC 8200, section 5) less two headers.
    ///
    /// Longer datagrams are neither sent nor delivered, so nothing is ever fragmented.
    package static let byteLimit = 1232
}
