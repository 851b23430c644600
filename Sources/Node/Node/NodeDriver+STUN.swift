internal import Concurrency
package import Identity
internal import NodeCore
internal import Platform
internal import Transport
package import Traversal

// Questions to STUN servers, and datagrams to strangers, from the node's own socket.
extension NodeDriver {
    /// Asks a STUN server where it sees this node's socket.
    ///
    /// - Throws: ``STUNFailure``; `CancellationError` when cancelled.
    package func askSTUN(_ server: SocketAddress, schedule: STUNTransaction.Schedule = .brief) async throws
        -> SocketAddress
    {
        var random = SystemRandom()
        var transaction = STUNTransaction(id: STUNTransactionId(using: &random), server: server, schedule: schedule)
        let (inputs, feed) = AsyncStream.makeStream(of: STUNTransaction.Input.self)
        let clock = self.configuration.clock
        let number = self.listenForProbes { feed.yield(.datagramReceived($0.bytes, from: $0.source)) }
        defer { self.stopListeningForProbes(number) }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            feed.yield(.started)
            for await input in inputs {
                var effects: [STUNTransaction.Effect] = []
                transaction.handle(input, at: clock.now().monotonic, into: &effects)
                for effect in effects {
                    switch effect {
                    case .send(let bytes, let place): self.endpoint.sendForeignDatagram(bytes, to: place)
                    case .wake(let time):
                        group.addTask {
                            try await clock.sleep(time)
                            feed.yield(.timeReached)
                        }
                    case .finish(.answered(let answer)):
                        self.apply(.paths(.addressObserved(answer.mappedAddress, by: server)))
                        return answer.mappedAddress
                    case .finish(.failed(let failure)): throw failure
                    }
                }
            }
            throw CancellationError()
        }
    }

    /// Sends datagrams to an address until one comes from there, ten at most, so that the NATs on the way let them pass.
    ///
    /// - Returns: whether one came.
    package func punchHole(to address: SocketAddress) async throws -> Bool {
        var random = SystemRandom()
        let probe = STUNPacket.encode(STUNMessage(.indication, transaction: STUNTransactionId(using: &random)))
        let heard = Locked(false)
        let number = self.listenForProbes { datagram in
            if datagram.source.unmapped == address.unmapped { heard.withLock { $0 = true } }
        }
        defer { self.stopListeningForProbes(number) }
        let clock = self.configuration.clock
        for _ in 0..<Self.holeProbes where !heard.withLock({ $0 }) {
            self.endpoint.sendForeignDatagram(probe, to: address)
            try await clock.sleep(clock.now().monotonic + Self.holeInterval)
        }
        return heard.withLock { $0 }
    }

    /// As many as may go to an address that nobody but its owner named.
    private static let holeProbes = 10
    private static let holeInterval = Duration.milliseconds(100)

    private func listenForProbes(_ listener: @escaping @Sendable (ForeignDatagram) -> Void) -> Int {
        self.state.withLock { state in
            state.nextNumber += 1
            state.probeListeners[state.nextNumber] = listener
            return state.nextNumber
        }
    }

    private func stopListeningForProbes(_ number: Int) {
        self.state.withLock { $0.probeListeners[number] = nil }
    }

    /// Feeds the core, and whoever asked something of a server, the datagrams of STUN that come to the node's own ports.
    func takeProbes() async {
        for await datagram in self.endpoint.foreignDatagrams {
            self.state.withLock { state in
                for listener in state.probeListeners.values { listener(datagram) }
                let probe = PathInput.probeReceived(datagram.bytes, from: datagram.source, port: datagram.port)
                self.apply(.paths(probe), to: &state)
            }
        }
    }
}
