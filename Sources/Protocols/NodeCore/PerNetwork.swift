internal import DequeModule
internal import Identity
internal import OrderedCollections

/// The values of a protocol that runs once for each network, with the times at which they want to be woken.
///
/// Performing the effects of a value may bring up further inputs, for it or for another network's. They are queued, and
/// only the outermost caller drains the queue.
struct PerNetwork<Value: HostedProtocol>: ProtocolRunner {
    private struct Entry: Sendable {
        var value: Value
        /// The time of the next wake.
        var wakeAt: Duration?
    }

    private var entries: OrderedDictionary<NetworkId, Entry> = [:]
    /// In order.
    private var inputs: Deque<(network: NetworkId, input: Value.Input)> = []
    /// An empty buffer between two rounds, kept for its memory.
    private var buffer: [Value.Effect] = []
    private var isBusy = false

    /// The value of a network, for reading; nil if this node is not a member.
    subscript(network: NetworkId) -> Value? { entries[network]?.value }

    /// Changes the value of a network without effects; nil if this node is not a member.
    mutating func update<Result>(_ network: NetworkId, _ body: (inout Value) -> Result) -> Result? {
        guard let position = entries.index(forKey: network) else { return nil }
        return body(&entries.values[position].value)
    }

    /// A figure of all values, added up.
    func total(_ figure: (Value) -> Int) -> Int { entries.values.reduce(0) { $0 + figure($1.value) } }

    mutating func add(_ value: Value, for network: NetworkId) { entries[network] = Entry(value: value) }

    mutating func remove(_ network: NetworkId) { entries.removeValue(forKey: network) }

    mutating func begin(_ input: Value.Input, of network: NetworkId) -> [Value.Effect]? {
        inputs.append((network, input))
        guard !isBusy else { return nil }
        isBusy = true
        var buffer: [Value.Effect] = []
        swap(&buffer, &self.buffer)
        return buffer
    }

    mutating func handleNext(_ now: NodeTime, into effects: inout [Value.Effect]) -> NetworkId? {
        effects.removeAll(keepingCapacity: true)
        while let (network, input) = inputs.popFirst() {
            guard let position = entries.index(forKey: network) else { continue }
            entries.values[position].value.handle(input, at: now, into: &effects)
            return network
        }
        swap(&effects, &buffer)
        isBusy = false
        return nil
    }

    // MARK: Time

    /// A network's value wants to be woken at `time`, and not at an earlier one.
    mutating func wake(_ network: NetworkId, at time: Duration) {
        guard let position = entries.index(forKey: network) else { return }
        entries.values[position].wakeAt = time
    }

    /// Returns the networks that are due, each once.
    mutating func takeDue(_ now: NodeTime) -> [NetworkId] {
        var due: [NetworkId] = []
        for position in entries.values.indices {
            guard let time = entries.values[position].wakeAt, time <= now.monotonic else { continue }
            entries.values[position].wakeAt = nil
            due.append(entries.keys[position])
        }
        return due
    }

    /// The earliest time for which a value waits.
    var nextWake: Duration? {
        var earliest: Duration?
        for position in entries.values.indices {
            guard let time = entries.values[position].wakeAt else { continue }
            earliest = min(earliest ?? time, time)
        }
        return earliest
    }
}
