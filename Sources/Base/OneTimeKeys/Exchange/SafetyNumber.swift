internal import Algorithms
internal import Bytes

/// Sixty digits that two people compare, by eye or by scanning a symbol: if they are equal, no third device is between theirs.
///
/// They are twelve numbers below 100,000, each from five bytes of a SHA-512 over both identities and the exchange.
public struct SafetyNumber: Hashable, Sendable {
    static let groupCount = 12
    private static let groupDigits = 5
    private static let bytesPerGroup = 5

    /// The sixty digits.
    public let digits: String

    package init(hash: [UInt8]) {
        precondition(hash.count >= Self.groupCount * Self.bytesPerGroup, "a hash of \(hash.count) bytes")
        digits = (0..<Self.groupCount)
            .map { group in
                let bytes = hash[group * Self.bytesPerGroup..<(group + 1) * Self.bytesPerGroup]
                let text = String(bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 100_000)
                return String(repeating: "0", count: Self.groupDigits - text.count) + text
            }
            .joined()
    }

    /// Reads sixty digits, with or without spaces between them; nil for anything else.
    public init?(_ text: String) {
        guard text.utf8.count <= 256 else { return nil }
        let digits = text.filter { !$0.isWhitespace }
        guard digits.utf8.count == Self.groupCount * Self.groupDigits,
            digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
        else { return nil }
        self.digits = digits
    }

    /// The digits in groups of five.
    public var groups: [String] {
        digits.chunks(ofCount: Self.groupDigits).map { String($0) }
    }
}

extension SafetyNumber: CustomStringConvertible {
    /// The digits in groups of five, with spaces between them.
    public var description: String { groups.joined(separator: " ") }
}
