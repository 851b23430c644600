/// A zlib stream (RFC 1950) of one deflate block with the fixed codes (RFC 1951), in which only runs of one byte are short.
///
/// Drawings of symbols are nearly all runs, so that looking for any other repetition would gain little.
struct ZlibStream {
    /// The longest repetition that one length code says.
    private static let longestRun = 258

    private var bytes: [UInt8] = [0x78, 0x01]
    private var pending: UInt32 = 0
    private var pendingCount: UInt32 = 0

    private init() {}

    /// The stream that inflates to `content`.
    static func bytes(of content: [UInt8]) -> [UInt8] {
        var stream = ZlibStream()
        // The final block, with fixed codes.
        stream.append(0b011, width: 3)
        var index = 0
        while index < content.count {
            var end = index + 1
            while end < content.count, content[end] == content[index] { end += 1 }
            stream.append(literal: content[index])
            stream.append(repetitionsOf: content[index], count: end - index - 1)
            index = end
        }
        stream.append(symbol: 256)
        stream.append(0, width: (8 - stream.pendingCount) % 8)
        return stream.bytes + adler32(of: content).bigEndianBytes
    }

    /// Says that the byte before comes `count` times more.
    private mutating func append(repetitionsOf byte: UInt8, count: Int) {
        var left = count
        while left >= 3 {
            let run = min(left, Self.longestRun)
            append(length: run)
            // The distance 1.
            append(0, width: 5)
            left -= run
        }
        for _ in 0..<left { append(literal: byte) }
    }

    /// Appends a length from 3 on: four codes for each number of extra bits, which say the rest.
    private mutating func append(length: Int) {
        guard length < Self.longestRun else { return append(symbol: 285) }
        let offset = length - 3
        let extraBits = max(0, Int.bitWidth - offset.leadingZeroBitCount - 3)
        append(symbol: 257 + 4 * extraBits + offset >> extraBits)
        append(UInt32(offset & (1 << extraBits - 1)), width: UInt32(extraBits))
    }

    private mutating func append(literal byte: UInt8) { append(symbol: Int(byte)) }

    /// Appends a symbol of the literal and length alphabet in its fixed code, the most significant bit first.
    private mutating func append(symbol: Int) {
        let (code, width): (Int, UInt32) =
            switch symbol {
            case ..<144: (0x30 + symbol, 8)
            case ..<256: (0x190 + symbol - 144, 9)
            case ..<280: (symbol - 256, 7)
            default: (0xC0 + symbol - 280, 8)
            }
        for place in (0..<width).reversed() { append(UInt32(code >> Int(place)) & 1, width: 1) }
    }

    /// Appends bits to the stream, the least significant first.
    private mutating func append(_ bits: UInt32, width: UInt32) {
        pending |= bits << pendingCount
        pendingCount += width
        while pendingCount >= 8 {
            bytes.append(UInt8(truncatingIfNeeded: pending))
            pending >>= 8
            pendingCount -= 8
        }
    }

    private static func adler32(of content: [UInt8]) -> UInt32 {
        var (sum, sumOfSums): (UInt32, UInt32) = (1, 0)
        for byte in content {
            sum = (sum + UInt32(byte)) % 65_521
            sumOfSums = (sumOfSums + sum) % 65_521
        }
        return sumOfSums << 16 | sum
    }
}
