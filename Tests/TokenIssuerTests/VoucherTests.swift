internal import Bytes
internal import Crypto
internal import ExitModel
internal import Identity
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import CommandModel
@testable internal import TokenIssuer

@Suite("Vouchers", .timeLimit(.minutes(5))) struct VoucherTests {
    private static let expires: UInt64 = 2_000_000_000
    private static let voucher = Voucher(id: Array(0..<16), allowance: 200, expires: expires)
    private let key = VoucherKey(SymmetricKey(data: [UInt8](repeating: 3, count: 32)))

    @Test func `a voucher has 59 bytes in base64url, and reads back until it expires`() throws {
        let text = key.text(of: Self.voucher)
        #expect(text.utf8.count == 79 && Voucher.characterCount == 79)
        let bytes = try Base64URL.decode(text)
        #expect(bytes.count == 59)
        // Version, id, allowance and expiry, big-endian.
        #expect(Array(bytes.prefix(27)) == [1] + Array(0..<16) + [0, 200] + [0, 0, 0, 0, 0x77, 0x35, 0x94, 0])
        #expect(try key.voucher(in: text, at: Self.expires - 1) == Self.voucher)
        #expect(throws: TokenIssuerError.voucherExpired) { try key.voucher(in: text, at: Self.expires) }
    }

    @Test func `a voucher of another issuer is refused`() {
        let other = VoucherKey(SymmetricKey(data: [UInt8](repeating: 4, count: 32)))
        #expect(throws: TokenIssuerError.badVoucher) { try key.voucher(in: other.text(of: Self.voucher), at: 0) }
    }

    @Test func `a changed bit makes a voucher invalid`() throws {
        let bytes = try Base64URL.decode(key.text(of: Self.voucher))
        for index in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[index] ^= 1 << bit
                #expect(throws: TokenIssuerError.badVoucher) {
                    try key.voucher(in: Base64URL.encode(changed), at: 0)
                }
            }
        }
    }

    @Test func `an authentic voucher of another version is refused`() throws {
        // The code covers all fields, so only the issuer can make this voucher.
        let label = Array("runar/issuer-voucher/v1".utf8)
        var fields = Self.voucher.fields
        fields[0] = 2
        let message = [UInt8(label.count)] + label + fields
        let code = HMAC<SHA256>
            .authenticationCode(for: message, using: SymmetricKey(data: [UInt8](repeating: 3, count: 32)))
        #expect(throws: TokenIssuerError.badVoucher) { try key.voucher(in: Base64URL.encode(fields + code), at: 0) }
        fields[0] = 1
        let valid = [UInt8(label.count)] + label + fields
        let own = HMAC<SHA256>
            .authenticationCode(for: valid, using: SymmetricKey(data: [UInt8](repeating: 3, count: 32)))
        #expect(try key.voucher(in: Base64URL.encode(fields + own), at: 0) == Self.voucher)
    }

    @Test func `no text crashes the reader`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        let text = key.text(of: Self.voucher)
        var texts = (0..<text.count).map { String(text.prefix($0)) } + [text + "A", text + "=", " " + text, "\u{0}"]
        for _ in 0..<2_000 {
            let bytes = random.bytes(count: Int.random(in: 0...90, using: &random))
            texts += [Base64URL.encode(bytes), String(decoding: bytes, as: UTF8.self)]
        }
        for text in texts {
            #expect(throws: TokenIssuerError.badVoucher, "seed \(seed)") { try key.voucher(in: text, at: 0) }
        }
    }

    @Test func `vouchers of one purchase share an entitlement, and others do not`() {
        let same = Voucher(id: Self.voucher.id, allowance: 5, expires: 1)
        let other = Voucher(id: [UInt8](repeating: 9, count: 16), allowance: 200, expires: Self.expires)
        #expect(same.entitlement == Self.voucher.entitlement && other.entitlement != same.entitlement)
        #expect(Self.voucher.entitlement.bytes == [UInt8](SHA256.hash(data: Self.voucher.id)))
    }

    // MARK: The secret

    @Test func `the secret is made once, and is readable by its user alone`() throws {
        let folder = try TemporaryDirectory()
        let data = try DataDirectory(at: folder.path)
        let text = try IssuerSecret(in: data).vouchers.text(of: Self.voucher)
        #expect(try IssuerSecret(in: data).vouchers.voucher(in: text, at: 0) == Self.voucher)
        #expect(try SystemFileSystem().status(of: folder.file("voucher-secret"), followingLink: false)?.mode == 0o600)
        let other = try TemporaryDirectory()
        #expect(throws: TokenIssuerError.badVoucher) {
            try IssuerSecret(in: DataDirectory(at: other.path)).vouchers.voucher(in: text, at: 0)
        }
    }

    @Test func `the keys of vouchers and of purchases differ`() throws {
        let secret = IssuerSecret(SymmetricKey(data: [UInt8](repeating: 1, count: 32)))
        let text = VoucherKey(secret.purchases).text(of: Self.voucher)
        #expect(throws: TokenIssuerError.badVoucher) { try secret.vouchers.voucher(in: text, at: 0) }
    }

    @Test(arguments: ["", "00", "zz", String(repeating: "0", count: 63), String(repeating: "0", count: 66)])
    func `a file that holds no secret is named, and stays`(text: String) throws {
        let folder = try TemporaryDirectory()
        let path = try folder.write(Array(text.utf8), to: "voucher-secret")
        #expect {
            try IssuerSecret(in: DataDirectory(at: folder.path))
        } throws: { error in
            let failure = error as? CommandFailure
            return failure?.code == "bad-key-file" && failure?.message.contains(path) == true
        }
        #expect(try folder.bytes("voucher-secret") == Array(text.utf8))
    }
}
