/// IEEE 754 numbers of 16 bits, which Swift does not have on every system.
internal enum HalfPrecision {
    /// The bits of a number that is exactly `value`, if there is one.
    static func bits(exactly value: Float) -> UInt16? {
        let sign = UInt16(truncatingIfNeeded: value.bitPattern >> 16) & 0x8000
        if value.isNaN { return 0x7E00 }
        if value.isInfinite { return sign | 0x7C00 }
        if value.isZero { return sign }
        let exponent = Int(value.exponent)
        // Ten bits behind the point, fewer below the smallest normal number, 2^-14.
        let fraction = value.significand * 1_024
        guard exponent <= 15, exponent >= -24, fraction == fraction.rounded() else {
            return nil
        }
        let significand = UInt16(fraction)  // 1024 ... 2047
        if exponent >= -14 {
            return sign | UInt16(exponent + 15) << 10 | (significand - 1_024)
        }
        let shift = UInt16(-14 - exponent)
        guard significand & (1 << shift - 1) == 0 else {
            return nil
        }
        return sign | significand >> shift
    }

    /// The number that these bits stand for.
    static func value(of bits: UInt16) -> Float {
        let sign: FloatingPointSign = bits & 0x8000 == 0 ? .plus : .minus
        let exponent = Int(bits >> 10 & 0x1F)
        let fraction = Float(bits & 0x3FF)
        return switch exponent {
        case 0: Float(sign: sign, exponent: -24, significand: fraction)
        case 31: fraction == 0 ? (sign == .plus ? .infinity : -.infinity) : .nan
        default: Float(sign: sign, exponent: exponent - 25, significand: fraction + 1_024)
        }
    }
}
