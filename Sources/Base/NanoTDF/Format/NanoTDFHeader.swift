internal import Bytes

/// The header of a NanoTDF (section 3.3.1): everything that key access needs.
public struct NanoTDFHeader: Hashable, Sendable {
    /// The binding between policy and payload.
    public enum BindingMode: Hashable, Sendable {
        /// The last 8 bytes of SHA-256 over the policy, which the specification calls GMAC. It has no key, so that
        /// anyone can replace policy and binding.
        case hash
        /// An ECDSA signature by the ephemeral key.
        case ecdsa
    }

    /// The three bytes `L1L`: 18 bits of magic number and 6 of the version, 12.
    static let magic: [UInt8] = [0x4C, 0x31, 0x4C]
    static let hashByteCount = 8

    /// The key access service, or the holder of the key.
    public let keyAccess: ResourceLocator
    /// The binding of the policy.
    public let bindingMode: BindingMode
    /// Whether a signature of the creator follows the payload.
    public let isSigned: Bool
    /// The curve of the creator's key, without a meaning if there is no signature.
    public let signatureCurve: EllipticCurve
    /// The cipher of the payload, and of an encrypted policy.
    public let cipher: SymmetricCipher
    /// The policy.
    public let policy: NanoTDFPolicy
    /// The binding: 8 bytes of a hash, or a signature of 64, 96, 132 or 64 bytes.
    public let binding: [UInt8]
    /// The public half of the key that was made for this header.
    public let ephemeralPublicKey: NanoTDFPublicKey

    /// The encoding.
    public var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 256)
        write(to: &writer)
        return writer.bytes
    }

    func write(to writer: inout ByteWriter) {
        writer.write(Self.magic)
        keyAccess.write(to: &writer)
        writer.write((bindingMode == .ecdsa ? 0x80 : 0) | ephemeralPublicKey.curve.rawValue)
        writer.write((isSigned ? 0x80 : 0) | signatureCurve.rawValue << 4 | cipher.rawValue)
        policy.write(to: &writer)
        writer.write(binding)
        writer.write(ephemeralPublicKey.compressedRepresentation)
    }
}

extension NanoTDFHeader {
    init(reading reader: inout NanoTDFReader) throws(NanoTDFError) {
        try Self.readMagic(&reader)
        keyAccess = try ResourceLocator(reading: &reader)

        let modes = try reader.readUInt8(.bindingMode)
        guard modes & 0x78 == 0 else {
            throw reader.refusal(of: .bindingMode, bytes: 1, "reserved bits are set")
        }
        let curve = try reader.curve(modes & 7, in: .bindingMode)
        bindingMode = modes & 0x80 == 0 ? .hash : .ecdsa

        let configuration = try reader.readUInt8(.payloadMode)
        isSigned = configuration & 0x80 != 0
        signatureCurve = try reader.curve(configuration >> 4 & 7, in: .payloadMode)
        guard let cipher = SymmetricCipher(rawValue: configuration & 0xF) else {
            throw reader.refusal(of: .payloadMode, bytes: 1, "the cipher \(configuration & 0xF) is not assigned")
        }
        self.cipher = cipher

        policy = try NanoTDFPolicy(reading: &reader, curve: curve)
        if case .encrypted(let content) = policy, content.count <= cipher.tagByteCount {
            throw reader.refusal(of: .policyContent, bytes: content.count, "it is no longer than a tag")
        }
        switch bindingMode {
        case .hash: binding = try reader.readBytes(.binding, count: Self.hashByteCount)
        case .ecdsa: binding = try reader.readBytes(.binding, count: curve.signatureByteCount)
        }
        ephemeralPublicKey = try reader.readPublicKey(.ephemeralKey, on: curve)
    }

    private static func readMagic(_ reader: inout NanoTDFReader) throws(NanoTDFError) {
        let found = try reader.readBytes(.magic, count: magic.count)
        guard found != magic else { return }
        guard found[0] == magic[0], found[1] == magic[1], found[2] & 0xC0 == magic[2] & 0xC0 else {
            throw reader.refusal(of: .magic, bytes: magic.count, "it is not 4c314c, \"L1L\"")
        }
        throw reader.refusal(of: .magic, bytes: magic.count, "version \(found[2] & 0x3F), and only 12 is supported")
    }
}

extension NanoTDFReader {
    /// Returns the curve with the number `value` of the byte just read.
    fileprivate func curve(_ value: UInt8, in field: NanoTDFError.Field) throws(NanoTDFError) -> EllipticCurve {
        guard let curve = EllipticCurve(rawValue: value) else {
            throw refusal(of: field, bytes: 1, "the curve \(value) is not assigned")
        }
        return curve
    }

    /// Reads a compressed public key, whose point must be on `curve`.
    mutating func readPublicKey(
        _ field: NanoTDFError.Field,
        on curve: EllipticCurve
    ) throws(NanoTDFError) -> NanoTDFPublicKey {
        let bytes = try readBytes(field, count: curve.publicKeyByteCount)
        guard let key = NanoTDFPublicKey(compressed: bytes, on: curve) else {
            throw refusal(of: field, bytes: bytes.count, "it is no point of \(curve)")
        }
        return key
    }
}
