internal import Services

extension PayloadEncoding {
    /// The content type in headers.
    var contentType: ContentType {
        switch self {
        case .json: .json
        case .cbor: .cbor
        }
    }
}

extension ContentType {
    /// The encoding of values; nil for a body without values.
    var encoding: PayloadEncoding? {
        switch self {
        case .json: .json
        case .cbor: .cbor
        case .none, .bytes: nil
        }
    }
}

extension EncodedAnswer {
    var contentType: ContentType { encoding.map(\.contentType) ?? (bytes.isEmpty ? .none : .bytes) }
}
