/// Sixteen random bytes that a node draws each time it starts, so that others notice a restart or a copied key.
public struct InstanceId: Hashable, Sendable {
    /// The size of an id in bytes.
    public static let byteCount = 16

    private let high: UInt64
    private let low: UInt64

    /// The id of no process: all zeros.
    package static let zero = InstanceId(high: 0, low: 0)

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Draws a new id.
    public init() {
        var random = SystemRandomNumberGenerator()
        self.init(generating: &random)
    }

    /// Draws a new id from `random`.
    package init(generating random: inout some RandomNumberGenerator) {
        high = random.next()
        low = random.next()
    }

    /// Reads the 16 bytes of an id.
    package init(bytes: some Collection<UInt8>) throws(IdentityError) {
        guard bytes.count == Self.byteCount else {
            throw .wrongLength(of: "an instance id", expected: Self.byteCount, found: bytes.count)
        }
        high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The 16 bytes.
    package var bytes: [UInt8] {
        [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) } }
    }
}

extension InstanceId: Comparable {
    /// Orders ids by their bytes.
    public static func < (left: InstanceId, right: InstanceId) -> Bool {
        left.high == right.high ? left.low < right.low : left.high < right.high
    }
}

extension InstanceId: CustomStringConvertible {
    /// Thirty-two hexadecimal digits.
    public var description: String {
        [high, low].map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
