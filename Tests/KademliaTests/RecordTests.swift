import Bytes
import Identity
import Kademlia
import TestSupport
import Testing

@Suite("Records") struct RecordTests {
    private let network = Ed25519KeyPair()
    private let writer = Ed25519KeyPair()
    private let now: UInt64 = 1_800_000_000
    private var id: NetworkId { NetworkId(publicKey: self.network.publicKey) }

    private func token(until expiration: UInt64? = nil) throws -> AccessToken {
        try AccessToken.create(
            peerId: PeerId(publicKey: self.writer.publicKey),
            networkId: self.id,
            signer: self.network.privateKey,
            expirationSeconds: expiration
        )
    }

    private func record(
        value: [UInt8]? = [1, 2, 3],
        version: UInt64 = 7,
        lifetime: UInt64 = 3600,
        token: AccessToken? = nil
    ) throws -> Record {
        try Record.create(
            key: [0x6B],
            value: value,
            version: version,
            expirySeconds: self.now + lifetime,
            token: try token ?? self.token(),
            signer: self.writer.privateKey
        )
    }

    private func problem(
        of record: Record,
        at seconds: UInt64? = nil,
        in network: NetworkId? = nil,
        revoked: Set<PeerId> = []
    ) -> RecordProblem? {
        record.head.problem(
            at: seconds ?? self.now,
            in: network ?? self.id,
            limits: Kademlia.Limits(),
            revoked: revoked.contains,
            verifyToken: { $0.verifySignature() },
            verifySignature: { $0.isValidSignature($2, for: $1) }
        )
    }

    @Test func `a record survives its binary form and verifies`() throws {
        for value in [[], [1, 2, 3], [UInt8](repeating: 9, count: Record.valueByteLimit)] as [[UInt8]] {
            let record = try self.record(value: value)
            #expect(try Record(binary: record.binary) == record)
            #expect(record.binary.count == record.byteCount)
            #expect(self.problem(of: record) == nil)
        }
        let tombstone = try self.record(value: nil)
        #expect(try Record(binary: tombstone.binary).isTombstone)
        #expect(self.problem(of: tombstone) == nil)
    }

    @Test func `no damaged record crashes the reader, and none that is read verifies`() throws {
        let inputs = [try self.record().binary, try self.record(value: nil).binary]
        neverCrash(on: inputs) { bytes in
            let read = try Record(binary: bytes)
            #expect(inputs.contains(read.binary) || self.problem(of: read) != nil)
        }
    }

    @Test func `values, keys and foreign tokens beyond the bounds are refused at writing`() throws {
        #expect(throws: KademliaError.valueTooLarge(limit: 65_536, found: 65_537)) {
            try self.record(value: [UInt8](repeating: 0, count: 65_537))
        }
        for key in [[], [UInt8](repeating: 0, count: 1025)] as [[UInt8]] {
            #expect(throws: KademliaError.invalidKey(limit: 1024, found: key.count)) {
                try Record.create(
                    key: key,
                    value: [],
                    version: 1,
                    expirySeconds: self.now,
                    token: self.token(),
                    signer: self.writer.privateKey
                )
            }
        }
        #expect(throws: KademliaError.notAMember) {
            try Record.create(
                key: [1],
                value: [],
                version: 1,
                expirySeconds: self.now,
                token: self.token(),
                signer: Ed25519KeyPair().privateKey
            )
        }
    }

    @Test func `a record never outlives the membership of its writer`() throws {
        let record = try self.record(lifetime: 7200, token: self.token(until: self.now + 3600))
        #expect(record.expirySeconds == self.now + 3600)
        #expect(self.problem(of: record) == nil)
    }

    @Test func `an expired, too lasting, future, revoked or foreign record is refused for its reason`() throws {
        let record = try self.record()
        #expect(self.problem(of: record, at: self.now + 3661) == .expired(at: self.now + 3600))
        #expect(self.problem(of: try self.record(lifetime: 8 * 86_400)) == .expiresTooLate)
        #expect(self.problem(of: try self.record(version: (self.now + 3601) * 1_000_000)) == .versionInFuture)
        #expect(self.problem(of: record, revoked: [record.writer]) == .revokedWriter)
        let other = NetworkId(publicKey: Ed25519KeyPair().publicKey)
        #expect(self.problem(of: record, in: other) == .writerIsNoMember)
        #expect(Record.location(of: record.key, in: other) != Record.location(of: record.key, in: self.id))
    }

    @Test func `a value that was not signed does not fit the head`() throws {
        let record = try self.record()
        #expect(Record(head: record.head, value: [1, 2, 4]) == nil)
        #expect(Record(head: record.head, value: record.value) == record)
    }
}
