package import Identity

/// The mapping of datagrams that leave from one of our ports (RFC 4787, section 4.1).
package enum NATMapping: Hashable, Sendable {
    /// The server observes one of this device's own addresses: there is no NAT in between.
    case notTranslated
    /// All destinations observe one address and port.
    case endpointIndependent
    /// Each destination address observes another port.
    case addressDependent
    /// Each destination address and port observes another port.
    case addressAndPortDependent
    case unknown(NATDoubt)
}

/// The filtering of datagrams to one of this device's ports (RFC 4787, section 5).
package enum NATFiltering: Hashable, Sendable {
    /// Datagrams from any source pass.
    case endpointIndependent
    /// Datagrams pass from any address that was sent to.
    case addressDependent
    /// Datagrams pass only from exactly those addresses and ports that were sent to.
    case addressAndPortDependent
    case unknown(NATDoubt)
}

/// Why something about a NAT was not found out.
package enum NATDoubt: Hashable, Sendable {
    /// Only the address was requested.
    case notTested
    /// The server has no second address with a second port.
    case noSecondAddress
    /// The server names a second address, which never answered.
    case secondAddressSilent
    /// The server does not answer from its other address or port although it has one.
    case changeRefused
}

/// The outside view of a port of this device.
package struct NATReport: Hashable, Sendable {
    /// The address and port that the server saw.
    package var publicAddress: SocketAddress
    package var mapping: NATMapping
    package var filtering: NATFiltering

    package init(publicAddress: SocketAddress, mapping: NATMapping, filtering: NATFiltering) {
        self.publicAddress = publicAddress
        self.mapping = mapping
        self.filtering = filtering
    }
}
