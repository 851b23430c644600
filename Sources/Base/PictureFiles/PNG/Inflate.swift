/// Unpacks what was packed with DEFLATE in a zlib wrapper (RFC 1950 and 1951).
///
/// The caller says how many bytes must come out; more or fewer are an error, so nothing grows on a stranger's word.
struct Inflate {
    private static let lengthBases = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227,
        258,
    ]
    private static let lengthBits = [
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
    ]
    private static let distanceBases = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1_025, 1_537, 2_049, 3_073,
        4_097,
        6_145, 8_193, 12_289, 16_385, 24_577,
    ]
    private static let distanceBits = [
        0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
    ]
    /// The order in which the code lengths of code lengths come.
    private static let lengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

    private let packed: [UInt8]
    private var position: Int
    private var bits: UInt64 = 0
    private var bitCount = 0
    private let count: Int
    private var unpacked: [UInt8] = []

    /// The `count` bytes that `packed` stands for.
    static func unpack(_ packed: [UInt8], count: Int) throws(PictureFileError) -> [UInt8] {
        guard packed.count >= 6, packed[0] & 0x0F == 8, packed[1] & 0x20 == 0,
            (Int(packed[0]) << 8 | Int(packed[1])) % 31 == 0
        else { throw .damaged("its pixels are not packed as PNG demands") }
        var inflate = Inflate(packed, count: count)
        try inflate.readBlocks()
        try inflate.checkSum()
        return inflate.unpacked
    }

    private init(_ packed: [UInt8], count: Int) {
        self.packed = packed
        self.count = count
        position = 2
        // One packed byte stands for 1032 bytes at most.
        unpacked.reserveCapacity(min(count, packed.count * 1_032))
    }

    private mutating func readBlocks() throws(PictureFileError) {
        var isLast = false
        while !isLast {
            isLast = try take(1) == 1
            switch try take(2) {
            case 0: try copyStored()
            case 1: try unpackBlock(Self.fixedLiterals, Self.fixedDistances)
            case 2:
                let (literals, distances) = try readCodes()
                try unpackBlock(literals, distances)
            default: throw .damaged("a packed block is of no kind")
            }
        }
        guard unpacked.count == count else { throw .damaged("pixels are missing") }
    }

    private mutating func fill(_ wanted: Int) {
        while bitCount < wanted, position < packed.count {
            bits |= UInt64(packed[position]) << UInt64(bitCount)
            position += 1
            bitCount += 8
        }
    }

    private mutating func take(_ width: Int) throws(PictureFileError) -> Int {
        guard width > 0 else { return 0 }
        fill(width)
        guard bitCount >= width else { throw .damaged("it ends too early") }
        let value = Int(bits & (1 << UInt64(width) - 1))
        bits >>= UInt64(width)
        bitCount -= width
        return value
    }

    private mutating func copyStored() throws(PictureFileError) {
        // The rest of a byte is skipped; whole bytes in the buffer go back.
        position -= bitCount / 8
        (bits, bitCount) = (0, 0)
        let length = try take(16)
        guard try take(16) == ~length & 0xFFFF else { throw .damaged("a stored block contradicts itself") }
        guard length <= packed.count - position else { throw .damaged("it ends too early") }
        guard length <= count - unpacked.count else { throw .damaged("it has more pixels than its sides say") }
        unpacked += packed[position..<position + length]
        position += length
    }

    private mutating func unpackBlock(_ literals: HuffmanCode, _ distances: HuffmanCode) throws(PictureFileError) {
        while true {
            let symbol = try decode(literals)
            if symbol < 256 {
                guard unpacked.count < count else { throw .damaged("it has more pixels than its sides say") }
                unpacked.append(UInt8(truncatingIfNeeded: symbol))
                continue
            }
            guard symbol != 256 else { return }
            guard symbol - 257 < Self.lengthBases.count else { throw .damaged("a packed length is of no kind") }
            let length = Self.lengthBases[symbol - 257] + (try take(Self.lengthBits[symbol - 257]))
            let place = try decode(distances)
            guard place < Self.distanceBases.count else { throw .damaged("a packed distance is of no kind") }
            let distance = Self.distanceBases[place] + (try take(Self.distanceBits[place]))
            guard distance <= unpacked.count else { throw .damaged("it repeats what was before its beginning") }
            guard length <= count - unpacked.count else { throw .damaged("it has more pixels than its sides say") }
            let start = unpacked.count - distance
            for index in 0..<length { unpacked.append(unpacked[start + index]) }
        }
    }

    private mutating func decode(_ code: HuffmanCode) throws(PictureFileError) -> Int {
        fill(code.width)
        let entry = code.table[Int(bits & UInt64(code.table.count - 1))]
        let length = Int(entry & 0xF)
        guard length > 0, length <= bitCount else {
            throw .damaged("a packed code is of no kind, or it ends too early")
        }
        bits >>= UInt64(length)
        bitCount -= length
        return Int(entry >> 4)
    }

    private mutating func readCodes() throws(PictureFileError) -> (HuffmanCode, HuffmanCode) {
        let literalCount = try take(5) + 257
        let distanceCount = try take(5) + 1
        let lengthCount = try take(4) + 4
        var lengthLengths = [Int](repeating: 0, count: 19)
        for index in 0..<lengthCount { lengthLengths[Self.lengthOrder[index]] = try take(3) }
        let lengthCode = try HuffmanCode(lengthLengths)
        var lengths: [Int] = []
        while lengths.count < literalCount + distanceCount {
            let symbol = try decode(lengthCode)
            switch symbol {
            case 0...15: lengths.append(symbol)
            case 16:
                guard let last = lengths.last else { throw .damaged("it repeats what was before its beginning") }
                lengths += [Int](repeating: last, count: try take(2) + 3)
            case 17: lengths += [Int](repeating: 0, count: try take(3) + 3)
            default: lengths += [Int](repeating: 0, count: try take(7) + 11)
            }
        }
        guard lengths.count == literalCount + distanceCount, lengths[256] > 0 else {
            throw .damaged("its packed codes contradict themselves")
        }
        return (try HuffmanCode(Array(lengths[..<literalCount])), try HuffmanCode(Array(lengths[literalCount...])))
    }

    /// The Adler-32 sum of everything that was unpacked.
    private mutating func checkSum() throws(PictureFileError) {
        position -= bitCount / 8
        guard packed.count - position >= 4 else { throw .damaged("it ends too early") }
        var stated: UInt32 = 0
        for byte in packed[position..<position + 4] { stated = stated << 8 | UInt32(byte) }
        var (low, high): (UInt32, UInt32) = (1, 0)
        for start in stride(from: 0, to: unpacked.count, by: 4_096) {
            for byte in unpacked[start..<min(start + 4_096, unpacked.count)] {
                low &+= UInt32(byte)
                high &+= low
            }
            low %= 65_521
            high %= 65_521
        }
        guard stated == high << 16 | low else {
            throw .damaged("its pixels are not what they were when it was written")
        }
    }

    private static let fixedLiterals = HuffmanCode(
        known: (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 }
    )
    private static let fixedDistances = HuffmanCode(known: [Int](repeating: 5, count: 30))
}

/// A prefix code as a table: the next bits lead to a symbol and the number of bits that it takes.
private struct HuffmanCode {
    /// The bits that choose an entry.
    let width: Int
    /// Symbol times 16 plus length; 0 where no code leads.
    let table: [UInt16]

    /// From the length of each symbol's code; refused if there are more codes than bits can tell apart.
    init(_ lengths: [Int]) throws(PictureFileError) {
        let room = lengths.reduce(0) { $0 + ($1 > 0 ? 1 << (15 - $1) : 0) }
        guard room <= 1 << 15 else { throw .damaged("its packed codes contradict themselves") }
        self.init(known: lengths)
    }

    init(known lengths: [Int]) {
        width = max(1, lengths.max() ?? 1)
        var table = [UInt16](repeating: 0, count: 1 << width)
        var code = 0
        for length in 1...width {
            for (symbol, own) in lengths.enumerated() where own == length {
                var reversed = 0
                for bit in 0..<length where code >> bit & 1 == 1 { reversed |= 1 << (length - 1 - bit) }
                for entry in stride(from: reversed, to: table.count, by: 1 << length) {
                    table[entry] = UInt16(truncatingIfNeeded: symbol << 4 | length)
                }
                code += 1
            }
            code <<= 1
        }
        self.table = table
    }
}
