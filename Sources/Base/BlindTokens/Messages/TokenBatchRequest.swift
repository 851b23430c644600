internal import Bytes

/// Several requests in one (draft-ietf-privacypass-batched-tokens-06, section 6.1: the generic batch).
///
/// A variable-length integer of RFC 9000 in its shortest form counts the bytes of the requests, which follow one
/// another, each with its token type once. Requests of other types than 0x0002 are refused.
public struct TokenBatchRequest: Hashable, Sendable {
    /// The most requests of a batch.
    public static let countLimit = 128
    /// The most bytes of an encoded batch.
    public static let byteLimit = 4 + countLimit * TokenRequest.byteCount
    /// The media type of the body of an HTTP request.
    public static let mediaType = "application/private-token-generic-batch-request"

    /// The requests, 1 to 128.
    public let requests: [TokenRequest]

    /// Creates a batch.
    ///
    /// - Throws: ``BlindTokenError/malformed(_:reason:)`` for no request or more than 128.
    public init(_ requests: [TokenRequest]) throws(BlindTokenError) {
        guard (1...Self.countLimit).contains(requests.count) else {
            throw .malformed(.batchRequest, reason: "it has \(requests.count) requests, not 1 to \(Self.countLimit)")
        }
        self.requests = requests
    }

    /// Reads a batch, with nothing behind it.
    ///
    /// - Throws: ``BlindTokenError/malformed(_:reason:)`` or ``BlindTokenError/unsupportedType(_:)``.
    public init(_ bytes: [UInt8]) throws(BlindTokenError) {
        let content = try batchContent(bytes, limit: Self.countLimit * TokenRequest.byteCount, .batchRequest)
        var requests: [TokenRequest] = []
        var rest = content[...]
        while !rest.isEmpty {
            requests.append(try TokenRequest([UInt8](rest.prefix(TokenRequest.byteCount))))
            rest = rest.dropFirst(TokenRequest.byteCount)
        }
        try self.init(requests)
    }

    /// The encoded batch.
    public var bytes: [UInt8] {
        var writer = ByteWriter(capacity: Self.byteLimit)
        writer.writeVarintPrefixed(requests.flatMap(\.bytes))
        return writer.bytes
    }
}

/// Returns the content of the one vector of a batch, which has at most `limit` bytes.
func batchContent(
    _ bytes: [UInt8],
    limit: Int,
    _ subject: BlindTokenError.Subject
) throws(BlindTokenError) -> [UInt8] {
    do throws(BytesError) {
        var reader = ByteReader(bytes)
        let content = try reader.readVarintPrefixedBytes(limit: limit)
        try reader.finish()
        return content
    } catch {
        throw .malformed(subject, reason: error.description)
    }
}
