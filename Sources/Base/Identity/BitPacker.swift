internal import Bytes

/// Numbers of a few bits put one behind the other, the most significant bit first.
struct BitPacker {
    private(set) var bytes: [UInt8] = []
    private var bitCount = 0

    init() {
        // Growing would leave copies of secret bits behind in freed memory.
        bytes.reserveCapacity(64)
    }

    /// Appends the `bits` low bits of `value`.
    mutating func append(_ value: Int, bits: Int) {
        for bit in stride(from: bits - 1, through: 0, by: -1) {
            if bitCount.isMultiple(of: 8) { bytes.append(0) }
            let set = UInt8(truncatingIfNeeded: value >> bit & 1)
            bytes[bitCount / 8] |= set << UInt8(7 - bitCount % 8)
            bitCount += 1
        }
    }

    /// The number in the `bits` bits from bit `start`.
    func value(at start: Int, bits: Int) -> Int {
        (start..<(start + bits)).reduce(0) { value, bit in
            value << 1 | Int(bytes[bit / 8] >> UInt8(7 - bit % 8) & 1)
        }
    }

    /// Overwrites the packed bits.
    mutating func wipe() {
        bytes.wipe()
        bitCount = 0
    }
}
