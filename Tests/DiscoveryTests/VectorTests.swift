internal import Bytes
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import Discovery

/// Beacons and rendezvous probes of another implementation, and ours as that implementation verified them.
@Suite("Vectors of discovery") struct VectorTests {
    struct Vectors: Decodable {
        let network_private: String
        let member_secret: String
        let beacon_key: String
        let rendezvous_public: String
        let rows: [Row]
    }

    struct Row: Decodable, CustomTestStringConvertible {
        let name: String
        let addresses: [String]
        let expiration: UInt64?
        let goodbye: Bool
        let counter: UInt64
        let wall_seconds: UInt64
        let instance: String
        let peer_private: String
        let peer_id: String
        let nonce: String
        let beacon_signed: String
        let beacon_announcement: String
        let beacon: String
        let knock_announcement: String
        let knock: String

        var testDescription: String { name }
    }

    struct Ours: Decodable {
        let beacon: String
        let knock: String
    }

    private static let file = Result { try vectors(named: "Discovery/announcements.json", as: Vectors.self) }

    private let secret: MemberSecret

    init() throws {
        secret = try MemberSecret(binary: Hex.decode(Self.file.get().member_secret))
    }

    private func check(_ announcement: Announcement, against row: Row, of carrier: Announcement.Carrier) throws {
        let key = try Ed25519PrivateKey(rawRepresentation: Hex.decode(row.peer_private))
        #expect(announcement.publicKey == key.publicKey)
        #expect(Hex.encode(announcement.peerId.bytes) == row.peer_id)
        #expect(Hex.encode(announcement.instance.bytes) == row.instance)
        #expect(announcement.counter == row.counter)
        #expect(announcement.wallSeconds == row.wall_seconds)
        #expect(announcement.isGoodbye == row.goodbye)
        #expect(announcement.addresses.map(\.description) == row.addresses)
        #expect(announcement.token.expirationSeconds == row.expiration)
        #expect(announcement.token.verifySignature())
        for other in Announcement.Carrier.allCases {
            let isValid = announcement.publicKey.isValidSignature(
                announcement.signature.bytes,
                for: announcement.signedBytes(for: other)
            )
            #expect(isValid == (other == carrier))
        }
    }

    @Test(arguments: try file.get().rows)
    func `a beacon is read and written byte by byte`(row: Row) throws {
        let datagram = try Hex.decode(row.beacon)
        let bytes = try #require(BeaconKey(secret).open(datagram))
        #expect(Hex.encode(bytes) == row.beacon_announcement)
        let announcement = try Announcement(bytes, of: secret.networkId)
        try check(announcement, against: row, of: .beacon)
        #expect(Hex.encode(announcement.signedBytes(for: .beacon)) == row.beacon_signed)
        #expect(announcement.bytes == bytes)
        #expect(try BeaconKey(secret).seal(announcement, nonce: Hex.decode(row.nonce)) == datagram)
    }

    @Test(arguments: try file.get().rows)
    func `a rendezvous probe is opened`(row: Row) throws {
        let datagram = try Hex.decode(row.knock)
        #expect(datagram.count == RendezvousProbe.byteCount)
        let pair = secret.rendezvous
        #expect(Hex.encode(pair.publicKey.bytes) == (try Self.file.get().rendezvous_public))
        #expect(RendezvousProbe.isAddressed(datagram, to: pair.publicKey))
        let bytes = try #require(RendezvousProbe.open(datagram, of: secret.networkId, with: pair))
        #expect(Hex.encode(bytes) == row.knock_announcement)
        let announcement = try Announcement(bytes, of: secret.networkId)
        try check(announcement, against: row, of: .rendezvousProbe)
        #expect(announcement.bytes == bytes)
    }

    @Test(arguments: try file.get().rows)
    func `what we say is what the other implementation says`(row: Row) throws {
        let network = try Ed25519PrivateKey(rawRepresentation: Hex.decode(Self.file.get().network_private))
        let key = try Ed25519PrivateKey(rawRepresentation: Hex.decode(row.peer_private))
        let ours = try Announcement(
            by: key,
            token: AccessToken.create(
                peerId: PeerId(publicKey: key.publicKey),
                networkId: secret.networkId,
                signer: network,
                expirationSeconds: row.expiration
            ),
            instance: InstanceId(bytes: Hex.decode(row.instance)),
            counter: row.counter,
            wallSeconds: row.wall_seconds,
            isGoodbye: row.goodbye,
            addresses: row.addresses.map { try SocketAddress(parsing: $0) },
            for: .beacon
        )
        // Signers may randomise; the signed bytes are equal except for the token's signature.
        let theirs = try Announcement(Hex.decode(row.beacon_announcement), of: secret.networkId)
        let token = theirs.token
        let same = try Announcement(
            by: key,
            token: token,
            instance: ours.instance,
            counter: ours.counter,
            wallSeconds: ours.wallSeconds,
            isGoodbye: ours.isGoodbye,
            addresses: ours.addresses,
            for: .beacon
        )
        #expect(ours.token.signedBytes == token.signedBytes)
        #expect(same.signedBytes(for: .beacon) == theirs.signedBytes(for: .beacon))
    }

    /// `generate.py` opens and verifies the same file with its own code.
    @Test func `ours, which the other implementation verified, are still read`() throws {
        let ours = try vectors(named: "Discovery/ours.json", as: Ours.self)
        let beacon = try #require(BeaconKey(secret).open(Hex.decode(ours.beacon)))
        let announced = try Announcement(beacon, of: secret.networkId)
        #expect(announced.addresses.count == 2)
        let knock = try Hex.decode(ours.knock)
        let opened = try #require(RendezvousProbe.open(knock, of: secret.networkId, with: secret.rendezvous))
        #expect(try Announcement(opened, of: secret.networkId).peerId == announced.peerId)
    }
}
