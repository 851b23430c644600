package import Identity
internal import NodeCore
internal import Transport
package import Traversal

// STUN, from the node's own socket.
extension NodeDriver {
    /// Asks a STUN server for the address at which it sees this node's socket.
    ///
    /// - Throws: ``STUNFailure``; `CancellationError` when cancelled.
    package func askSTUN(_ server: SocketAddress, schedule: STUNTransaction.Schedule = .brief) async throws
        -> SocketAddress
    {
        let address = try await self.stun.mappedAddress(at: server, schedule: schedule)
        self.apply(.paths(.addressObserved(address, by: server)))
        return address
    }

    /// Sends probes to an address until a datagram arrives from it, ten at most, so that the NATs on the way let
    /// datagrams pass.
    ///
    /// - Returns: whether a datagram arrived.
    package func punchHole(to address: SocketAddress) async throws -> Bool {
        try await self.stun.punchHole(to: address)
    }

    /// Passes the STUN datagrams that arrive at the node's own ports to the core and to the STUN client.
    func receiveProbes() async {
        for await datagram in self.endpoint.foreignDatagrams {
            self.stun.receive(datagram)
            let probe = PathInput.probeReceived(datagram.bytes, from: datagram.source, port: datagram.port)
            self.apply(.paths(probe))
        }
    }
}
