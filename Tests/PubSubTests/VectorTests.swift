internal import Bytes
internal import Identity
internal import PubSub
internal import TestSupport
internal import Testing

/// The vectors were written by a program that shares no code with this one.
@Suite("Vectors of events") struct VectorTests {
    private struct Vectors: Decodable {
        struct Batch: Decodable {
            let publisher: String
            let instance: String
            let topic: String
            let first: UInt64
            let published: UInt64
            let expiration: UInt64?
            let events: [String]
            let signed: String
            let batch: String
        }

        struct NamedBatch: Decodable {
            let name: String
            let batch: String
        }

        struct NamedMessage: Decodable {
            let name: String
            let message: String
        }

        let network: String
        let now: UInt64
        let batches: [Batch]
        let refused: [NamedBatch]
        let messages: [NamedMessage]
        let malformed: [NamedMessage]
    }

    private let vectors: Vectors
    private let network: NetworkId

    init() throws {
        self.vectors = try TestSupport.vectors(named: "PubSub/events.json")
        self.network = try NetworkId(rawRepresentation: Hex.decode(self.vectors.network))
    }

    /// The batch in a Gossip message of these bytes.
    private func batch(_ hex: String) throws -> EventBatch {
        let message = try Message([4, 1, 0, 0, 0, 0] + Hex.decode(hex))
        guard case .gossip(let batch, hops: 1, age: 0) = message else { throw CancellationError() }
        return batch
    }

    /// A node that receives a batch of a neighbour, and its effects, with real signatures.
    private func effects(of hex: String) throws -> [PubSub.Effect] {
        let own = Ed25519PrivateKey()
        let peer = PeerId(publicKey: Ed25519PrivateKey().publicKey)
        var exchange = PubSub(
            PubSub.Configuration(
                localPeerId: PeerId(publicKey: own.publicKey),
                networkId: self.network,
                instance: InstanceId(),
                signer: own,
                randomSeed: 1
            )
        )
        let now = NodeTime(monotonic: .seconds(100), wallSeconds: self.vectors.now)
        var effects: [PubSub.Effect] = []
        exchange.handle(.memberUp(peer), at: now, into: &effects)
        effects = []
        exchange.handle(
            .messageReceived(from: peer, [5, 1, 0, 0, 0, 0] + (try Hex.decode(hex))[...]),
            at: now,
            into: &effects
        )
        return effects
    }

    @Test func `batches of the vectors decode as specified, with valid signatures`() throws {
        for sample in self.vectors.batches {
            let batch = try self.batch(sample.batch)
            #expect(Hex.encode(batch.stream.publisher.bytes) == sample.publisher)
            #expect(Hex.encode(batch.stream.instance.bytes) == sample.instance)
            #expect(batch.topic == sample.topic)
            #expect(batch.first == sample.first)
            #expect(batch.publishedSeconds == sample.published)
            #expect(batch.membership.expirationSeconds == sample.expiration)
            #expect(batch.events.map { Hex.encode(Array($0)) } == sample.events)
            #expect(Hex.encode(batch.signedBytes(in: self.network)) == sample.signed)
            let delivered = try self.effects(of: sample.batch).contains {
                if case .host(.deliver(batch, _, hops: 1)) = $0 { true } else { false }
            }
            #expect(delivered, "\(sample.topic)")
        }
    }

    @Test func `batches that no peer may forward are protocol violations`() throws {
        for sample in self.vectors.refused {
            let effects = try self.effects(of: sample.batch)
            #expect(effects.contains { if case .violation = $0 { true } else { false } }, "\(sample.name)")
            #expect(!effects.contains { if case .host(.deliver) = $0 { true } else { false } }, "\(sample.name)")
        }
    }

    @Test func `messages are encoded as they were decoded`() throws {
        for sample in self.vectors.messages {
            let bytes = try Hex.decode(sample.message)
            #expect(try Message(bytes).bytes == bytes, "\(sample.name)")
        }
    }

    @Test func `a malformed message is refused`() throws {
        for sample in self.vectors.malformed {
            #expect(throws: EventError.self, "\(sample.name)") { try Message(Hex.decode(sample.message)) }
        }
    }
}
