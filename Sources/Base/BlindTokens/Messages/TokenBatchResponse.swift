internal import Bytes

/// The responses to a batch in the order of its requests (draft-ietf-privacypass-batched-tokens-06, section 6.2).
///
/// Each begins with a byte, 1 before the token type and the signature, and 0 for a request that was refused.
public struct TokenBatchResponse: Hashable, Sendable {
    /// The most bytes of an encoded batch.
    public static let byteLimit = 4 + contentByteLimit
    /// The media type of the body of an HTTP response.
    public static let mediaType = "application/private-token-generic-batch-response"
    private static let contentByteLimit = TokenBatchRequest.countLimit * (1 + 2 + TokenResponse.byteCount)

    /// The responses, 1 to 128; nil for a request that the issuer refused.
    public let responses: [TokenResponse?]

    /// Creates a batch.
    ///
    /// - Throws: ``BlindTokenError/malformed(_:reason:)`` for no response or more than 128.
    public init(_ responses: [TokenResponse?]) throws(BlindTokenError) {
        guard (1...TokenBatchRequest.countLimit).contains(responses.count) else {
            let reason = "it has \(responses.count) responses, not 1 to \(TokenBatchRequest.countLimit)"
            throw .malformed(.batchResponse, reason: reason)
        }
        self.responses = responses
    }

    /// Reads a batch, with nothing behind it.
    ///
    /// - Throws: ``BlindTokenError/malformed(_:reason:)`` or ``BlindTokenError/unsupportedType(_:)``.
    public init(_ bytes: [UInt8]) throws(BlindTokenError) {
        let content = try batchContent(bytes, limit: Self.contentByteLimit, .batchResponse)
        var responses: [TokenResponse?] = []
        var rest = content[...]
        while let isPresent = rest.popFirst() {
            guard responses.count < TokenBatchRequest.countLimit else {
                let reason = "it has more than \(TokenBatchRequest.countLimit) responses"
                throw .malformed(.batchResponse, reason: reason)
            }
            switch isPresent {
            case 0:
                responses.append(nil)
            case 1:
                let size = tokenTypeBytes.count + TokenResponse.byteCount
                let response = [UInt8](rest.prefix(size))
                try requireType(response)
                try requireSize(response, size, .batchResponse)
                responses.append(try TokenResponse([UInt8](response.dropFirst(tokenTypeBytes.count))))
                rest = rest.dropFirst(size)
            default:
                throw .malformed(.batchResponse, reason: "the presence of a response is \(isPresent), not 0 or 1")
            }
        }
        try self.init(responses)
    }

    /// The encoded batch.
    public var bytes: [UInt8] {
        var content: [UInt8] = []
        for response in responses {
            if let response {
                content += [1] + tokenTypeBytes + response.bytes
            } else {
                content.append(0)
            }
        }
        var writer = ByteWriter(capacity: content.count + 4)
        writer.writeVarintPrefixed(content)
        return writer.bytes
    }

    /// Whether an issuer answers with the status 200, for a whole batch, instead of 206.
    public var isWhole: Bool { !responses.contains { $0 == nil } }
}
