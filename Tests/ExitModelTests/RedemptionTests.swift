internal import Bytes
internal import ExitModel
internal import Foundation
internal import Identity
internal import TestSupport
internal import Testing

@Suite("Forms of the redemption") struct RedemptionTests {
    private let vectors: ExitVectors

    init() throws { vectors = try ExitVectors.load() }

    @Test func `a form has the bytes that another program writes`() throws {
        let form = try RedemptionForm(json: Array(vectors.form.utf8))
        #expect(form.clientPublicKey.bytes == [UInt8](repeating: 7, count: 32))
        #expect(Hex.encode(form.encapsulationKey.bytes) == vectors.xWing.publicKey)
        #expect(String(decoding: form.json, as: UTF8.self) == vectors.form)
    }

    @Test func `a report has the bytes that another program writes`() throws {
        let report = try RedemptionReport(json: Array(vectors.report.utf8))
        #expect(report.endpoints.map(\.description) == ["198.51.100.2:51820", "[2001:db8:6::2]:51820"])
        #expect(report.addresses.map(\.description) == ["10.66.0.2", "fd66::2"])
        #expect(report.resolvers.map(\.description) == ["10.66.0.1"])
        #expect(report.leaseEnds == vectors.now + 3_600 && report.keepaliveSeconds == 25 && report.mtu == 1_420)
        #expect(String(decoding: report.json, as: UTF8.self) == vectors.report)
    }

    @Test func `a form has no member for a private key`() throws {
        let object = try JSONSerialization.jsonObject(with: Data(vectors.form.utf8))
        let names = try #require(object as? [String: Any]).keys.sorted()
        #expect(names == ["clientPublicKey", "encapsulationKey"])
    }

    @Test(arguments: [0, 31, 33, 64, 1_215, 1_217])
    func `a key of another size is refused and not repaired`(_ count: Int) {
        let keys = [Base64URL.encode([UInt8](repeating: 7, count: count)), vectors.xWing.publicKey]
        let right = Base64URL.encode([UInt8](repeating: 7, count: 32))
        let form = #"{"clientPublicKey":"\#(keys[0])","encapsulationKey":"AA"}"#
        #expect(throws: ExitModelError.self) { try RedemptionForm(json: Array(form.utf8)) }
        let other = #"{"clientPublicKey":"\#(right)","encapsulationKey":"\#(keys[0])"}"#
        #expect(throws: ExitModelError.self) { try RedemptionForm(json: Array(other.utf8)) }
    }

    @Test(arguments: [
        "", "[]", "{}", "null", #"{"clientPublicKey":1}"#, #"{"clientPublicKey":"AA==","encapsulationKey":"AA"}"#,
        String(repeating: "[", count: 1_000),
    ])
    func `another text is no form`(_ text: String) {
        #expect(throws: ExitModelError.self) { try RedemptionForm(json: Array(text.utf8)) }
    }

    @Test(arguments: [
        ("endpoints", "[]"), ("endpoints", #"["0.0.0.0:1"]"#), ("endpoints", #"["198.51.100.2:0"]"#),
        ("endpoints", #"["gateway:51820"]"#), ("addresses", #"["224.0.0.1"]"#), ("resolvers", #"["::"]"#),
        ("mtu", "1279"), ("mtu", "9001"), ("mtu", "-1"), ("leaseEnds", "999999999999999"),
        ("encapsulatedKey", #""AAAA""#), ("peerPublicKey", #""AAAA""#),
    ])
    func `a report with a value out of its range is refused`(_ name: String, _ value: String) throws {
        let object = try JSONSerialization.jsonObject(with: Data(vectors.report.utf8))
        var members = try #require(object as? [String: Any])
        #expect(members[name] != nil)
        members[name] = try JSONSerialization.jsonObject(with: Data(value.utf8), options: .fragmentsAllowed)
        let json = [UInt8](try JSONSerialization.data(withJSONObject: members))
        #expect(throws: ExitModelError.self) { try RedemptionReport(json: json) }
    }

    @Test func `damaged forms and reports never crash`() {
        neverCrash(on: [Array(vectors.form.utf8), Array(vectors.report.utf8)]) { bytes in
            _ = try? RedemptionForm(json: bytes)  // most are refused
            _ = try RedemptionReport(json: bytes)
        }
    }

    // MARK: X-Wing

    @Test func `X-Wing agrees with another implementation`() throws {
        let vector = vectors.xWing
        var seed = FixedSeed(try Hex.decode(vector.seed))
        let key = DecapsulationKey(using: &seed)
        #expect(Hex.encode(try key.encapsulationKey().bytes) == vector.publicKey)
        let secret = try key.decapsulate(EncapsulatedKey(Hex.decode(vector.encapsulated)))
        #expect(secret == SecretBytes(copying: try Hex.decode(vector.secret)))
    }

    @Test func `client and gateway agree on a new secret each time`() throws {
        var random = SplitMix64(seed: 4)
        let key = DecapsulationKey(using: &random)
        let (first, encapsulated) = try key.encapsulationKey().encapsulate()
        let (second, _) = try key.encapsulationKey().encapsulate()
        #expect(try key.decapsulate(encapsulated) == first)
        #expect(first != second && first.count == 32)
        #expect(try DecapsulationKey(using: &random).decapsulate(encapsulated) != first)
    }

    @Test func `bytes that are no key of ML-KEM are refused`() throws {
        let key = try EncapsulationKey([UInt8](repeating: 0xFF, count: EncapsulationKey.byteCount))
        #expect(throws: ExitModelError.encapsulationFailed) { try key.encapsulate() }
    }

    @Test func `a private key prints as redacted`() {
        var random = SplitMix64(seed: 5)
        let key = DecapsulationKey(using: &random)
        #expect("\(key)" == "DecapsulationKey(redacted)" && String(reflecting: key) == "DecapsulationKey(redacted)")
        #expect(Mirror(reflecting: key).children.isEmpty)
    }
}

/// A generator that gives the bytes of a seed in their order.
private struct FixedSeed: RandomNumberGenerator {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    mutating func next() -> UInt64 {
        // One random byte takes one number.
        UInt64(bytes.popFirst() ?? 0)
    }
}
