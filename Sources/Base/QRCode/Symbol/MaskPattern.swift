/// Which modules of the encoding region are inverted, so that no symbol is nearly empty or looks like a finder pattern.
public struct MaskPattern: Hashable, Sendable {
    /// Its reference, from 0 to 7, as in the format information.
    public let reference: Int

    /// The pattern of a reference, or nil outside 0...7.
    public init?(_ reference: Int) {
        guard 0...7 ~= reference else { return nil }
        self.reference = reference
    }

    /// The pattern that the lowest three bits name.
    init(formatBits: Int) {
        reference = formatBits & 0b111
    }

    /// All eight, in order.
    public static let all = (0...7).map { MaskPattern(formatBits: $0) }

    /// Whether it inverts the module in column `x` of row `y` (ISO/IEC 18004, table 10).
    package func inverts(x: Int, y: Int) -> Bool {
        switch reference {
        case 0: (x + y) % 2 == 0
        case 1: y % 2 == 0
        case 2: x % 3 == 0
        case 3: (x + y) % 3 == 0
        case 4: (x / 3 + y / 2) % 2 == 0
        case 5: x * y % 2 + x * y % 3 == 0
        case 6: (x * y % 2 + x * y % 3) % 2 == 0
        default: ((x + y) % 2 + x * y % 3) % 2 == 0
        }
    }
}
