/// Several values whose members are merged in one JSON object.
struct Joined<each Part> {
    let parts: (repeat each Part)

    init(_ part: repeat each Part) { parts = (repeat each part) }
}

extension Joined: Sendable where repeat each Part: Sendable {}

extension Joined: Encodable where repeat each Part: Encodable {
    func encode(to encoder: any Encoder) throws {
        repeat try (each parts).encode(to: encoder)
    }
}

extension Joined: Decodable where repeat each Part: Decodable {
    init(from decoder: any Decoder) throws {
        parts = (repeat try (each Part)(from: decoder))
    }
}
