/// A small generator (SplitMix64) that gives the same numbers for the same seed on every system.
///
/// Not for secrets.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator whose numbers depend only on `seed`.
    package init(seed: UInt64) {
        state = seed
    }

    /// Creates an independent generator for `name`, so that draws under one name do not change those under another.
    package init(seed: UInt64, name: String) {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in name.utf8 {
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
        }
        self.init(seed: seed ^ hash)
    }

    /// Returns the next number.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns `count` bytes.
    package mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    /// Returns true with the probability `share`.
    package mutating func decide(_ share: Double) -> Bool {
        share > 0 && Double(next() >> 11) < share * 0x1p53
    }
}
