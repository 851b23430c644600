/// Several values whose members are merged in one JSON object.
package struct Joined<each Part> {
    package let parts: (repeat each Part)

    package init(_ part: repeat each Part) { parts = (repeat each part) }
}

extension Joined: Sendable where repeat each Part: Sendable {}

extension Joined: Encodable where repeat each Part: Encodable {
    package func encode(to encoder: any Encoder) throws {
        repeat try (each parts).encode(to: encoder)
    }
}

extension Joined: Decodable where repeat each Part: Decodable {
    package init(from decoder: any Decoder) throws {
        parts = (repeat try (each Part)(from: decoder))
    }
}
