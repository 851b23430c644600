internal import Concurrency
internal import Identity
internal import Testing
internal import Transport

@testable internal import Node

/// Listeners that confirm what they take, on their own and in a node.
@Suite("Confirmed messages", .timeLimit(.minutes(15))) struct ConfirmationTests {
    /// Runs two nodes of which the second waits half a second for a confirmation.
    private func withNodes(
        capacity: Int = 64,
        _ body: (Lab, _ sender: LabNode, _ receiver: LabNode) async throws -> Void
    ) async throws {
        let lab = Lab()
        let receiver = try lab.makeNode(capacity: capacity) { $0.pauses.confirmation = .milliseconds(500) }
        let sender = try lab.makeNode()
        lab.introduce(receiver, to: sender)
        try await lab.run([sender, receiver]) { try await body(lab, sender, receiver) }
    }

    // MARK: Handovers

    @Test func `an element is delivered when its listener confirms it`() async throws {
        let messages = Broadcaster<Int>(capacity: 2)
        let listener = messages.listenConfirming { $0 * 10 }
        let handover = messages.send(1)
        #expect(handover.delivery == nil)
        let (number, confirmation) = try await listener.first { _ in true }
        #expect(number == 10 && handover.delivery == nil)
        confirmation.confirm()
        #expect(handover.delivery == .delivered)
    }

    @Test func `one confirmation of several listeners is enough`() async throws {
        let messages = Broadcaster<Int>(capacity: 1)
        let stopped = messages.listenConfirming { $0 }
        let listener = messages.listenConfirming { $0 }
        for number in 1...3 {
            // From the second element on the queue of the stopped listener is full.
            let handover = messages.send(number)
            #expect(handover.delivery == nil)
            try await listener.first { _ in true }.1.confirm()
            #expect(handover.delivery == .delivered)
        }
        withExtendedLifetime(stopped) {}
    }

    @Test func `a full queue without another listener is an overflow at once`() {
        let messages = Broadcaster<Int>(capacity: 2)
        let stopped = messages.listenConfirming { $0 }
        let handovers = (1...3).map { messages.send($0) }
        #expect(handovers.map(\.delivery) == [nil, nil, .overflow])
        withExtendedLifetime(stopped) {}
    }

    @Test func `a listener that ends leaves the result to the others`() async throws {
        let messages = Broadcaster<Int>(capacity: 4)
        var reader: AsyncStream<(Int, Node.Confirmation)>? = messages.listenConfirming { $0 }
        // One element is with the listener, the other one waits for it.
        let handovers = (1...2).map { messages.send($0) }
        var first = try await reader?.first { _ in true }
        #expect(first?.0 == 1)
        reader = nil
        #expect(handovers.map(\.delivery) == [nil, .noListener])
        first = nil
        #expect(handovers.map(\.delivery) == [.noListener, .noListener])
        #expect(messages.listenerCount == 0)
    }

    @Test func `an observer decides only where no listener does`() async throws {
        let messages = Broadcaster<Int>(capacity: 4)
        let observed = messages.observe { $0 }
        #expect(messages.send(1).delivery == .delivered)
        var listener: AsyncStream<(Int, Node.Confirmation)>? = messages.listenConfirming { $0 }
        let (late, left) = (messages.send(2), messages.send(3))
        let clock = NodeClock(now: { NodeTime(monotonic: .zero, wallSeconds: 0) }, sleep: { _ in })
        #expect(await late.delivery(by: .zero, on: clock) == .overflow)
        #expect(left.delivery == nil)
        listener = nil
        #expect(left.delivery == .delivered)
        let taken = messages.listen()
        #expect(messages.send(4).delivery == .delivered)
        messages.finish()
        #expect(await observed.reduce(into: []) { $0.append($1) } == [1, 2, 3, 4])
        withExtendedLifetime((listener, taken)) {}
    }

    @Test func `an expired element is left out, and its confirmation has no effect`() async throws {
        let messages = Broadcaster<Int>(capacity: 4)
        let listener = messages.listenConfirming { $0 }
        let (passed, waiting) = (messages.send(1), messages.send(2))
        let (_, confirmation) = try await listener.first { _ in true }
        let clock = NodeClock(now: { NodeTime(monotonic: .zero, wallSeconds: 0) }, sleep: { _ in })
        for handover in [passed, waiting] { #expect(await handover.delivery(by: .zero, on: clock) == .overflow) }
        confirmation.confirm()
        #expect(passed.delivery == .overflow)
        _ = messages.send(3)
        let (number, _) = try await listener.first { _ in true }
        #expect(number == 3)
    }

    // MARK: Nodes

    @Test func `a sender learns of the delivery after the confirmation`() async throws {
        try await withNodes { _, sender, receiver in
            let listener = receiver.messages.listenConfirming(as: \.payload)
            let answers = sender.messages.listen()
            let log = Locked<[String]>([])
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await sender.driver.send([1], to: receiver.peerId)
                    log.withLock { $0.append("sent") }
                }
                let (payload, confirmation) = try await listener.first { _ in true }
                #expect(payload == [1])
                // A receipt that was sent before the confirmation would arrive during these round trips.
                for number in UInt8(0)..<20 { try await receiver.driver.send([number], to: sender.peerId) }
                log.withLock { $0.append("confirmed") }
                confirmation.confirm()
                try await group.waitForAll()
            }
            #expect(log.withLock { $0 } == ["confirmed", "sent"])
            withExtendedLifetime(answers) {}
        }
    }

    @Test func `a message without a confirmation is refused after the limit, and the next one arrives`() async throws {
        try await withNodes { lab, sender, receiver in
            let listener = receiver.messages.listenConfirming(as: \.payload)
            async let refused = failure { try await sender.driver.send([1], to: receiver.peerId) }
            let (_, unconfirmed) = try await listener.first { _ in true }
            lab.clock.advance(by: .milliseconds(500))
            #expect(await refused as? NodeError == .receiverBusy(receiver.peerId))
            unconfirmed.confirm()
            async let sent: Void = sender.driver.send([2], to: receiver.peerId)
            let (payload, confirmation) = try await listener.first { _ in true }
            #expect(payload == [2])
            confirmation.confirm()
            try await sent
        }
    }

    @Test func `a listener that ends without a confirmation is no listener`() async throws {
        try await withNodes { _, sender, receiver in
            var listener: AsyncStream<([UInt8], Node.Confirmation)>? = receiver.messages.listenConfirming(as: \.payload)
            async let refused = failure { try await sender.driver.send([1], to: receiver.peerId) }
            var message = try await listener?.first { _ in true }
            #expect(message?.0 == [1])
            message = nil
            listener = nil
            #expect(await refused as? NodeError == .noListener(receiver.peerId))
        }
    }

    @Test func `a receiver that stops does not wait for a confirmation`() async throws {
        try await withNodes { _, sender, receiver in
            let listener = receiver.messages.listenConfirming(as: \.payload)
            async let refused = failure { try await sender.driver.send([1], to: receiver.peerId) }
            let unconfirmed = try await listener.first { _ in true }
            await receiver.driver.stop()
            #expect(await refused is NodeError)
            withExtendedLifetime(unconfirmed) {}
        }
    }
}
