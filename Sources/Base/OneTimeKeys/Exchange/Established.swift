internal import Bytes
internal import Identity

extension KeyExchange {
    /// The result of a completed exchange.
    package struct Established: Hashable, Sendable {
        let exchange: ExchangeId
        let binding: ExchangeBinding
        let peerKey: Ed25519PublicKey
        /// The kind of the keys.
        package let suite: OneTimeKeySuite
        /// The generation of this device's newest pool.
        package let ownGeneration: UInt32
        /// The generation of the peer's newest pool.
        package let peerGeneration: UInt32
    }
}

// The encoding: version, exchange, binding, the peer's key, suite, both generations, and the SHA-256 of all that.
extension KeyExchange.Established {
    private static let version: UInt8 = 1
    private static let subject = "the record of a key exchange"

    /// The encoding, to be stored.
    package var encoded: [UInt8] {
        var writer = ByteWriter(capacity: 128)
        writer.write(Self.version)
        writer.write(exchange.bytes)
        writer.write(binding.bytes)
        writer.write(peerKey.bytes)
        writer.write(suite.rawValue)
        writer.write(ownGeneration)
        writer.write(peerGeneration)
        return Checksum.appended(to: writer.bytes)
    }

    /// Reads an encoding.
    ///
    /// - Throws: ``OneTimeKeyError/malformed(of:reason:)``.
    package init(_ bytes: [UInt8]) throws(OneTimeKeyError) {
        do {
            var reader = ByteReader(try Checksum.verified(bytes))
            let version = try reader.readUInt8()
            guard version == Self.version else { throw BytesError.invalidValue("version \(version)") }
            exchange = try ExchangeId(reading: &reader)
            binding = ExchangeBinding(bytes: try reader.readBytes(count: ExchangeBinding.byteCount))
            peerKey = try Ed25519PublicKey(rawRepresentation: reader.readBytes(count: Ed25519PublicKey.byteCount))
            suite = try reader.readSuite()
            ownGeneration = try reader.readUInt32()
            peerGeneration = try reader.readUInt32()
            try reader.finish()
        } catch {
            throw .malformed(of: Self.subject, reason: "\(error)")
        }
    }
}
