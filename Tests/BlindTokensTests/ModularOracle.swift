/// Multiplication modulo an odd number (Montgomery, 1985), to recompute steps of vectors that no interface can drive.
///
/// Neither fast nor constant in time.
struct ModularOracle {
    private let modulus: [UInt32]
    private let negatedInverse: UInt32
    private let squaredRadix: [UInt32]
    private let byteCount: Int

    init(modulus bytes: [UInt8]) {
        modulus = Self.limbs(bytes)
        byteCount = bytes.count
        var inverse: UInt32 = 1
        for _ in 0..<5 { inverse = inverse &* (2 &- modulus[0] &* inverse) }
        negatedInverse = 0 &- inverse
        var radix: [UInt32] = [1] + [UInt32](repeating: 0, count: modulus.count - 1)
        for _ in 0..<64 * modulus.count { radix = Self.reduced(Self.doubled(radix), modulus) }
        squaredRadix = radix
    }

    /// The product of two numbers below the modulus, most significant byte first.
    func product(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        bytes(montgomery(montgomery(Self.limbs(left), squaredRadix), Self.limbs(right)))
    }

    /// The power of a number below the modulus with a small exponent.
    func power(_ base: [UInt8], _ exponent: Int) -> [UInt8] {
        let factor = montgomery(Self.limbs(base), squaredRadix)
        var result = factor
        for shift in (0..<exponent.bitWidth - exponent.leadingZeroBitCount - 1).reversed() {
            result = montgomery(result, result)
            if exponent >> shift & 1 == 1 { result = montgomery(result, factor) }
        }
        return bytes(montgomery(result, [1] + [UInt32](repeating: 0, count: modulus.count - 1)))
    }

    private func montgomery(_ left: [UInt32], _ right: [UInt32]) -> [UInt32] {
        let count = modulus.count
        var sum = [UInt64](repeating: 0, count: count + 2)
        for limb in left {
            var carry: UInt64 = 0
            for index in 0..<count {
                let value = sum[index] + UInt64(limb) * UInt64(right[index]) + carry
                sum[index] = value & 0xFFFF_FFFF
                carry = value >> 32
            }
            sum[count] += carry
            let factor = UInt64(UInt32(truncatingIfNeeded: sum[0]) &* negatedInverse)
            carry = (sum[0] + factor * UInt64(modulus[0])) >> 32
            for index in 1..<count {
                let value = sum[index] + factor * UInt64(modulus[index]) + carry
                sum[index - 1] = value & 0xFFFF_FFFF
                carry = value >> 32
            }
            let value = sum[count] + carry
            sum[count - 1] = value & 0xFFFF_FFFF
            sum[count] = value >> 32
        }
        return Self.reduced(sum.prefix(count + 1).map { UInt32($0) }, modulus)
    }

    private func bytes(_ limbs: [UInt32]) -> [UInt8] {
        let bytes = limbs.reversed().flatMap { limb in (0..<4).map { UInt8(truncatingIfNeeded: limb >> (24 - 8 * $0)) }
        }
        return [UInt8](bytes.suffix(byteCount))
    }

    private static func limbs(_ bytes: [UInt8]) -> [UInt32] {
        stride(from: bytes.count, to: 0, by: -4).map { end in
            bytes[max(0, end - 4)..<end].reduce(0) { $0 << 8 | UInt32($1) }
        }
    }

    private static func doubled(_ limbs: [UInt32]) -> [UInt32] {
        var carry: UInt32 = 0
        return limbs.map { limb in
            defer { carry = limb >> 31 }
            return limb << 1 | carry
        } + [carry]
    }

    /// One subtraction of the modulus from a number of one limb more, if it is not less.
    private static func reduced(_ limbs: [UInt32], _ modulus: [UInt32]) -> [UInt32] {
        var difference: [UInt32] = []
        var borrow: Int64 = 0
        for (limb, other) in zip(limbs, modulus + [0]) {
            let value = Int64(limb) - Int64(other) + borrow
            difference.append(UInt32(truncatingIfNeeded: value))
            borrow = value >> 32
        }
        return [UInt32]((borrow < 0 ? limbs : difference).prefix(modulus.count))
    }
}
