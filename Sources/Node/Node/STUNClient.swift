internal import Concurrency
internal import Identity
internal import Platform
internal import Transport
internal import Traversal

/// A client of STUN servers (RFC 8489) that uses the node's own socket.
///
/// The datagrams of the socket that belong to no connection are passed to ``receive(_:)``.
final class STUNClient: Sendable {
    private struct Listeners: Sendable {
        var listeners: [Int: @Sendable (ForeignDatagram) -> Void] = [:]
        var count = 0
    }

    /// The number of probes to an address that only its owner named.
    private static let probeLimit = 10
    private static let probeInterval = Duration.milliseconds(100)

    private let endpoint: any Endpoint
    private let clock: NodeClock
    private let state = Locked(Listeners())

    init(endpoint: any Endpoint, clock: NodeClock) {
        self.endpoint = endpoint
        self.clock = clock
    }

    /// Passes a datagram to all transactions under way.
    func receive(_ datagram: ForeignDatagram) {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener(datagram) }
    }

    /// Sends a binding request and returns the address at which the server sees this node's socket.
    ///
    /// - Throws: ``STUNFailure``; `CancellationError` when cancelled.
    func mappedAddress(at server: SocketAddress, schedule: STUNTransaction.Schedule) async throws -> SocketAddress {
        var random = SystemRandom()
        var transaction = STUNTransaction(id: STUNTransactionId(using: &random), server: server, schedule: schedule)
        let driver = ProtocolDriver(timeReached: STUNTransaction.Input.timeReached)
        let number = addListener { driver.offer(.datagramReceived($0.bytes, from: $0.source)) }
        defer { removeListener(number) }
        driver.offer(.started)
        return try await driver.run(now: { clock.now().monotonic }, sleep: clock.sleep) {
            transaction.handle($0, at: $1, into: &$2)
        } perform: { (effect: STUNTransaction.Effect) -> ProtocolStep<SocketAddress> in
            switch effect {
            case .send(let bytes, let address):
                endpoint.sendForeignDatagram(bytes, to: address)
                return .next
            case .wake(let time): return .wake(at: time)
            case .finish(.answered(let answer)): return .end(answer.mappedAddress)
            case .finish(.failed(let failure)): throw failure
            }
        }
    }

    /// Sends probes to an address until a datagram arrives from it, so that the NATs on the way let datagrams pass.
    ///
    /// - Returns: whether a datagram arrived.
    func punchHole(to address: SocketAddress) async throws -> Bool {
        var random = SystemRandom()
        let probe = STUNPacket.encode(STUNMessage(.indication, transaction: STUNTransactionId(using: &random)))
        let hasAnswer = Locked(false)
        let number = addListener { datagram in
            if datagram.source.unmapped == address.unmapped { hasAnswer.withLock { $0 = true } }
        }
        defer { removeListener(number) }
        for _ in 0..<Self.probeLimit where !hasAnswer.withLock({ $0 }) {
            endpoint.sendForeignDatagram(probe, to: address)
            try await clock.sleep(clock.now().monotonic + Self.probeInterval)
        }
        return hasAnswer.withLock { $0 }
    }

    private func addListener(_ listener: @escaping @Sendable (ForeignDatagram) -> Void) -> Int {
        state.withLock { state in
            state.count += 1
            state.listeners[state.count] = listener
            return state.count
        }
    }

    private func removeListener(_ number: Int) {
        state.withLock { $0.listeners[number] = nil }
    }
}
