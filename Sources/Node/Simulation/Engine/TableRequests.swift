internal import Identity
internal import Kademlia

/// A record that a scenario makes a node write.
struct StoredKey {
    let key: [UInt8]
    let location: Bytes32
    let writer: Int
    let valueByteCount: Int
    let lifetime: Duration
    /// The newest version that was acknowledged to the writer; nil until then.
    var version: UInt64?

    /// The name of key number `number`, which is known before it is written.
    static func key(_ number: Int) -> [UInt8] { Array("key \(number)".utf8) }
}

/// A request of a node that is under way.
struct RunningRequest {
    enum Purpose {
        /// The number of the key.
        case put(Int)
        /// The number of the key, and the version that was stored when it was asked for.
        case get(Int, UInt64)
        case lookup(Bytes32)
    }

    let node: Int
    /// The node's generation: if it stops meanwhile, the request is abandoned.
    let generation: UInt32
    let startedAt: Int64
    let purpose: Purpose
}

/// The requests to the hash table under way, and the keys that they wrote.
struct TableRequests {
    /// By number; a key that was written stays.
    private(set) var stored: [StoredKey] = []
    /// By number; looked up, never iterated in an order that matters.
    private var running: [UInt64: RunningRequest] = [:]
    private var lastNumber: UInt64 = 0

    // MARK: Keys

    /// Adds a key that a node is going to write; returns its number.
    mutating func addKey(of writer: Int, in network: NetworkId, byteCount: Int, lifetime: Duration) -> Int {
        let key = StoredKey.key(stored.count)
        stored.append(
            StoredKey(
                key: key,
                location: Record.location(of: key, in: network),
                writer: writer,
                valueByteCount: byteCount,
                lifetime: lifetime
            )
        )
        return stored.count - 1
    }

    /// Notes that a version of a key was acknowledged to its writer.
    mutating func noteVersion(_ version: UInt64, of number: Int) { stored[number].version = version }

    // MARK: Requests

    mutating func begin(_ request: RunningRequest) -> Kademlia.RequestId {
        lastNumber += 1
        running[lastNumber] = request
        return Kademlia.RequestId(lastNumber)
    }

    /// Removes a request that has an outcome; nil if it was abandoned.
    mutating func end(_ id: Kademlia.RequestId) -> RunningRequest? { running.removeValue(forKey: id.number) }

    /// Removes the requests of a node that stops; returns their purposes, in no order that matters.
    mutating func abandon(of node: Int, _ generation: UInt32) -> [RunningRequest.Purpose] {
        let abandoned = running.filter { $0.value.node == node && $0.value.generation == generation }
        for id in abandoned.keys { running[id] = nil }
        return abandoned.values.map(\.purpose)
    }
}
