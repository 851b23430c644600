internal import Bytes

// The stored form of a wallet: a version, the names, the keys, the counts and the tokens, in big endian.

extension TokenWallet {
    private static let version: UInt8 = 1

    /// The stored form, which contains tokens: the caller stores it where other programs cannot read it.
    public var snapshot: [UInt8] {
        var writer = ByteWriter(capacity: 1_024 + count * (Token.byteCount + 16))
        writer.write(Self.version)
        for name in [state.issuerName, state.originInfo] {
            writer.write(UInt16(name.utf8.count))
            writer.write(utf8: name)
        }
        writer.write(UInt8(state.keyIds.count))
        for keyId in state.keyIds { writer.write(keyId.bytes) }
        writer.write(UInt16(state.allowance))
        writer.write(state.epoch.number)
        writer.write(UInt16(state.received))
        writer.write(UInt16(count))
        for held in state.tokens {
            writer.write(held.epoch.number)
            writer.write(held.usableFrom)
            writer.write(held.token.bytes)
        }
        return writer.bytes
    }

    /// Restores a wallet from its stored form.
    ///
    /// - Throws: ``BlindTokenError/malformed(_:reason:)`` for bytes that are not a stored wallet.
    public init(snapshot: [UInt8]) throws(BlindTokenError) {
        do {
            var reader = ByteReader(snapshot)
            let state = try Self.readState(from: &reader)
            try reader.finish()
            try self.init(state)
        } catch {
            throw .malformed(.wallet, reason: "\(error)")
        }
    }

    private static func readState(from reader: inout ByteReader) throws -> State {
        guard try reader.readUInt8() == version else { throw BytesError.invalidValue("an unknown version") }
        var state = State(issuerName: try readName(from: &reader), originInfo: try readName(from: &reader))
        let keyCount = Int(try reader.readUInt8())
        guard keyCount <= keyLimit else { throw BytesError.tooLong(limit: keyLimit, found: keyCount) }
        for _ in 0..<keyCount {
            state.keyIds.append(try TokenKeyId(reader.readBytes(count: TokenKeyId.byteCount)))
        }
        state.allowance = Int(try reader.readUInt16())
        state.epoch = ExitEpoch(number: try reader.readUInt64())
        state.received = Int(try reader.readUInt16())
        let tokenCount = Int(try reader.readUInt16())
        guard state.allowance <= tokenLimit, state.received <= tokenLimit, tokenCount <= tokenLimit else {
            throw BytesError.tooLong(limit: tokenLimit, found: max(state.allowance, state.received, tokenCount))
        }
        for _ in 0..<tokenCount { state.tokens.append(try readToken(from: &reader)) }
        return state
    }

    private static func readName(from reader: inout ByteReader) throws -> String {
        // The initialiser refuses everything but ASCII, which the replacement character of invalid UTF-8 is not.
        String(decoding: try reader.readSlice(count: Int(reader.readUInt16())), as: UTF8.self)
    }

    private static func readToken(from reader: inout ByteReader) throws -> Held {
        let epoch = ExitEpoch(number: try reader.readUInt64())
        let usableFrom = try reader.readUInt64()
        return Held(
            token: try Token(reader.readBytes(count: Token.byteCount)),
            epoch: epoch,
            usableFrom: usableFrom
        )
    }
}
