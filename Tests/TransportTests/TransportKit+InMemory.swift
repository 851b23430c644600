internal import Identity
internal import Transport
internal import TransportConformance

extension TransportKit {
    /// Endpoints of one in-memory network whose links follow `link`.
    static func inMemory(link: LinkModel, seed: UInt64 = 1) -> TransportKit {
        let network = InMemoryNetwork(seed: seed)
        network.defaultLink = link
        return TransportKit(
            maximumUnreadBytes: network.limits.streamWindow + 65_536,
            minimumStreamCount: network.limits.streamCount,
            makeEndpoint: { try network.makeEndpoint(peerId: somePeerId()) },
            absentAddress: {
                let endpoint = try network.makeEndpoint(peerId: somePeerId())
                await endpoint.close(code: 0)
                return endpoint.address
            },
            silentAddress: { dialler in
                let silent = try network.makeEndpoint(peerId: somePeerId())
                for address in dialler.localAddresses { network.partition(silent.address, from: address) }
                return silent.address
            }
        )
    }
}

/// A peer id that no other call returns.
func somePeerId() throws -> PeerId {
    var random = SystemRandomNumberGenerator()
    return try PeerId(rawRepresentation: (0..<PeerId.byteCount).map { _ in UInt8.random(in: 0...255, using: &random) })
}
