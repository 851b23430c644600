internal import Platform
internal import TestSupport

@testable internal import Database
@testable internal import Identity
@testable internal import NodeStore

/// The peer number `seed`.
func peer(_ seed: UInt64) throws -> PeerId {
    var random = SplitMix64(seed: seed)
    return try PeerId(rawRepresentation: random.bytes(count: 32))
}

/// The network number `seed`: the first point of the curve that its bytes hit.
func network(_ seed: UInt64) throws -> NetworkId {
    var random = SplitMix64(seed: seed &+ 1_000_000)
    while true {
        if let id = try? NetworkId(rawRepresentation: random.bytes(count: 32)) {  // Every second try is a point.
            return id
        }
    }
}

func address(_ last: UInt8, port: UInt16 = 4_000) throws -> SocketAddress {
    try SocketAddress(parsing: "192.0.2.\(last):\(port)")
}
