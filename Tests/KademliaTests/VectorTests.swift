internal import Bytes
internal import Identity
internal import Kademlia
internal import TestSupport
internal import Testing

/// The vectors were written by a program that shares no code with this one.
@Suite("Vectors of the hash table") struct VectorTests {
    private struct Vectors: Decodable {
        struct Writer: Decodable {
            let publicKey: String
            let peerId: String
        }

        struct Sample: Decodable {
            let name: String
            let key: String
            let location: String
            let writer: String
            let version: UInt64
            let expiry: UInt64
            let membershipExpiration: UInt64?
            let value: String?
            let record: String
        }

        struct NamedRecord: Decodable {
            let name: String
            let record: String
        }

        struct NamedMessage: Decodable {
            let name: String
            let message: String
        }

        let network: String
        let now: UInt64
        let writers: [Writer]
        let records: [Sample]
        let messages: [NamedMessage]
        let malformedRecords: [NamedRecord]
        let refusedRecords: [NamedRecord]
        let malformedMessages: [NamedMessage]
    }

    private let vectors: Vectors
    private let network: NetworkId

    init() throws {
        self.vectors = try TestSupport.vectors(named: "Kademlia/dht.json")
        self.network = try NetworkId(rawRepresentation: Hex.decode(self.vectors.network))
    }

    private func problem(of record: Record) -> RecordProblem? {
        record.head.problem(
            at: self.vectors.now,
            in: self.network,
            limits: Kademlia.Limits(),
            revoked: { _ in false },
            verifyToken: { $0.verifySignature() },
            verifySignature: { $0.isValidSignature($2, for: $1) }
        )
    }

    @Test func `each record is read field by field, verifies, and is written the same`() throws {
        #expect(self.vectors.records.count >= 4)
        for sample in self.vectors.records {
            let bytes = try Hex.decode(sample.record)
            let record = try Record(binary: bytes)
            #expect(record.binary == bytes, "\(sample.name)")
            #expect(record.key == (try Hex.decode(sample.key)))
            #expect(Record.location(of: record.key, in: self.network).bytes == (try Hex.decode(sample.location)))
            #expect(record.writer.bytes == (try Hex.decode(sample.writer)))
            #expect(record.version == sample.version && record.expirySeconds == sample.expiry)
            #expect(record.head.membership.expirationSeconds == sample.membershipExpiration)
            #expect(record.isTombstone == (sample.value == nil))
            #expect(record.value == (try Hex.decode(sample.value ?? "")))
            #expect(self.problem(of: record) == nil, "\(sample.name)")
        }
    }

    @Test func `this program signs the same bytes`() throws {
        let owner = try Ed25519PrivateKey(rawRepresentation: [UInt8](repeating: 1, count: 32))
        let writer = try Ed25519PrivateKey(rawRepresentation: [UInt8](repeating: 2, count: 32))
        let token = try AccessToken.create(
            peerId: PeerId(publicKey: writer.publicKey),
            networkId: self.network,
            signer: owner,
            expirationSeconds: nil
        )
        let sample = try #require(self.vectors.records.first)
        let genuine = try Record(binary: Hex.decode(sample.record))
        let record = try Record.create(
            key: genuine.key,
            value: genuine.value,
            version: genuine.version,
            expirySeconds: genuine.expirySeconds,
            token: token,
            signer: writer
        )
        // Signatures may be randomised on some systems, the signed bytes may not.
        #expect(record.head.signedBytes(in: self.network) == genuine.head.signedBytes(in: self.network))
        #expect(self.problem(of: record) == nil)
    }

    @Test func `each message is read and written byte by byte`() throws {
        #expect(self.vectors.messages.count >= 20)
        for sample in self.vectors.messages {
            let bytes = try Hex.decode(sample.message)
            #expect(try Message(bytes).bytes == bytes, "\(sample.name)")
        }
    }

    @Test func `what is malformed cannot be read`() throws {
        for sample in self.vectors.malformedRecords {
            #expect(throws: RecordError.self, "\(sample.name)") { try Record(binary: Hex.decode(sample.record)) }
        }
        for sample in self.vectors.malformedMessages {
            #expect(throws: MessageError.self, "\(sample.name)") { try Message(Hex.decode(sample.message)) }
        }
    }

    @Test func `what is forged or of another time is read and refused`() throws {
        let expected: [RecordProblem] = [
            .badSignature, .writerIsNoMember, .writerIsNoMember, .expired(at: self.vectors.now - 61), .expiresTooLate,
            .versionInFuture,
        ]
        let found = try self.vectors.refusedRecords.map { self.problem(of: try Record(binary: Hex.decode($0.record))) }
        #expect(found == expected)
    }
}
