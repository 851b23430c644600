/// The system's cryptographic randomness.
package struct SystemRandom: RandomNumberGenerator, Sendable {
    private var generator = SystemRandomNumberGenerator()

    package init() {}

    package mutating func next() -> UInt64 { generator.next() }

    /// `count` random bytes.
    package mutating func bytes(count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            let word = next()
            for shift in 0..<min(8, count - bytes.count) {
                bytes.append(UInt8(truncatingIfNeeded: word >> (8 * UInt64(shift))))
            }
        }
        return bytes
    }
}
