package import Identity

/// A type with a schema of its own, for one that decoding does not reveal.
package protocol SchemaProviding {
    static var schema: JSONSchema { get }
}

/// A type that decodes from a single value in its own way, so that a form or an answer can have a member of it.
package protocol SampleProviding: SchemaProviding, Decodable {
    /// Any value, with which ``SchemaReader`` continues.
    static var sample: Self { get throws }
}

extension PeerId: SampleProviding {
    package static var schema: JSONSchema { .string }

    package static var sample: PeerId {
        get throws { try PeerId(rawRepresentation: [UInt8](repeating: 0, count: PeerId.byteCount)) }
    }
}

extension DIDKey: SampleProviding {
    package static var schema: JSONSchema { .pattern("^did:key:zDnae[1-9A-HJ-NP-Za-km-z]{44}$") }

    /// The example of the did:key specification.
    package static var sample: DIDKey {
        get throws { try DIDKey("did:key:zDnaerx9CtbPJ1q36T5Ln5wYt3MQYeGRG5ehnPAmxcf5mDZpv") }
    }
}
