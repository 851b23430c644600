internal import Identity
internal import TestSupport
internal import Testing
internal import Traversal

@Suite("STUN transactions") struct TransactionTests {
    private let server: SocketAddress
    private let seen: SocketAddress
    private let id = STUNTransactionId([UInt8](repeating: 9, count: 12))

    init() throws {
        self.server = try SocketAddress(parsing: "192.0.2.1:3478")
        self.seen = try SocketAddress(parsing: "203.0.113.7:40000")
    }

    private func started(_ change: STUNChange = [], source: SocketAddress? = nil) throws -> STUNTransaction {
        var transaction = STUNTransaction(
            id: try #require(self.id),
            server: self.server,
            change: change,
            source: source
        )
        var effects: [STUNTransaction.Effect] = []
        transaction.handle(.started, at: .zero, into: &effects)
        #expect(effects.count == 2)
        return transaction
    }

    private func answer(
        _ attributes: [STUNAttribute],
        kind: STUNMessage.Class = .success,
        method: UInt16 = STUNMessage.binding
    ) throws -> [UInt8] {
        STUNPacket.encode(
            STUNMessage(kind, method: method, transaction: try #require(self.id), attributes: attributes)
        )
    }

    private func end(
        _ transaction: STUNTransaction,
        _ bytes: [UInt8],
        from source: SocketAddress? = nil
    ) -> STUNTransaction.Outcome? {
        var transaction = transaction
        var effects: [STUNTransaction.Effect] = []
        transaction.handle(.datagramReceived(bytes, from: source ?? self.server), at: .seconds(1), into: &effects)
        for case .finish(let outcome) in effects { return outcome }
        return nil
    }

    @Test func `a request is sent seven times and times out after 39.5 seconds, as the standard says`() throws {
        var transaction = STUNTransaction(id: try #require(self.id), server: self.server)
        var sent: [Double] = []
        var now = Duration.zero
        var input = STUNTransaction.Input.started
        for _ in 0..<20 {
            var effects: [STUNTransaction.Effect] = []
            transaction.handle(input, at: now, into: &effects)
            var wake: Duration?
            for effect in effects {
                switch effect {
                case .send(_, let place):
                    #expect(place == self.server)
                    sent.append(now / .seconds(1))
                case .wake(let at): wake = at
                case .finish(let outcome):
                    #expect(outcome == .failed(.noAnswer))
                    #expect(now == .milliseconds(39_500))
                }
            }
            guard let wake else { break }
            // Woken too early it does nothing.
            effects = []
            transaction.handle(.timeReached, at: wake - .nanoseconds(1), into: &effects)
            #expect(effects.isEmpty)
            (now, input) = (wake, .timeReached)
        }
        #expect(sent == [0, 0.5, 1.5, 3.5, 7.5, 15.5, 31.5])
        #expect(now == .milliseconds(39_500))
    }

    @Test func `every retransmission is the same request`() throws {
        var transaction = STUNTransaction(id: try #require(self.id), server: self.server, change: [.address])
        var effects: [STUNTransaction.Effect] = []
        transaction.handle(.started, at: .zero, into: &effects)
        transaction.handle(.timeReached, at: .milliseconds(500), into: &effects)
        let sent = effects.compactMap { if case .send(let bytes, _) = $0 { bytes } else { nil } }
        #expect(sent.count == 2 && sent[0] == sent[1])
        let packet = try STUNPacket(#require(sent.first))
        #expect(packet.message.change == .address && packet.message.kind == .request && packet.hasFingerprint)
        #expect(packet.message.transaction == self.id)
    }

    @Test func `the answer says where the server sees us`() throws {
        let other = try SocketAddress(parsing: "192.0.2.2:3479")
        let bytes = try self.answer([.xorMappedAddress(self.seen), .otherAddress(other)])
        let answer = STUNAnswer(mappedAddress: self.seen, otherAddress: other)
        #expect(try self.end(self.started(), bytes) == .answered(answer))
        #expect(try self.end(self.started(), self.answer([.mappedAddress(self.seen)])) != nil)
    }

    @Test func `nothing but the answer to this request from the right place is accepted`() throws {
        let good = try self.answer([.xorMappedAddress(self.seen)])
        let elsewhere = try SocketAddress(parsing: "192.0.2.1:3479")
        let nextDoor = try SocketAddress(parsing: "192.0.2.2:3478")
        let transaction = try self.started()
        #expect(self.end(transaction, good, from: elsewhere) == nil)
        #expect(self.end(transaction, good, from: nextDoor) == nil)
        #expect(self.end(transaction, Array(good.dropLast())) == nil)
        var other = good
        other[12] ^= 1
        #expect(self.end(transaction, other) == nil)
        #expect(try self.end(transaction, self.answer([.xorMappedAddress(self.seen)], kind: .request)) == nil)
        #expect(try self.end(transaction, self.answer([.xorMappedAddress(self.seen)], kind: .indication)) == nil)
        #expect(try self.end(transaction, self.answer([.xorMappedAddress(self.seen)], method: 3)) == nil)
        // A request for a change is not answered by an answer from where it went.
        let changed = try self.started([.port], source: elsewhere)
        #expect(self.end(changed, good) == nil)
        #expect(self.end(changed, good, from: elsewhere) != nil)
        // An IPv4 answer on an IPv6 socket is the same answer.
        let mapped = try SocketAddress(parsing: "[::ffff:192.0.2.1]:3478")
        #expect(self.end(transaction, good, from: mapped) != nil)
    }

    @Test func `a refusal, an answer that cannot be understood and one without an address end it`() throws {
        let code = try #require(STUNErrorCode(code: 420, reason: "no\u{1B}"))
        let refusal = self.end(try self.started(), try self.answer([.errorCode(code)], kind: .failure))
        #expect(refusal == .failed(.refused(code)))
        #expect(!STUNFailure.refused(code).description.contains("\u{1B}"))
        #expect(try self.end(self.started(), self.answer([], kind: .failure)) == nil)
        let odd: [STUNAttribute] = [.xorMappedAddress(self.seen), .other(type: 0x7001, [])]
        #expect(try self.end(self.started(), self.answer(odd)) == .failed(.notUnderstood([0x7001])))
        #expect(try self.end(self.started(), self.answer([.software("x")])) == .failed(.noAddress))
        let nowhere = try SocketAddress(parsing: "0.0.0.0:1")
        #expect(try self.end(self.started(), self.answer([.xorMappedAddress(nowhere)])) == .failed(.noAddress))
    }

    @Test func `a transaction ignores datagrams after its end`() throws {
        var transaction = try self.started()
        let bytes = try self.answer([.xorMappedAddress(self.seen)])
        var effects: [STUNTransaction.Effect] = []
        transaction.handle(.datagramReceived(bytes, from: self.server), at: .zero, into: &effects)
        #expect(effects.count == 1)
        transaction.handle(.datagramReceived(bytes, from: self.server), at: .zero, into: &effects)
        transaction.handle(.timeReached, at: .seconds(100), into: &effects)
        #expect(effects.count == 1)
    }
}
