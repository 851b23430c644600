internal import Bytes
internal import Identity

// The wire form of frames.
extension Frame {
    private enum Kind: UInt8 {
        case hello = 1
        case helloReply = 2
        case helloAcknowledgement = 3
        case join = 4
        case joinGrant = 5
        case joinRefusal = 6
        case admissionEnd = 7
        case revocation = 8
        case revocationDigest = 16
        case revocationsKnown = 17
        case revocations = 18
        case memberSecret = 24
        case memberSecretKnown = 25
        case renewalRequest = 26
        case renewalGrant = 27
        case dht = 32
        case events = 33
        case reach = 34
        case services = 35
        case mailbox = 36
    }

    /// The version at the start of a hello, its reply and a join.
    ///
    /// Its position and the types are equal in every version. Version 1 had no `capabilities` in a hello, and no type 8.
    static let version: UInt8 = 2

    private var kind: Kind {
        switch self {
        case .hello: .hello
        case .helloReply: .helloReply
        case .helloAcknowledgement: .helloAcknowledgement
        case .join: .join
        case .joinGrant: .joinGrant
        case .joinRefusal: .joinRefusal
        case .admissionEnd: .admissionEnd
        case .revocation: .revocation
        case .revocationDigest: .revocationDigest
        case .revocationsKnown: .revocationsKnown
        case .revocations: .revocations
        case .memberSecret: .memberSecret
        case .memberSecretKnown: .memberSecretKnown
        case .renewalRequest: .renewalRequest
        case .renewalGrant: .renewalGrant
        case .dht: .dht
        case .events: .events
        case .reach: .reach
        case .services: .services
        case .mailbox: .mailbox
        }
    }

    /// The frame with its type byte, without its length.
    package var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(kind.rawValue)
        write(to: &writer)
        return writer.bytes
    }

    /// The frame behind its length, as it stands on a control stream.
    package var prefixedBytes: [UInt8] {
        let (index, message): (UInt8, ArraySlice<UInt8>)
        switch self {
        case .events(let place, let bytes), .mailbox(let place, let bytes): (index, message) = (place, bytes)
        default:
            let bytes = self.bytes
            var writer = ByteWriter(capacity: bytes.count + 8)
            writer.writeVarintPrefixed(bytes)
            return writer.bytes
        }
        // These may be long and many: they are copied once.
        var writer = ByteWriter(capacity: message.count + 10)
        writer.writeVarint(UInt64(message.count + 2))
        writer.write(kind.rawValue)
        writer.write(index)
        writer.write(message)
        return writer.bytes
    }

    private func write(to writer: inout ByteWriter) {
        switch self {
        case .hello(let hello):
            writer.write(Self.version)
            writer.write(hello.instance.bytes)
            writer.write(hello.capabilities.rawValue)
            Self.write(hello.tokens, to: &writer)
        case .helloReply(let reply):
            writer.write(Self.version)
            writer.write(reply.instance.bytes)
            writer.write(reply.capabilities.rawValue)
            Self.write(reply.proofs, to: &writer)
            Self.write(reply.refusals, to: &writer)
        case .helloAcknowledgement(let verdicts): Self.write(verdicts, to: &writer)
        case .join(let proof):
            writer.write(Self.version)
            writer.write(proof)
        case .joinGrant(let token, let metadata):
            writer.write(token.binary)
            writer.writeVarintPrefixed(metadata)
            if let rendezvous = token.rendezvous { writer.write(rendezvous.bytes) }
        case .joinRefusal(let code): writer.write(UInt16(code.rawValue))
        case .admissionEnd(let index, let code):
            writer.write(index)
            writer.write(UInt16(code.rawValue))
        case .revocation(let entry): writer.write(entry.binary)
        case .revocationDigest(let index, let count, let digest):
            writer.write(index)
            writer.write(count)
            writer.write(digest)
        case .revocationsKnown(let index, let fingerprints):
            writer.write(index)
            for fingerprint in fingerprints { writer.write(fingerprint) }
        case .revocations(let index, let entries):
            writer.write(index)
            for entry in entries { writer.write(entry.binary) }
        case .memberSecret(let index, let secret):
            writer.write(index)
            writer.write(secret.binary)
        case .memberSecretKnown(let index, let stamp):
            writer.write(index)
            writer.write(stamp.epoch)
            writer.write(stamp.mark)
        case .renewalRequest(let index, let token), .renewalGrant(let index, let token):
            writer.write(index)
            writer.write(token.binary)
        case .dht(let index, let message), .reach(let index, let message):
            writer.write(index)
            writer.write(message)
        case .events(let index, let message), .services(let index, let message), .mailbox(let index, let message):
            writer.write(index)
            writer.write(message)
        }
    }

    /// The kind of the message about events that a frame's bytes carry, or nil; for figures.
    package static func kindOfEventMessage(_ bytes: [UInt8]) -> UInt8? {
        bytes.count > 2 && bytes[0] == Kind.events.rawValue ? bytes[2] : nil
    }

    /// Reads one frame.
    ///
    /// - Throws: ``FrameError``.
    package init(_ bytes: [UInt8]) throws(FrameError) {
        do {
            var reader = ByteReader(bytes)
            let number = try reader.readUInt8()
            guard let kind = Kind(rawValue: number) else { throw FrameError.unknownKind(number) }
            self = try Self.readBody(of: kind, from: &reader)
            try reader.finish()
        } catch let error as FrameError {
            throw error
        } catch {
            throw .malformed("\(error)")
        }
    }

    private static func readBody(of kind: Kind, from reader: inout ByteReader) throws -> Frame {
        switch kind {
        case .hello:
            let instance = try readInstance(from: &reader)
            let capabilities = Capabilities(rawValue: try reader.readUInt8())
            let tokens = try readOffers(from: &reader)
            return .hello(Hello(instance: instance, capabilities: capabilities, tokens: tokens))
        case .helloReply:
            let instance = try readInstance(from: &reader)
            let capabilities = Capabilities(rawValue: try reader.readUInt8())
            let proofs = try readOffers(from: &reader)
            let refusals = try readVerdicts(from: &reader)
            return .helloReply(
                HelloReply(instance: instance, capabilities: capabilities, proofs: proofs, refusals: refusals)
            )
        case .helloAcknowledgement: return .helloAcknowledgement(try readVerdicts(from: &reader))
        case .join:
            try readVersion(from: &reader)
            return .join(proof: try reader.readBytes(count: proofByteCount))
        case .joinGrant: return try readJoinGrant(from: &reader)
        case .joinRefusal: return .joinRefusal(code(try reader.readUInt16()))
        case .admissionEnd: return .admissionEnd(index: try reader.readUInt8(), code(try reader.readUInt16()))
        case .revocation: return .revocation(try Revocation(binary: reader.readSlice(count: Revocation.byteCount)))
        case .revocationDigest:
            let (index, count) = (try reader.readUInt8(), try reader.readUInt32())
            return .revocationDigest(index: index, count: count, digest: try reader.readBytes(count: 32))
        case .revocationsKnown:
            let index = try reader.readUInt8()
            return .revocationsKnown(index: index, fingerprints: try readFingerprints(from: &reader))
        case .revocations:
            return .revocations(index: try reader.readUInt8(), try readRevocations(from: &reader))
        case .memberSecret:
            let index = try reader.readUInt8()
            let secret = try MemberSecret(binary: reader.readSlice(count: MemberSecret.byteCount))
            return .memberSecret(index: index, secret)
        case .memberSecretKnown:
            let (index, epoch) = (try reader.readUInt8(), try reader.readUInt64())
            return .memberSecretKnown(index: index, SecretStamp(epoch: epoch, mark: try reader.readUInt64()))
        case .renewalRequest:
            return .renewalRequest(index: try reader.readUInt8(), try readToken(from: &reader))
        case .renewalGrant:
            return .renewalGrant(index: try reader.readUInt8(), try readToken(from: &reader))
        case .dht: return .dht(index: try reader.readUInt8(), try reader.readBytes(count: reader.remaining))
        case .events: return .events(index: try reader.readUInt8(), try reader.readSlice(count: reader.remaining))
        case .reach: return .reach(index: try reader.readUInt8(), try reader.readBytes(count: reader.remaining))
        case .services: return .services(index: try reader.readUInt8(), try reader.readSlice(count: reader.remaining))
        case .mailbox: return .mailbox(index: try reader.readUInt8(), try reader.readSlice(count: reader.remaining))
        }
    }

    private static func readJoinGrant(from reader: inout ByteReader) throws -> Frame {
        let token = try readToken(from: &reader)
        let metadata = try reader.readVarintPrefixedBytes(limit: NetworkMetadata.maximumByteCount)
        guard reader.remaining > 0 else { return .joinGrant(token, metadata: metadata) }
        let key = try RendezvousKey(rawRepresentation: reader.readBytes(count: RendezvousKey.byteCount))
        return .joinGrant(token.with(rendezvous: key), metadata: metadata)
    }

    // MARK: Parts

    private static func readVersion(from reader: inout ByteReader) throws {
        let found = try reader.readUInt8()
        guard found == version else { throw FrameError.unsupportedVersion(found: found, supported: version) }
    }

    private static func readInstance(from reader: inout ByteReader) throws -> InstanceId {
        try readVersion(from: &reader)
        return try InstanceId(bytes: reader.readBytes(count: InstanceId.byteCount))
    }

    private static func readToken(from reader: inout ByteReader) throws -> AccessToken {
        try AccessToken(binary: reader.readSlice(count: AccessToken.byteCount))
    }

    private static func write(_ offers: [Offer], to writer: inout ByteWriter) {
        writer.write(UInt8(offers.count))
        for offer in offers {
            writer.write(offer.index)
            writer.write(offer.token.binary)
        }
    }

    private static func readCount(from reader: inout ByteReader) throws -> Int {
        let count = Int(try reader.readUInt8())
        guard count <= tokenLimit else { throw FrameError.tooManyTokens(count) }
        return count
    }

    private static func readOffers(from reader: inout ByteReader) throws -> [Offer] {
        var offers: [Offer] = []
        for _ in 0..<(try readCount(from: &reader)) {
            let index = try reader.readUInt8()
            offers.append(Offer(index: index, token: try readToken(from: &reader)))
        }
        return offers
    }

    private static func write(_ verdicts: [Verdict], to writer: inout ByteWriter) {
        writer.write(UInt8(verdicts.count))
        for verdict in verdicts {
            writer.write(verdict.index)
            writer.write(UInt16(verdict.refusal?.rawValue ?? 0))
        }
    }

    private static func readVerdicts(from reader: inout ByteReader) throws -> [Verdict] {
        var verdicts: [Verdict] = []
        for _ in 0..<(try readCount(from: &reader)) {
            let index = try reader.readUInt8()
            let number = try reader.readUInt16()
            verdicts.append(Verdict(index: index, refusal: number == 0 ? nil : code(number)))
        }
        return verdicts
    }

    /// Decodes a code; one of a later version is treated as "not admitted".
    private static func code(_ number: UInt16) -> CloseCode {
        CloseCode(rawValue: UInt64(number)) ?? .notAdmitted
    }

    private static func readFingerprints(from reader: inout ByteReader) throws -> [UInt64] {
        var fingerprints: [UInt64] = []
        while reader.remaining > 0 { fingerprints.append(try reader.readUInt64()) }
        guard fingerprints.count <= RevocationSet.maximumCount else { throw FrameError.tooManyRevocations }
        return fingerprints
    }

    private static func readRevocations(from reader: inout ByteReader) throws -> [Revocation] {
        var entries: [Revocation] = []
        while reader.remaining > 0 {
            guard entries.count < revocationPage else { throw FrameError.tooManyRevocations }
            entries.append(try Revocation(binary: reader.readSlice(count: Revocation.byteCount)))
        }
        return entries
    }
}
