internal import Services

extension PayloadEncoding {
    /// What it is called on the way.
    var contentType: ContentType {
        switch self {
        case .json: .json
        case .messagePack: .messagePack
        case .cbor: .cbor
        }
    }
}

extension ContentType {
    /// How values are written, if they are values.
    var encoding: PayloadEncoding? {
        switch self {
        case .json: .json
        case .messagePack: .messagePack
        case .cbor: .cbor
        case .none, .bytes: nil
        }
    }
}

extension EncodedAnswer {
    var contentType: ContentType { self.encoding.map(\.contentType) ?? (self.bytes.isEmpty ? .none : .bytes) }
}
