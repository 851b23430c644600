internal import Bytes
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import Discovery

/// The numbers and the example of `docs/spec/discovery.md` are those of the code.
@Suite("The specification of discovery") struct SpecificationTests {
    private let text: String

    init() throws {
        text = try packageText(named: "docs/spec/discovery.md")
    }

    private func value(_ name: String) throws -> String {
        let row = try #require(
            text.split(separator: "\n").first { $0.hasPrefix("| \(name) | `") },
            "there is no row \(name)"
        )
        return String(row.split(separator: "`")[1])
    }

    private func bytes(_ name: String) throws -> [UInt8] { try Hex.decode(value(name)) }

    @Test func `its example is what the code reads and writes`() throws {
        let secret = try MemberSecret(binary: bytes("member secret (identity, section 9)"))
        #expect(secret.verify())
        let beacon = try bytes("beacon")
        let opened = try #require(BeaconKey(secret).open(beacon))
        let announcement = try Announcement(opened, of: secret.networkId)
        #expect(try announcement.signedBytes(for: .beacon) == bytes("signed bytes of the beacon"))
        #expect(try Array(beacon.prefix(BeaconKey.nonceByteCount)) == bytes("nonce"))
        let key = try Ed25519PrivateKey(rawRepresentation: bytes("sender's private key"))
        #expect(announcement.publicKey == key.publicKey)
        #expect(try announcement.instance.bytes == bytes("boot id"))
        #expect(try "\(announcement.counter)" == value("counter"))
        #expect(try "\(announcement.wallSeconds)" == value("wall clock"))
        #expect(try "\(announcement.token.expirationSeconds ?? 0)" == value("token's expiry"))
        let addresses = announcement.addresses.map(\.description).joined(separator: " ")
        #expect(try addresses == value("addresses"))
        #expect(try secret.rendezvous.publicKey.bytes == bytes("rendezvous key"))
        #expect(try secret.key(for: DomainLabel("runar/beacon-key/v1")) == SecretBytes(copying: bytes("beacon key")))
        let rendezvousProbe = try bytes("knock")
        let said = try #require(RendezvousProbe.open(rendezvousProbe, of: secret.networkId, with: secret.rendezvous))
        #expect(try Announcement(said, of: secret.networkId).instance == announcement.instance)
    }

    @Test func `its labels and lengths are those of the code`() {
        for carrier in Announcement.Carrier.allCases {
            #expect(text.contains("\"\(String(decoding: carrier.label.prefix.dropFirst(), as: UTF8.self))\""))
        }
        #expect(text.contains("| \(BeaconKey.byteCount) | beacon |"))
        #expect(text.contains("| \(RendezvousProbe.byteCount) | knock |"))
        #expect(text.contains("zeros up to \(Announcement.byteCount) bytes"))
        #expect(text.contains("number of addresses, at most \(Announcement.maximumAddressCount) "))
    }

    @Test func `its times are those of the code`() {
        let limits = Discovery.Limits()
        #expect(limits.burst == [0, 50, 150, 350].map { .milliseconds($0) })
        #expect(text.contains("sends at 0, 50, 150 and 350 ms"))
        #expect(limits.interval == .seconds(10) && limits.intervalSpread == .seconds(2))
        #expect(text.contains("every 10 s, give or take 2 s"))
        #expect(limits.timeToLive == .seconds(30))
        #expect(text.contains("nothing was heard for 30 s"))
        #expect(text.contains("differ by at most \(limits.clockToleranceSeconds) seconds"))
    }
}
