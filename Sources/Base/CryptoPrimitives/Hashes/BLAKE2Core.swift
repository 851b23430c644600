/// The words that BLAKE2 computes with: 32 bits for BLAKE2s, 64 bits for BLAKE2b (RFC 7693, section 2.1).
protocol BLAKE2Word: FixedWidthInteger, UnsignedInteger, BitwiseCopyable, Sendable {
    /// The four rotations to the right of the function G.
    static var rotations: (Self, Self, Self, Self) { get }
    /// Whether rounds 10 and 11 follow the ten that both functions have.
    static var hasTwelveRounds: Bool { get }
}

extension UInt32: BLAKE2Word {
    @inline(__always)
    static var rotations: (UInt32, UInt32, UInt32, UInt32) { (16, 12, 8, 7) }

    @inline(__always)
    static var hasTwelveRounds: Bool { false }
}

extension UInt64: BLAKE2Word {
    @inline(__always)
    static var rotations: (UInt64, UInt64, UInt64, UInt64) { (32, 24, 16, 63) }

    @inline(__always)
    static var hasTwelveRounds: Bool { true }
}

/// BLAKE2 (RFC 7693) in sequential mode, for both sizes of words.
///
/// The last block is kept until the hash is finalized, because it is compressed under another flag than the others. Nothing
/// is allocated except the result.
struct BLAKE2Core<Word: BLAKE2Word>: Sendable {
    typealias Eight = (Word, Word, Word, Word, Word, Word, Word, Word)
    typealias Sixteen = (
        Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word
    )

    /// The size of a block in bytes, twice that of the longest result.
    static var blockByteCount: Int { MemoryLayout<Sixteen>.size }
    /// The size of the longest result, and of the longest key, in bytes.
    static var maximumByteCount: Int { blockByteCount / 2 }

    private let outputByteCount: Int
    private var chain: Eight
    /// The bytes that are not compressed yet, as they lie in memory.
    private var block = Self.zeroBlock
    private var blockCount = 0
    /// The bytes before `block`, as a number of two words.
    private var compressedCount: (low: Word, high: Word) = (0, 0)

    private static var zeroBlock: Sixteen { (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) }

    /// Prepares a hash of `outputByteCount` bytes, 1 to half a block, under a key of 0 to half a block.
    init(outputByteCount: Int, key: UnsafeRawBufferPointer) {
        precondition(1...Self.maximumByteCount ~= outputByteCount, "a result of \(outputByteCount) bytes")
        precondition(key.count <= Self.maximumByteCount, "a key of \(key.count) bytes")
        self.outputByteCount = outputByteCount
        chain = Self.initialVector
        // The parameter block: size of the result, size of the key, fanout 1, depth 1 (section 2.5).
        chain.0 ^= 0x0101_0000 ^ Word(key.count) << 8 ^ Word(outputByteCount)
        guard unsafe !key.isEmpty else { return }
        unsafe withUnsafeMutableBytes(of: &block) { target in unsafe target.copyMemory(from: key) }
        blockCount = Self.blockByteCount
    }

    /// The initial vector (section 2.6): that of BLAKE2s is the upper half of each word of BLAKE2b's.
    @inline(__always)
    private static var initialVector: Eight {
        (
            word(0x6A09_E667_F3BC_C908), word(0xBB67_AE85_84CA_A73B),
            word(0x3C6E_F372_FE94_F82B), word(0xA54F_F53A_5F1D_36F1),
            word(0x510E_527F_ADE6_82D1), word(0x9B05_688C_2B3E_6C1F),
            word(0x1F83_D9AB_FB41_BD6B), word(0x5BE0_CD19_137E_2179)
        )
    }

    @inline(__always)
    private static func word(_ value: UInt64) -> Word {
        Word(truncatingIfNeeded: value &>> UInt64(UInt64.bitWidth - Word.bitWidth))
    }

    /// Adds bytes to the message.
    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard unsafe !bytes.isEmpty else { return }
        var offset = 0
        if blockCount > 0 {
            offset = unsafe fill(from: bytes)
            guard offset < bytes.count else { return }
            compressBlock()
        }
        while bytes.count - offset > Self.blockByteCount {
            block = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: Sixteen.self)
            blockCount = Self.blockByteCount
            compressBlock()
            offset += Self.blockByteCount
        }
        _ = unsafe fill(from: UnsafeRawBufferPointer(rebasing: bytes[offset...]))
    }

    /// Moves bytes into the free part of the block, and returns their number.
    private mutating func fill(from bytes: UnsafeRawBufferPointer) -> Int {
        let used = blockCount
        let count = min(bytes.count, Self.blockByteCount - used)
        unsafe withUnsafeMutableBytes(of: &block) { target in
            unsafe UnsafeMutableRawBufferPointer(rebasing: target[used...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
        blockCount = used + count
        return count
    }

    private mutating func compressBlock() {
        count(Word(blockCount))
        compress(isLast: false)
        blockCount = 0
    }

    @inline(__always)
    private mutating func count(_ bytes: Word) {
        let (sum, isCarried) = compressedCount.low.addingReportingOverflow(bytes)
        compressedCount = (sum, compressedCount.high &+ (isCarried ? 1 : 0))
    }

    /// Pads and compresses the last block, and returns the hash.
    consuming func finalize() -> [UInt8] {
        let used = blockCount
        count(Word(used))
        unsafe withUnsafeMutableBytes(of: &block) { target in
            for index in used..<target.count { unsafe target[index] = 0 }
        }
        compress(isLast: true)
        let words = (
            chain.0.littleEndian, chain.1.littleEndian, chain.2.littleEndian, chain.3.littleEndian,
            chain.4.littleEndian, chain.5.littleEndian, chain.6.littleEndian, chain.7.littleEndian
        )
        return unsafe withUnsafeBytes(of: words) { bytes in unsafe [UInt8](bytes[..<outputByteCount]) }
    }

    /// The function F (section 3.2) over `block`.
    private mutating func compress(isLast: Bool) {
        let h = chain
        let iv = Self.initialVector
        var v: Sixteen = (
            h.0, h.1, h.2, h.3, h.4, h.5, h.6, h.7,
            iv.0, iv.1, iv.2, iv.3, iv.4 ^ compressedCount.low, iv.5 ^ compressedCount.high,
            isLast ? ~iv.6 : iv.6, iv.7
        )
        Self.mix(&v, Self.fromLittleEndian(block))
        chain = (
            h.0 ^ v.0 ^ v.8, h.1 ^ v.1 ^ v.9, h.2 ^ v.2 ^ v.10, h.3 ^ v.3 ^ v.11,
            h.4 ^ v.4 ^ v.12, h.5 ^ v.5 ^ v.13, h.6 ^ v.6 ^ v.14, h.7 ^ v.7 ^ v.15
        )
    }

    @inline(__always)
    private static func fromLittleEndian(_ m: Sixteen) -> Sixteen {
        (
            m.0.littleEndian, m.1.littleEndian, m.2.littleEndian, m.3.littleEndian,
            m.4.littleEndian, m.5.littleEndian, m.6.littleEndian, m.7.littleEndian,
            m.8.littleEndian, m.9.littleEndian, m.10.littleEndian, m.11.littleEndian,
            m.12.littleEndian, m.13.littleEndian, m.14.littleEndian, m.15.littleEndian
        )
    }
}
