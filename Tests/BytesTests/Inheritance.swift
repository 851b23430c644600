/// A class whose fields precede those of ``Derived``.
class Base: Codable {
    var first: UInt8 = 1
}

/// A class that encodes its parent with `superEncoder`.
final class Derived: Base {
    var second: UInt8 = 2

    override init() { super.init() }

    required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        try super.init(from: container.superDecoder())
        second = try container.decode(UInt8.self, forKey: .second)
    }

    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try super.encode(to: container.superEncoder())
        try container.encode(second, forKey: .second)
    }

    enum CodingKeys: CodingKey {
        case second
    }
}
