internal import Bytes
internal import Identity

/// A message of a key exchange: version, kind, the exchange's id of 16 bytes, and the fields of the kind.
struct KeyExchangeMessage: Hashable, Sendable {
    enum Body: Hashable, Sendable {
        case request(Request)
        case offer(Offer)
        case acknowledgement(Acknowledgement)
        case commit(Ed25519Signature)
        case keyShare(KeyShare)
        /// Requests the part of the share that begins at `offset`.
        case pull(offset: Int)
        case part(offset: Int, bytes: [UInt8])
        /// The share with this digest is stored.
        case received(digest: Bytes32)
        /// Asks for a pool after the one of this generation.
        case refillRequest(generation: UInt32)
        case refusal(Refusal)
    }

    /// The reasons for which a message is refused.
    enum Refusal: UInt8, CaseIterable, Hashable, Sendable {
        /// The exchange is not known: it failed, or this device was restarted.
        case unknownExchange = 1
        /// Both sides support no common kind of keys.
        case noCommonSuite = 2
        /// Too many exchanges were begun.
        case tooMany = 3
        /// A proof or a share was not valid.
        case invalid = 4
    }

    struct Request: Hashable, Sendable {
        static let suiteLimit = 8
        let initiator: Ed25519PublicKey
        /// The numbers of the suites that the initiator supports, the preferred one first; unknown ones are skipped.
        let suites: [UInt8]
    }

    struct Offer: Hashable, Sendable {
        let responder: Ed25519PublicKey
        let suite: OneTimeKeySuite
        let nonce: [UInt8]
        let signature: Ed25519Signature
    }

    struct Acknowledgement: Hashable, Sendable {
        let nonce: [UInt8]
        let signature: Ed25519Signature
    }

    /// The announcement of a pool of public keys, whose encoding is then pulled part by part.
    struct KeyShare: Hashable, Sendable {
        let suite: OneTimeKeySuite
        let generation: UInt32
        let byteCount: Int
        let digest: Bytes32
        let signature: Ed25519Signature

        /// Returns the bytes that are signed after the label and the binding of the exchange.
        static func signedBytes(suite: OneTimeKeySuite, generation: UInt32, byteCount: Int, digest: Bytes32) -> [UInt8]
        {
            var writer = ByteWriter(capacity: 41)
            writer.write(suite.rawValue)
            writer.write(generation)
            writer.write(UInt32(byteCount))
            writer.write(digest.bytes)
            return writer.bytes
        }

        var signedBytes: [UInt8] {
            Self.signedBytes(suite: suite, generation: generation, byteCount: byteCount, digest: digest)
        }
    }

    static let version: UInt8 = 1
    /// The number of random bytes that each side adds.
    static let nonceByteCount = 32
    static let partByteLimit = 32 << 10
    /// The most bytes that a message has.
    static let byteLimit = partByteLimit + 64

    let exchange: ExchangeId
    let body: Body
}

/// The name of an exchange: 16 random bytes.
struct ExchangeId: Hashable, Sendable {
    static let byteCount = 16
    let bytes: [UInt8]

    init(_ random: Bytes32) {
        bytes = Array(random.bytes.prefix(Self.byteCount))
    }

    init(reading reader: inout ByteReader) throws(BytesError) {
        bytes = try reader.readBytes(count: Self.byteCount)
    }
}

extension KeyExchangeMessage {
    private enum Kind: UInt8 {
        case request = 1
        case offer, acknowledgement, commit, keyShare, pull, part, received, refillRequest, refusal
    }

    private var kind: Kind {
        switch body {
        case .request: .request
        case .offer: .offer
        case .acknowledgement: .acknowledgement
        case .commit: .commit
        case .keyShare: .keyShare
        case .pull: .pull
        case .part: .part
        case .received: .received
        case .refillRequest: .refillRequest
        case .refusal: .refusal
        }
    }

    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 256)
        writer.write([Self.version, kind.rawValue])
        writer.write(exchange.bytes)
        switch body {
        case .request(let request):
            writer.write(request.initiator.bytes)
            writer.write(UInt8(request.suites.count))
            writer.write(request.suites)
        case .offer(let offer):
            writer.write(offer.unsignedBytes)
            writer.write(offer.signature.bytes)
        case .acknowledgement(let acknowledgement):
            writer.write(acknowledgement.nonce)
            writer.write(acknowledgement.signature.bytes)
        case .commit(let signature):
            writer.write(signature.bytes)
        case .keyShare(let share):
            writer.write(share.signedBytes)
            writer.write(share.signature.bytes)
        case .pull(let offset):
            writer.write(UInt32(offset))
        case .part(let offset, let bytes):
            writer.write(UInt32(offset))
            writer.write(bytes)
        case .received(let digest):
            writer.write(digest.bytes)
        case .refillRequest(let generation):
            writer.write(generation)
        case .refusal(let reason):
            writer.write(reason.rawValue)
        }
        return writer.bytes
    }

    /// - Throws: ``OneTimeKeyError/malformed(of:reason:)``.
    init(_ bytes: [UInt8]) throws(OneTimeKeyError) {
        do {
            guard bytes.count <= Self.byteLimit else {
                throw BytesError.tooLong(limit: Self.byteLimit, found: bytes.count)
            }
            var reader = ByteReader(bytes)
            let version = try reader.readUInt8()
            guard version == Self.version else { throw BytesError.invalidValue("version \(version)") }
            guard let kind = Kind(rawValue: try reader.readUInt8()) else {
                throw BytesError.invalidValue("an unknown kind")
            }
            exchange = try ExchangeId(reading: &reader)
            body = try Self.body(kind, reading: &reader)
            try reader.finish()
        } catch {
            throw .malformed(of: "a message of a key exchange", reason: "\(error)")
        }
    }

    private static func body(_ kind: Kind, reading reader: inout ByteReader) throws -> Body {
        switch kind {
        case .request: .request(try Request(reading: &reader))
        case .offer: .offer(try Offer(reading: &reader))
        case .acknowledgement:
            .acknowledgement(
                Acknowledgement(
                    nonce: try reader.readBytes(count: nonceByteCount),
                    signature: try reader.readSignature()
                )
            )
        case .commit: .commit(try reader.readSignature())
        case .keyShare: .keyShare(try KeyShare(reading: &reader))
        case .pull: .pull(offset: Int(try reader.readUInt32()))
        case .part: .part(offset: Int(try reader.readUInt32()), bytes: reader.readRemaining())
        case .received: .received(digest: try reader.readBytes32())
        case .refillRequest: .refillRequest(generation: try reader.readUInt32())
        case .refusal: .refusal(Refusal(rawValue: try reader.readUInt8()) ?? .invalid)
        }
    }
}

extension KeyExchangeMessage.Request {
    init(reading reader: inout ByteReader) throws {
        initiator = try Ed25519PublicKey(rawRepresentation: reader.readBytes(count: Ed25519PublicKey.byteCount))
        let count = Int(try reader.readUInt8())
        guard 1...Self.suiteLimit ~= count else { throw BytesError.invalidValue("\(count) kinds of keys") }
        suites = try reader.readBytes(count: count)
    }
}

extension KeyExchangeMessage.Offer {
    init(reading reader: inout ByteReader) throws {
        responder = try Ed25519PublicKey(rawRepresentation: reader.readBytes(count: Ed25519PublicKey.byteCount))
        suite = try reader.readSuite()
        nonce = try reader.readBytes(count: KeyExchangeMessage.nonceByteCount)
        signature = try reader.readSignature()
    }

    var unsignedBytes: [UInt8] { Self.unsignedBytes(responder: responder, suite: suite, nonce: nonce) }

    static func unsignedBytes(responder: Ed25519PublicKey, suite: OneTimeKeySuite, nonce: [UInt8]) -> [UInt8] {
        responder.bytes + [suite.rawValue] + nonce
    }
}

extension KeyExchangeMessage.KeyShare {
    init(reading reader: inout ByteReader) throws {
        suite = try reader.readSuite()
        generation = try reader.readUInt32()
        guard generation > 0 else { throw BytesError.invalidValue("a pool of generation 0") }
        byteCount = Int(try reader.readUInt32())
        guard 1...PublicKeyStore.byteLimit ~= byteCount else {
            throw BytesError.tooLong(limit: PublicKeyStore.byteLimit, found: byteCount)
        }
        digest = try reader.readBytes32()
        signature = try reader.readSignature()
    }
}

extension ByteReader {
    fileprivate mutating func readBytes32() throws(BytesError) -> Bytes32 {
        guard let value = Bytes32(try readSlice(count: Bytes32.byteCount)) else { throw .invalidLength(remaining) }
        return value
    }

    fileprivate mutating func readSignature() throws(BytesError) -> Ed25519Signature {
        guard let value = Ed25519Signature(try readSlice(count: Ed25519Signature.byteCount)) else {
            throw .invalidLength(remaining)
        }
        return value
    }
}
