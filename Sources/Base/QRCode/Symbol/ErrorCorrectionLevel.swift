/// The share of a symbol that may be damaged before its text is lost (ISO/IEC 18004, 7.5.1).
public enum ErrorCorrectionLevel: String, CaseIterable, Comparable, Sendable {
    /// Recovers about 7 % of the codewords.
    case l
    /// Recovers about 15 % of the codewords.
    case m
    /// Recovers about 25 % of the codewords.
    case q
    /// Recovers about 30 % of the codewords.
    case h

    /// Its place in the tables, from the weakest to the strongest.
    var index: Int {
        switch self {
        case .l: 0
        case .m: 1
        case .q: 2
        case .h: 3
        }
    }

    /// The two bits of the format information, which are not in order of strength.
    var formatBits: Int {
        switch self {
        case .l: 0b01
        case .m: 0b00
        case .q: 0b11
        case .h: 0b10
        }
    }

    /// Whether `left` corrects less than `right`.
    public static func < (left: Self, right: Self) -> Bool { left.index < right.index }
}
