/// The hash of Galois/Counter Mode (NIST SP 800-38D, section 6.4), without branches on secrets.
///
/// The system's cryptography has no nonces of 3 bytes; only for those this is used.
struct GHASH {
    /// An element of GF(2^128), the first bit of the block as the most significant one.
    private struct Element {
        var high: UInt64 = 0
        var low: UInt64 = 0
    }

    static let blockByteCount = 16

    private let key: Element
    private var state = Element()

    /// `key` is the encryption of the zero block: 16 bytes.
    init(key: [UInt8]) {
        self.key = Self.element(key[...])
    }

    /// Absorbs `bytes`, padded with zeros to whole blocks.
    mutating func absorb(_ bytes: [UInt8]) {
        for start in stride(from: 0, to: bytes.count, by: Self.blockByteCount) {
            let block = Self.element(bytes[start..<min(start + Self.blockByteCount, bytes.count)])
            state.high ^= block.high
            state.low ^= block.low
            multiply()
        }
    }

    /// Absorbs the block with two lengths, in bits.
    mutating func absorb(bitCounts first: UInt64, _ second: UInt64) {
        state.high ^= first
        state.low ^= second
        multiply()
    }

    /// The hash of the absorbed bytes: 16 bytes.
    var digest: [UInt8] {
        [state.high, state.low].flatMap { word in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
        }
    }

    /// Multiplies the state by the key (algorithm 1 of the publication).
    private mutating func multiply() {
        var product = Element()
        var factor = key
        for word in [state.high, state.low] {
            for shift in stride(from: UInt64(63), through: 0, by: -1) {
                let isSet = 0 &- (word &>> shift & 1)
                product.high ^= factor.high & isSet
                product.low ^= factor.low & isSet
                let carry = 0 &- (factor.low & 1)
                factor.low = factor.low &>> 1 | factor.high &<< 63
                factor.high = factor.high &>> 1 ^ carry & 0xE100_0000_0000_0000
            }
        }
        state = product
    }

    private static func element(_ bytes: ArraySlice<UInt8>) -> Element {
        var element = Element()
        for (index, byte) in bytes.enumerated() {
            let shifted = UInt64(byte) &<< UInt64(56 - index % 8 * 8)
            if index < 8 {
                element.high |= shifted
            } else {
                element.low |= shifted
            }
        }
        return element
    }
}
