internal import DequeModule
internal import Identity
internal import Kademlia
internal import OrderedCollections
internal import PubSub
internal import Services

/// A protocol that runs once for each network, as a value that is fed inputs and says what it wants.
protocol NetworkProtocol: Sendable {
    associatedtype Input: Sendable
    associatedtype Effect: Sendable

    mutating func handle(_ input: Input, at now: NodeTime, into effects: inout [Effect])
}

extension Kademlia: NetworkProtocol {}
extension PubSub: NetworkProtocol {}
extension Services: NetworkProtocol {}

/// One protocol's values, one for each network, what they are still to be told, and when they want to be woken.
///
/// Carrying out what a value wants may bring up further inputs, for it or for another network's. They wait until all that
/// it wants is carried out, so whoever brings one up begins only if nobody further up the stack has begun:
///
///     guard var wishes = self.tables.begin(input, of: network) else { return }
///     while let network = self.tables.handleNext(now, into: &wishes) {
///         for wish in wishes { self.carryOut(wish, of: network, now, &effects) }
///     }
struct PerNetwork<Value: NetworkProtocol>: Sendable {
    private struct Entry: Sendable {
        var value: Value
        /// When it wants to be woken.
        var wakeAt: Duration?
    }

    private var entries: OrderedDictionary<NetworkId, Entry> = [:]
    /// In order.
    private var inputs: Deque<(network: NetworkId, input: Value.Input)> = []
    /// An empty buffer between two rounds, kept for its memory.
    private var buffer: [Value.Effect] = []
    private var isBusy = false

    /// The value of a network, to be asked; nil where this node is no member.
    subscript(network: NetworkId) -> Value? { self.entries[network]?.value }

    /// Changes the value of a network in a way that wants nothing done; nil where this node is no member.
    mutating func update<Result>(_ network: NetworkId, _ body: (inout Value) -> Result) -> Result? {
        guard let position = self.entries.index(forKey: network) else { return nil }
        return body(&self.entries.values[position].value)
    }

    /// A figure of all values, added up.
    func total(_ figure: (Value) -> Int) -> Int { self.entries.values.reduce(0) { $0 + figure($1.value) } }

    mutating func add(_ value: Value, for network: NetworkId) { self.entries[network] = Entry(value: value) }

    mutating func remove(_ network: NetworkId) { self.entries.removeValue(forKey: network) }

    /// Takes an input; returns a buffer for ``handleNext(_:into:)`` unless somebody goes on with that already.
    mutating func begin(_ input: Value.Input, of network: NetworkId) -> [Value.Effect]? {
        self.inputs.append((network, input))
        guard !self.isBusy else { return nil }
        self.isBusy = true
        var buffer: [Value.Effect] = []
        swap(&buffer, &self.buffer)
        return buffer
    }

    /// Feeds the next input and puts into `effects` what its value wants; returns whose, or nil when no input is left,
    /// which ends the round and takes the buffer back.
    mutating func handleNext(_ now: NodeTime, into effects: inout [Value.Effect]) -> NetworkId? {
        effects.removeAll(keepingCapacity: true)
        while let (network, input) = self.inputs.popFirst() {
            guard let position = self.entries.index(forKey: network) else { continue }
            self.entries.values[position].value.handle(input, at: now, into: &effects)
            return network
        }
        swap(&effects, &self.buffer)
        self.isBusy = false
        return nil
    }

    // MARK: Time

    /// A network's value wants to be woken at `time`, and not at an earlier one.
    mutating func wake(_ network: NetworkId, at time: Duration) {
        guard let position = self.entries.index(forKey: network) else { return }
        self.entries.values[position].wakeAt = time
    }

    /// The networks whose time has come; each is named once.
    mutating func takeDue(_ now: NodeTime) -> [NetworkId] {
        var due: [NetworkId] = []
        for position in self.entries.values.indices {
            guard let time = self.entries.values[position].wakeAt, time <= now.monotonic else { continue }
            self.entries.values[position].wakeAt = nil
            due.append(self.entries.keys[position])
        }
        return due
    }

    /// The earliest time for which a value waits.
    var nextWake: Duration? {
        var earliest: Duration?
        for position in self.entries.values.indices {
            guard let time = self.entries.values[position].wakeAt else { continue }
            earliest = min(earliest ?? time, time)
        }
        return earliest
    }
}
