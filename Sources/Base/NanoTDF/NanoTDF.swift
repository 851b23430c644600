internal import Bytes

/// A sealed file in the binary format of NanoTDF, version 12 ("L1L").
///
/// A value of this type has been parsed, but nothing in it has been verified: `NanoTDFOpener` does that. Choices that the
/// format leaves open are made in `docs/spec/nanotdf.md`.
public struct NanoTDF: Hashable, Sendable {
    /// The encrypted payload (section 3.3.2).
    public struct Payload: Hashable, Sendable {
        /// The IV: 3 bytes, not all of them zero.
        public let iv: [UInt8]
        /// The ciphertext, as long as the plaintext.
        public let ciphertext: [UInt8]
        /// The tag, of the length that the cipher has.
        public let tag: [UInt8]
    }

    /// The signature of the creator (section 3.3.3).
    public struct Signature: Hashable, Sendable {
        /// The public half of the key that signed.
        public let creator: NanoTDFPublicKey
        /// ECDSA with SHA-256 over header and payload: `r` and `s`, each as long as a coordinate.
        public let signature: [UInt8]
    }

    static let ivByteCount = 3
    /// The largest length of a payload.
    static let payloadByteLimit = 0xFF_FFFF
    /// The most bytes that a NanoTDF has.
    public static let byteLimit = 3 + 289 + 2 + 1 + 2 + 65_535 + 289 + 67 + 132 + 67 + 3 + payloadByteLimit + 67 + 132

    /// The header.
    public let header: NanoTDFHeader
    /// The payload.
    public let payload: Payload
    /// The signature of the creator, if the header announces one.
    public let signature: Signature?

    init(header: NanoTDFHeader, payload: Payload, signature: Signature?) {
        self.header = header
        self.payload = payload
        self.signature = signature
    }

    /// Reads one NanoTDF, which must end where `bytes` end.
    ///
    /// - Throws: ``NanoTDFError/malformed(field:offset:reason:)`` with the first field that is not valid.
    public init(_ bytes: [UInt8]) throws(NanoTDFError) {
        var reader = NanoTDFReader(bytes[...])
        try self.init(reading: &reader)
        try reader.finish()
    }

    /// Reads the NanoTDF at the beginning of `bytes`, and returns it with its length.
    ///
    /// - Throws: ``NanoTDFError/malformed(field:offset:reason:)`` with the first field that is not valid.
    public static func first(in bytes: ArraySlice<UInt8>) throws(NanoTDFError) -> (file: NanoTDF, byteCount: Int) {
        var reader = NanoTDFReader(bytes)
        let file = try NanoTDF(reading: &reader)
        return (file, reader.offset)
    }

    private init(reading reader: inout NanoTDFReader) throws(NanoTDFError) {
        header = try NanoTDFHeader(reading: &reader)
        payload = try Payload(reading: &reader, tagByteCount: header.cipher.tagByteCount)
        signature = header.isSigned ? try Signature(reading: &reader, curve: header.signatureCurve) : nil
    }

    /// The encoding.
    public var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 512 + payload.ciphertext.count)
        writer.write(signedBytes)
        if let signature {
            writer.write(signature.creator.compressedRepresentation)
            writer.write(signature.signature)
        }
        return writer.bytes
    }

    /// Whether the creator's signature verifies; nil if there is none.
    ///
    /// Any key can sign: compare ``Signature/creator`` with the key that you expect.
    public var hasValidCreatorSignature: Bool? {
        signature.map { $0.creator.isValidSignature($0.signature, for: signedBytes) }
    }

    /// The bytes that the creator signs: header and payload.
    var signedBytes: [UInt8] {
        var writer = ByteWriter(capacity: 512 + payload.ciphertext.count)
        header.write(to: &writer)
        payload.write(to: &writer)
        return writer.bytes
    }
}

extension NanoTDF.Payload {
    /// The length that the format states: IV, ciphertext and tag.
    var byteCount: Int { iv.count + ciphertext.count + tag.count }

    init(reading reader: inout NanoTDFReader, tagByteCount: Int) throws(NanoTDFError) {
        let count = try reader.readUInt24(.payloadLength)
        let overhead = NanoTDF.ivByteCount + tagByteCount
        guard count >= overhead else {
            throw reader.refusal(of: .payloadLength, bytes: 3, "\(count), and IV and tag alone have \(overhead)")
        }
        iv = try reader.readBytes(.iv, count: NanoTDF.ivByteCount)
        guard iv != [0, 0, 0] else {
            throw reader.refusal(of: .iv, bytes: iv.count, "000000 is reserved for the policy")
        }
        ciphertext = try reader.readBytes(.payload, count: count - overhead)
        tag = try reader.readBytes(.payload, count: tagByteCount)
    }

    func write(to writer: inout ByteWriter) {
        writer.write(uint24: byteCount)
        writer.write(iv)
        writer.write(ciphertext)
        writer.write(tag)
    }
}

extension NanoTDF.Signature {
    init(reading reader: inout NanoTDFReader, curve: EllipticCurve) throws(NanoTDFError) {
        creator = try reader.readPublicKey(.creatorKey, on: curve)
        signature = try reader.readBytes(.creatorSignature, count: curve.signatureByteCount)
    }
}
