internal import Bytes
internal import CommandModel
internal import Crypto
internal import Identity
internal import Platform

/// The secret of an issuer's data directory, from which the keys of vouchers and of purchase ids are derived.
///
/// The keys that sign tokens are independent of it: they have no other use.
struct IssuerSecret: Sendable {
    /// The name of the file in the data directory.
    static let fileName = "voucher-secret"

    private static let byteCount = 32
    private static let fileByteLimit = 256
    private static let voucherLabel = DomainLabel("runar/issuer-voucher-key/v1")
    private static let purchaseLabel = DomainLabel("runar/issuer-purchase-key/v1")

    /// The key that authenticates vouchers.
    let vouchers: VoucherKey
    /// The key that makes the id of a voucher from a purchase.
    let purchases: SymmetricKey

    /// Derives the keys from a secret of 32 bytes (HKDF, RFC 5869).
    init(_ secret: SymmetricKey) {
        vouchers = VoucherKey(Self.key(of: secret, Self.voucherLabel))
        purchases = Self.key(of: secret, Self.purchaseLabel)
    }

    /// Reads the secret of a data directory, which is made at the first start.
    ///
    /// - Throws: ``CommandFailure`` for a file that holds something else; ``FileError``.
    init(in directory: DataDirectory) throws {
        let path = directory.file(Self.fileName)
        if try AtomicFile.read(path, limit: Self.fileByteLimit) == nil {
            var random = SystemRandom()
            var bytes = random.bytes(count: Self.byteCount)
            var line = Array("\(Hex.encode(bytes))\n".utf8)
            bytes.wipe()
            defer { line.wipe() }
            try AtomicFile.write(line, to: path)
        }
        guard var text = try AtomicFile.read(path, limit: Self.fileByteLimit) else { throw Self.failure(path) }
        defer { text.wipe() }
        self.init(try Self.secret(in: text, path))
    }

    private static func secret(in text: [UInt8], _ path: String) throws(CommandFailure) -> SymmetricKey {
        var bytes: [UInt8]
        do throws(BytesError) {
            bytes = try Hex.decode(PlainText.trimmed(String(decoding: text, as: UTF8.self)))
        } catch {
            throw failure(path)
        }
        defer { bytes.wipe() }
        guard bytes.count == byteCount else { throw failure(path) }
        return SymmetricKey(data: bytes)
    }

    private static func key(of secret: SymmetricKey, _ label: DomainLabel) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(inputKeyMaterial: secret, info: label.prefix, outputByteCount: byteCount)
    }

    private static func failure(_ path: String) -> CommandFailure {
        CommandFailure(
            "bad-key-file",
            .configuration,
            "\(path) does not hold 64 hexadecimal digits: restore it, or remove it to void all vouchers"
        )
    }
}
