public import Failures

/// Why no symbol can be made.
public enum QRCodeError: Error, Equatable, Sendable {
    /// There is nothing to say.
    case empty
    /// Even the largest symbol has no room for the bytes at this level; `fitting` is the strongest that has, if any.
    case tooLong(byteCount: Int, level: ErrorCorrectionLevel, fitting: ErrorCorrectionLevel?)
}

extension QRCodeError: CodedError, CustomStringConvertible {
    /// The failure in words, with what to do.
    public var description: String {
        switch self {
        case .empty:
            return "there is no text to make a QR code of"
        case .tooLong(let byteCount, let level, let fitting):
            let name = level.rawValue.uppercased()
            let held =
                "\(byteCount) bytes do not fit into a QR code at level \(name), which holds \(level.byteCapacity)"
            let digits = " (more of digits and capital letters)"
            guard let fitting else { return held + digits + ", and no other level holds them; shorten the text" }
            return held + digits + "; level \(fitting.rawValue.uppercased()) would hold them"
        }
    }

    package var failureCode: FailureCode {
        switch self {
        case .empty: FailureCode("no-text", .unknown, .data)
        case .tooLong: FailureCode("too-large", .unknown, .data)
        }
    }
}

extension ErrorCorrectionLevel {
    /// The bytes that the largest symbol holds at this level.
    public var byteCapacity: Int {
        let width = SegmentMode.indicatorWidth + (SegmentMode.byte.countWidth(in: .largest) ?? 0)
        return (BlockLayout(.largest, self).dataCount * 8 - width) / 8
    }
}
