/// A fingerprint of everything that happened in a run, in order: two runs are alike exactly if theirs are equal.
///
/// It detects differences and protects nothing, so it mixes words instead of using a cryptographic hash, which would cost as
/// much as the nodes themselves. Signatures never enter it: systems may draw randomness for them.
struct RunDigest {
    private var first: UInt64 = 0x243F_6A88_85A3_08D3
    private var second: UInt64 = 0x1319_8A2E_0370_7344

    mutating func mix(_ word: UInt64) {
        let product = (first ^ word).multipliedFullWidth(by: 0xA076_1D64_78BD_642F)
        first = product.high ^ product.low ^ second
        second = (second << 23 | second >> 41) &+ word &* 0xE703_7ED1_A0B4_28DB
    }

    /// Mixes words of eight bytes.
    mutating func mix(_ bytes: some Collection<UInt8>) {
        mix(UInt64(bytes.count))
        var word: UInt64 = 0
        var filled = 0
        for byte in bytes {
            word = word << 8 | UInt64(byte)
            filled += 1
            if filled == 8 {
                mix(word)
                (word, filled) = (0, 0)
            }
        }
        if filled > 0 { mix(word) }
    }

    /// One of as many words as are wanted; each depends on everything that was mixed in.
    func word(_ number: UInt64) -> UInt64 {
        var last = self
        last.mix(number)
        last.mix(number)
        return last.first
    }

    /// Thirty-two hexadecimal digits.
    var text: String {
        [word(0), word(1)].map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
