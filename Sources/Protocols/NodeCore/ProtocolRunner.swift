internal import Identity

/// A protocol that the node runs, as a value that handles inputs and returns effects.
protocol HostedProtocol: Sendable {
    associatedtype Input: Sendable
    associatedtype Effect: Sendable

    mutating func handle(_ input: Input, at now: NodeTime, into effects: inout [Effect])

    /// Returns the input with which the protocol takes an event, or nil if it ignores the event.
    static func input(for event: NetworkEvent, in network: NetworkId) -> Input?
}

/// The values of one protocol, with the inputs that they have not handled yet.
///
/// ``NodeCore/run(_:of:in:_:performing:)`` feeds them.
protocol ProtocolRunner: Sendable {
    associatedtype Value: HostedProtocol
    /// The value that an input is for, among those of the protocol.
    associatedtype Scope

    /// Queues an input; returns a buffer for ``handleNext(_:into:)``, or nil if a caller further up the stack drains the
    /// queue.
    mutating func begin(_ input: Value.Input, of scope: Scope) -> [Value.Effect]?

    /// Feeds the next input, puts the effects of its value into `effects` and returns the scope of that value.
    ///
    /// Returns nil if no input is left, which ends the round and takes the buffer back.
    mutating func handleNext(_ now: NodeTime, into effects: inout [Value.Effect]) -> Scope?
}

/// The one value of a protocol that serves all networks of the node.
///
/// An input that is raised while the value's effects are being performed is handled at once, before the remaining ones.
struct PerNode<Value: HostedProtocol>: ProtocolRunner {
    private(set) var value: Value
    /// The time at which the value wants to be woken.
    private(set) var wakeAt: Duration?
    /// The input that is about to be handled.
    private var input: Value.Input?
    /// An empty buffer between two rounds, kept for its memory.
    private var buffer: [Value.Effect] = []

    init(_ value: Value) {
        self.value = value
    }

    mutating func begin(_ input: Value.Input, of scope: Void) -> [Value.Effect]? {
        self.input = input
        var buffer: [Value.Effect] = []
        swap(&buffer, &self.buffer)
        return buffer
    }

    mutating func handleNext(_ now: NodeTime, into effects: inout [Value.Effect]) -> Void? {
        effects.removeAll(keepingCapacity: true)
        guard let input = self.input else {
            swap(&effects, &buffer)
            return nil
        }
        self.input = nil
        value.handle(input, at: now, into: &effects)
        return ()
    }

    // MARK: Time

    /// Notes that the value wants to be woken at `time`, and not at an earlier one.
    mutating func wake(at time: Duration) { wakeAt = time }

    /// Returns whether the value's wake is due; true only once.
    mutating func takeDue(_ now: NodeTime) -> Bool {
        guard let time = wakeAt, time <= now.monotonic else { return false }
        wakeAt = nil
        return true
    }
}
