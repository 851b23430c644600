/// Arithmetic with 256 elements, in which the codewords of a symbol are coefficients: GF(2^8) modulo x^8+x^4+x^3+x^2+1.
enum GaloisField {
    private static let modulus = 0x11D

    /// The powers of the primitive element 2, from exponent 0 to 509, so that two logarithms can be added as they are.
    static let powers: [UInt8] = {
        var powers: [UInt8] = []
        var element = 1
        for _ in 0..<510 {
            powers.append(UInt8(element))
            element <<= 1
            if element > 0xFF { element ^= modulus }
        }
        return powers
    }()

    /// The exponent of 2 that gives each element; the entry of 0 means nothing.
    static let logarithms: [Int] = {
        var logarithms = [Int](repeating: 0, count: 256)
        for exponent in 0..<255 { logarithms[Int(powers[exponent])] = exponent }
        return logarithms
    }()

    /// The product.
    static func multiply(_ left: UInt8, _ right: UInt8) -> UInt8 {
        guard left != 0, right != 0 else { return 0 }
        return powers[logarithms[Int(left)] + logarithms[Int(right)]]
    }

    /// The element whose product with this one is 1.
    static func inverse(of element: UInt8) -> UInt8 {
        precondition(element != 0, "0 has no inverse")
        return powers[255 - logarithms[Int(element)]]
    }

    /// 2 to the power of any `exponent`, also a negative one.
    static func power(_ exponent: Int) -> UInt8 {
        let reduced = exponent % 255
        return powers[reduced < 0 ? reduced + 255 : reduced]
    }
}
