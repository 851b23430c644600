internal import Bytes
internal import Crypto
internal import Identity
internal import TestSupport
internal import Testing
internal import Traversal

/// The samples of RFC 5769 and RFC 8489, appendix B.
struct STUNVectors: Decodable {
    struct Sample: Decodable {
        let name: String
        let kind: String
        let algorithm: String
        let key: String
        let transaction: String
        let hasFingerprint: Bool
        /// Whether its padding is zero, as ours is; that of RFC 5769's first samples is not.
        let reproducible: Bool
        let software: String?
        let username: String?
        let mapped: String?
        /// The attributes that have no case of their own, by type.
        let other: [String: String]
        let bytes: String

        var symmetricKey: SymmetricKey {
            get throws { SymmetricKey(data: try Hex.decode(self.key)) }
        }

        var hash: STUNPacket.Algorithm { self.algorithm == "sha1" ? .sha1 : .sha256 }
    }

    let samples: [Sample]

    static func load() throws -> STUNVectors { try TestSupport.vectors(named: "Traversal/stun.json") }
}

@Suite("STUN packets") struct PacketTests {
    private let samples: [STUNVectors.Sample]
    private let transaction = STUNTransactionId(Array(1...12))
    private let key = SymmetricKey(data: [UInt8](repeating: 7, count: 16))

    init() throws {
        self.samples = try STUNVectors.load().samples
    }

    private func message(_ attributes: [STUNAttribute]) throws -> STUNMessage {
        STUNMessage(.request, transaction: try #require(self.transaction), attributes: attributes)
    }

    @Test func `the samples of the standards decode as specified and are authentic`() throws {
        #expect(self.samples.count == 5)
        for sample in self.samples {
            let packet = try STUNPacket(Hex.decode(sample.bytes))
            let message = packet.message
            #expect("\(message.kind)" == sample.kind && message.method == STUNMessage.binding, "\(sample.name)")
            #expect(Hex.encode(message.transaction.bytes) == sample.transaction, "\(sample.name)")
            #expect(message.username.map { Hex.encode($0) } == sample.username, "\(sample.name)")
            #expect(message.mappedAddress?.description == sample.mapped, "\(sample.name)")
            for attribute in message.attributes {
                switch attribute {
                case .software(let text): #expect(text == sample.software, "\(sample.name)")
                case .other(let type, let bytes):
                    let name = Hex.encode([UInt8(type >> 8), UInt8(type & 0xFF)])
                    #expect(sample.other[name] == Hex.encode(bytes), "\(sample.name)")
                default: continue
                }
            }
            let named = [sample.software, sample.username, sample.mapped].compactMap { $0 }
            #expect(message.attributes.count == sample.other.count + named.count, "\(sample.name)")
            #expect(packet.hasFingerprint == sample.hasFingerprint, "\(sample.name)")
            #expect(try packet.isAuthentic(under: sample.symmetricKey, by: sample.hash), "\(sample.name)")
        }
    }

    @Test func `a sample under another key, another hash, or with any byte changed is not authentic`() throws {
        for sample in self.samples {
            let bytes = try Hex.decode(sample.bytes)
            let packet = try STUNPacket(bytes)
            #expect(!packet.isAuthentic(under: self.key, by: sample.hash))
            #expect(try !packet.isAuthentic(under: sample.symmetricKey, by: sample.hash == .sha1 ? .sha256 : .sha1))
            let isLast = sample.hasFingerprint ? bytes.count - 8 : bytes.count
            for index in 0..<isLast {
                var changed = bytes
                changed[index] ^= 1
                // Unreadable packets, or those with a wrong fingerprint, never reach this check.
                guard let packet = try? STUNPacket(changed) else { continue }  // refused is as good
                #expect(try !packet.isAuthentic(under: sample.symmetricKey, by: sample.hash), "byte \(index)")
            }
        }
    }

    @Test func `messages are encoded as in the standards`() throws {
        for sample in self.samples {
            let bytes = try Hex.decode(sample.bytes)
            let message = try STUNPacket(bytes).message
            let written = try STUNPacket.encode(
                message,
                key: sample.symmetricKey,
                by: sample.hash,
                hasFingerprint: sample.hasFingerprint
            )
            if sample.reproducible {
                #expect(written == bytes, "\(sample.name)")
            } else {
                #expect(written.count == bytes.count, "\(sample.name)")
                #expect(try STUNPacket(written).message == message, "\(sample.name)")
            }
        }
    }

    @Test func `every attribute is read as it was written`() throws {
        let unknown = try #require(STUNErrorCode(code: 487, reason: "Role Conflict"))
        let address = try SocketAddress(parsing: "192.0.2.9:1")
        let wide = try SocketAddress(parsing: "[2001:db8::1]:65535")
        let attributes: [STUNAttribute] = [
            .mappedAddress(address), .xorMappedAddress(wide), .username(Array(1...9)), .errorCode(unknown),
            .unknownAttributes([0x0024, 0x7FFF]), .software("Rünar"), .changeRequest([.address, .port]),
            .responseOrigin(wide), .otherAddress(address), .other(type: 0xC001, [1, 2, 3]),
        ]
        let message = try self.message(attributes)
        for kind in [STUNMessage.Class.request, .indication, .success, .failure] {
            for method: UInt16 in [0, 1, 0xF, 0x10, 0x7F, 0x80, 0xABC, 0xFFF] {
                var other = message
                other.kind = kind
                other.method = method
                #expect(try STUNPacket(STUNPacket.encode(other)).message == other)
            }
        }
        #expect(message.mappedAddress == wide)
        #expect(message.failure == unknown)
        #expect(message.otherAddress == address)
        #expect(message.change == [.address, .port])
        #expect(message.unknownAttributes.isEmpty)
        #expect(try self.message([.other(type: 0x7FFF, []), .other(type: 0x8000, [])]).unknownAttributes == [0x7FFF])
    }

    @Test func `a truncated integrity code is valid only if the receiver accepts that length`() throws {
        let whole = STUNPacket.encode(try self.message([]), key: self.key, hasFingerprint: false)
        // The length is covered by the code, so a sender that truncates it computes it for the shorter message.
        var shorter = Array(whole.prefix(20))
        shorter[3] = 4 + 16
        let code = Array(HMAC<SHA256>.authenticationCode(for: shorter, using: self.key).prefix(16))
        let cut = try STUNPacket(shorter + [0x00, 0x1C, 0, 16] + code)
        #expect(!cut.isAuthentic(under: self.key, by: .sha256))
        #expect(cut.isAuthentic(under: self.key, by: .sha256, leastByteCount: 16))
        #expect(!cut.isAuthentic(under: self.key, by: .sha256, leastByteCount: 20))
        for count in [0, 4, 12, 17, 36] {
            var bytes = Array(whole.prefix(20))
            let padded = (count + 3) & ~3
            bytes[3] = UInt8(4 + padded)
            bytes += [0x00, 0x1C, 0, UInt8(count)] + [UInt8](repeating: 1, count: padded)
            #expect(throws: STUNError.self, "\(count) bytes") { try STUNPacket(bytes) }
        }
    }

    @Test func `attributes after an integrity attribute are ignored`() throws {
        let sealed = STUNPacket.encode(try self.message([.username([1])]), key: self.key, hasFingerprint: false)
        let smuggled = try STUNPacket.encode(self.message([.software("x")]), hasFingerprint: false).dropFirst(20)
        var bytes = sealed + smuggled
        bytes[3] += UInt8(smuggled.count)
        let packet = try STUNPacket(bytes)
        #expect(packet.message.attributes == [.username([1])])
        #expect(packet.isAuthentic(under: self.key, by: .sha256))
    }

    @Test func `a malformed or damaged STUN message is refused with the reason`() throws {
        let good = STUNPacket.encode(try self.message([.software("x")]))
        func refused(_ error: STUNError, _ change: (inout [UInt8]) -> Void) {
            var bytes = good
            change(&bytes)
            #expect(throws: error) { try STUNPacket(bytes) }
        }
        refused(.notSTUN) { $0 = [] }
        refused(.notSTUN) { $0 = Array($0.prefix(19)) }
        refused(.notSTUN) { $0[0] |= 0x40 }
        refused(.notSTUN) { $0[4] = 0 }
        refused(.wrongFingerprint) { $0[24] ^= 1 }
        refused(.wrongFingerprint) { $0[$0.count - 1] ^= 1 }
        refused(.malformed("16 bytes announced, 15 there")) { $0.removeLast() }
        refused(.tooLong(byteCount: 1233)) { $0 += [UInt8](repeating: 0, count: 1233 - $0.count) }
        let many = try self.message((0..<65).map { _ in .other(type: 0x8000, []) })
        #expect(throws: STUNError.malformed("more than 64 attributes")) {
            try STUNPacket(STUNPacket.encode(many, hasFingerprint: false))
        }
    }

    @Test func `attribute values that violate the standard are refused`() throws {
        for (type, value) in [
            (UInt16(0x0020), "0003000101020304"), (0x0020, "00010001010203"), (0x0020, "0002000101020304"),
            (0x0001, "000100010102030405"), (0x0003, "000006"), (0x0009, "00000264"), (0x0009, "00000701"),
            (0x0009, "0000"), (0x000A, "010203"), (0x0006, String(repeating: "61", count: 509)),
            (0x8022, String(repeating: "61", count: 764)),
        ] {
            let message = try self.message([.other(type: type, Hex.decode(value))])
            #expect(throws: STUNError.self, "\(type) \(value.prefix(20))") {
                try STUNPacket(STUNPacket.encode(message))
            }
        }
    }

    @Test func `no bytes crash the decoder`() throws {
        var inputs = try self.samples.map { try Hex.decode($0.bytes) }
        inputs.append(
            STUNPacket.encode(
                try self.message([.unknownAttributes([1, 2]), .changeRequest(.port), .other(type: 0, [1])]),
                key: self.key
            )
        )
        neverCrash(on: inputs, rounds: 20_000) { bytes in
            let packet = try STUNPacket(bytes)
            _ = packet.isAuthentic(under: self.key, by: .sha256, leastByteCount: 0)
            let again = try STUNPacket(STUNPacket.encode(packet.message, hasFingerprint: false)).message
            #expect(again == packet.message)
        }
    }
}
