internal import Bytes
internal import Crypto
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import OneTimeKeys

/// A peer with a genuine identity on its connection that violates the protocol.
@Suite("Hostile peers in exchanges of keys") struct HostilePeerTests {
    /// The first device asked; the hostile second one has the request, and answers by hand.
    private static func asked() throws -> (pair: ExchangePair, request: KeyExchangeMessage) {
        var pair = ExchangePair()
        pair.feed(0, .start)
        let request = try request(in: &pair)
        return (pair, request)
    }

    /// Takes the request that is under way.
    private static func request(in pair: inout ExchangePair) throws -> KeyExchangeMessage {
        let place = try #require(pair.inFlight.firstIndex { $0.body?.isRequest == true })
        return try KeyExchangeMessage(pair.inFlight.remove(at: place).bytes)
    }

    /// An offer for a request, signed by `key`, in the name of `claimed`.
    private static func offer(
        to request: KeyExchangeMessage,
        in pair: ExchangePair,
        by key: Ed25519KeyPair,
        as claimed: Ed25519KeyPair,
        suite: OneTimeKeySuite = .p256
    ) throws -> [UInt8] {
        let nonce = [UInt8](repeating: 9, count: 32)
        var transcript = Transcript(
            request: request,
            initiator: pair.devices[0].peerId,
            responder: pair.devices[1].peerId
        )
        transcript.add(
            KeyExchangeMessage.Offer.unsignedBytes(responder: claimed.publicKey, suite: suite, nonce: nonce)
        )
        let offer = KeyExchangeMessage.Offer(
            responder: claimed.publicKey,
            suite: suite,
            nonce: nonce,
            signature: try Ed25519Signature(of: transcript.signedBytes(.offer), by: key.privateKey)
        )
        return KeyExchangeMessage(exchange: request.exchange, body: .offer(offer)).bytes
    }

    @Test func `an offer that proves another identity is refused`() throws {
        let unknownPeer = generatePeerKey()
        for isForged in [false, true] {
            let asked = try Self.asked()
            var pair = asked.pair
            let claimed = isForged ? pair.devices[1].key : unknownPeer
            pair.feed(0, .received(try Self.offer(to: asked.request, in: pair, by: unknownPeer, as: claimed)))
            #expect(pair.states[0] == .failed(.invalidProof))
            #expect(pair.sent.last?.body == .refusal(.invalid))
        }
    }

    @Test func `an offer of an algorithm that was not asked for is refused`() throws {
        let asked = try Self.asked()
        var pair = asked.pair
        let key = pair.devices[1].key
        pair.feed(0, .received(try Self.offer(to: asked.request, in: pair, by: key, as: key, suite: .xWing)))
        #expect(pair.states[0] == .failed(.invalidProof))
    }

    @Test func `an offer of an earlier exchange is not taken`() throws {
        let asked = try Self.asked()
        var pair = asked.pair
        let key = pair.devices[1].key
        let old = try Self.offer(to: asked.request, in: pair, by: key, as: key)
        pair.feed(0, .localFailure)
        pair.feed(0, .start)
        let request = try Self.request(in: &pair)
        pair.feed(0, .received(old))
        #expect(pair.states[0] == .requestSent)
        // With the id of the new one it is no proof.
        let body = try KeyExchangeMessage(old).body
        pair.feed(0, .received(KeyExchangeMessage(exchange: request.exchange, body: body).bytes))
        #expect(pair.states[0] == .failed(.invalidProof))
    }

    @Test func `a request in another's name is refused`() throws {
        var pair = ExchangePair()
        var random = SeededGenerator(seed: 3)
        let body = KeyExchangeMessage.Body.request(.init(initiator: generatePeerKey().publicKey, suites: [1]))
        pair.feed(0, .received(KeyExchangeMessage(exchange: ExchangeId(generating: &random), body: body).bytes))
        #expect(pair.states[0] == .idle)
        #expect(pair.sent.map(\.body) == [.refusal(.invalid)])
    }

    @Test func `a flood of requests makes no work`() throws {
        var pair = ExchangePair()
        var random = SeededGenerator(seed: 3)
        let key = pair.devices[1].key
        for _ in 0..<100 {
            let body = KeyExchangeMessage.Body.request(.init(initiator: key.publicKey, suites: [1]))
            pair.feed(0, .received(KeyExchangeMessage(exchange: ExchangeId(generating: &random), body: body).bytes))
        }
        #expect(pair.sent.count { $0.body == .refusal(.tooMany) } == 97)
        #expect(pair.devices[0].pools.isEmpty)
        pair.now += .seconds(200)
        pair.inFlight.removeAll()
        pair.feed(1, .start)
        pair.settle()
        #expect(pair.states == [.completed, .completed], "later it is served again")
    }

    @Test func `a flood of refill requests generates no more than three pools`() throws {
        var pair = ExchangePair()
        pair.feed(0, .start)
        pair.settle()
        let exchange = try #require(pair.devices[0].established.first).exchange
        for generation in UInt32(1)...20 {
            pair.feed(
                0,
                .received(KeyExchangeMessage(exchange: exchange, body: .refillRequest(generation: generation)).bytes)
            )
            pair.settle()
        }
        #expect(pair.devices[0].pools.count == 4)
    }

    private struct Sharing {
        var pair: ExchangePair
        let exchange: ExchangeId
        let binding: ExchangeBinding

        /// Sends a message to the first device.
        mutating func send(_ body: KeyExchangeMessage.Body) {
            pair.feed(0, .received(KeyExchangeMessage(exchange: exchange, body: body).bytes))
        }
    }

    @Test func `pools that were not asked for are taken three times at once`() throws {
        var pair = ExchangePair()
        pair.feed(0, .start)
        pair.settle()
        let established = try #require(pair.devices[0].established.first)
        var stored: Set<UInt32> = []
        for generation in UInt32(2)...20 {
            let pool = try KeyStore.generate(.p256, generation: generation, capacity: 2).publicKeys.encoded
            let body = try Self.share(
                of: pool,
                generation: generation,
                in: established.binding,
                by: pair.devices[1].key
            )
            for body in [body, .part(offset: 0, bytes: pool)] {
                pair.feed(0, .received(KeyExchangeMessage(exchange: established.exchange, body: body).bytes))
            }
            stored.insert(try #require(pair.devices[0].peerKeys).generation)
        }
        #expect(stored.sorted() == [2, 3, 4])
    }

    @Test func `a peer that never confirms a pool stores one pool`() throws {
        var sharing = try Self.sharing()
        let key = sharing.pair.devices[1].key
        for generation in UInt32(1)...20 {
            let pool = try KeyStore.generate(.p256, generation: generation, capacity: 2).publicKeys.encoded
            sharing.send(try Self.share(of: pool, generation: generation, in: sharing.binding, by: key))
            sharing.send(.part(offset: 0, bytes: pool))
        }
        #expect(sharing.pair.devices[0].peerKeys?.generation == 1)
        #expect(sharing.pair.states[0] == .commitReceivedWaitingForKeys)
        // The stored pool is no progress more than once, so the exchange ends.
        sharing.pair.now += .seconds(300)
        sharing.pair.feed(0, .timeReached)
        #expect(sharing.pair.states[0] == .failed(.timedOut))
    }

    @Test func `an announcement does not replace the first pool while that is transferred`() throws {
        var sharing = try Self.sharing()
        let key = sharing.pair.devices[1].key
        let pools = try (UInt32(1)...2).map { generation in
            try KeyStore.generate(.p256, generation: generation, capacity: 2).publicKeys.encoded
        }
        for (pool, generation) in zip(pools, UInt32(1)...2) {
            sharing.send(try Self.share(of: pool, generation: generation, in: sharing.binding, by: key))
        }
        sharing.send(.part(offset: 0, bytes: pools[0]))
        #expect(sharing.pair.devices[0].peerKeys?.generation == 1)
    }

    @Test func `pools that replace each other during a transfer are taken three times at once`() throws {
        var pair = ExchangePair()
        pair.feed(0, .start)
        pair.settle()
        let established = try #require(pair.devices[0].established.first)
        func send(_ body: KeyExchangeMessage.Body) {
            pair.feed(0, .received(KeyExchangeMessage(exchange: established.exchange, body: body).bytes))
        }
        var pools: [[UInt8]] = []
        for generation in UInt32(2)...5 {
            let pool = try KeyStore.generate(.p256, generation: generation, capacity: 2).publicKeys.encoded
            pools.append(pool)
            let key = pair.devices[1].key
            send(try Self.share(of: pool, generation: generation, in: established.binding, by: key))
        }
        send(.part(offset: 0, bytes: pools[3]))
        #expect(pair.states[0] == .failed(.invalidShare) && pair.devices[0].peerKeys?.generation == 1)
    }

    /// The first device waits for the keys of the hostile second one, which can sign.
    private static func sharing() throws -> Sharing {
        var pair = ExchangePair()
        pair.feed(0, .start)
        pair.isGenerationSlow = true
        pair.settle()
        guard case .sharing(let session) = pair.devices[0].exchange.phase else {
            throw OneTimeKeyError.malformed(of: "the test", reason: "\(pair.states)")
        }
        return Sharing(pair: pair, exchange: session.exchange, binding: session.binding)
    }

    private static func share(
        of bytes: [UInt8],
        generation: UInt32 = 1,
        byteCount: Int? = nil,
        in binding: ExchangeBinding,
        by key: Ed25519KeyPair,
        in name: Ed25519KeyPair? = nil
    ) throws -> KeyExchangeMessage.Body {
        let digest = try #require(Bytes32(Array(SHA256.hash(data: bytes))))
        let signed = KeyExchangeMessage.KeyShare.signedBytes(
            suite: .p256,
            generation: generation,
            byteCount: byteCount ?? bytes.count,
            digest: digest
        )
        let message = binding.signedBytes(of: signed, by: PeerId(publicKey: (name ?? key).publicKey))
        return .keyShare(
            .init(
                suite: .p256,
                generation: generation,
                byteCount: byteCount ?? bytes.count,
                digest: digest,
                signature: try Ed25519Signature(of: message, by: key.privateKey)
            )
        )
    }

    @Test func `forged and unbound shares are refused`() throws {
        let pool = try KeyStore.generate(.p256, capacity: 2).publicKeys.encoded
        let other = ExchangeBinding(bytes: [UInt8](repeating: 3, count: 32))
        for attempt in 0..<3 {
            var sharing = try Self.sharing()
            let (keys, binding) = (sharing.pair.devices.map(\.key), sharing.binding)
            let body =
                switch attempt {
                case 0: try Self.share(of: pool, in: binding, by: generatePeerKey(), in: keys[1])
                case 1: try Self.share(of: pool, in: other, by: keys[1])
                default: try Self.share(of: pool, in: binding, by: keys[1], in: keys[0])  // reflected
                }
            sharing.send(body)
            #expect(sharing.pair.states[0] == .failed(.invalidShare), "\(attempt)")
            #expect(sharing.pair.devices[0].peerKeys == nil)
        }
    }

    @Test func `a share is stored only if it is what was signed`() throws {
        let pool = try KeyStore.generate(.p256, capacity: 2).publicKeys.encoded
        let secondPool = try KeyStore.generate(.p256, generation: 2, capacity: 2).publicKeys.encoded
        let changed = Array(pool.dropLast()) + [pool[pool.count - 1] ^ 1]
        let sets: [(name: String, announced: [UInt8], byteCount: Int, parts: [[UInt8]])] = [
            ("another pool", pool, pool.count, [changed]),
            ("no pool", [1, 2, 3], 3, [[1, 2, 3]]),
            ("another generation", secondPool, secondPool.count, [secondPool]),
            ("more than announced", pool, pool.count - 1, [pool]),
            ("an empty part", pool, pool.count, [[]]),
        ]
        for (name, announced, byteCount, parts) in sets {
            var sharing = try Self.sharing()
            let key = sharing.pair.devices[1].key
            sharing.send(try Self.share(of: announced, byteCount: byteCount, in: sharing.binding, by: key))
            for part in parts { sharing.send(.part(offset: 0, bytes: part)) }
            #expect(sharing.pair.states[0] == .failed(.invalidShare), "\(name)")
            #expect(sharing.pair.devices[0].peerKeys == nil)
        }
    }

    @Test func `a share that overtakes the commit waits`() throws {
        var pair = ExchangePair()
        pair.feed(0, .start)
        for _ in 0..<3 { pair.deliver() }
        // Commit and key share of the second device.
        #expect(pair.inFlight.count == 2)
        pair.deliver(at: 1)
        #expect(pair.states[0] == .ackSent)
        #expect(pair.devices[0].peerKeys == nil)
        pair.settle()
        while pair.states != [.completed, .completed], pair.wakeNext() { pair.settle() }
        #expect(pair.states == [.completed, .completed])
        #expect(pair.agrees)
    }

    @Test func `oversize fields are no messages`() throws {
        var sharing = try Self.sharing()
        let body = try Self.share(of: [1], in: sharing.binding, by: sharing.pair.devices[1].key)
        var share = KeyExchangeMessage(exchange: sharing.exchange, body: body).bytes
        // The length follows version, kind, id, suite and generation.
        share.replaceSubrange(23..<27, with: [0x7F, 0xFF, 0xFF, 0xFF])
        for bytes in [share, [UInt8](repeating: 1, count: 1 << 20)] {
            #expect(throws: OneTimeKeyError.self) { try KeyExchangeMessage(bytes) }
            sharing.pair.feed(0, .received(bytes))
        }
        #expect(sharing.pair.states[0] == .commitReceivedWaitingForKeys)
    }

    @Test func `no message crashes the reader, whatever was said before`() throws {
        var pair = ExchangePair()
        pair.feed(0, .start)
        pair.settle()
        pair.feed(1, .requestRefill)
        pair.settle()
        let messages = pair.sent.map(\.bytes)
        #expect(Set(messages.map { $0[1] }).count >= 9)
        for message in messages { #expect(try KeyExchangeMessage(message).bytes == message) }
        neverCrash(on: messages) { _ = try KeyExchangeMessage($0) }
        for count in 0..<8 {
            var other = ExchangePair(seed: UInt64(count))
            other.feed(0, .start)
            for _ in 0..<count where !other.inFlight.isEmpty { other.deliver() }
            neverCrash(on: other.sent.map(\.bytes), rounds: 50, seed: UInt64(count)) { bytes in
                var copy = other
                copy.feed(0, .received(bytes))
                copy.feed(1, .received(bytes))
            }
        }
    }
}

extension KeyExchangeMessage.Body {
    fileprivate var isRequest: Bool { if case .request = self { true } else { false } }
}
