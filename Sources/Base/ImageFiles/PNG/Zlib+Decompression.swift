internal import CZlib
internal import QRCode

extension Zlib {
    /// The bytes that one byte of a stream can decompress to: two bits repeat up to 258 bytes.
    static let largestRatio = 1_032
}

/// A stream (RFC 1950) that is decompressed piece by piece.
///
/// The memory is that of zlib, 40 KiB, and of the piece that is asked for.
@safe
final class Inflation {
    private let input: [UInt8]
    private var consumed = 0
    private var hasEnded = false
    /// At one place in memory: zlib refuses a state that was moved.
    private let state: UnsafeMutablePointer<z_stream>

    /// - Throws: ``ImageFileError`` when zlib has no memory.
    init(_ input: [UInt8]) throws(ImageFileError) {
        self.input = input
        unsafe state = .allocate(capacity: 1)
        unsafe state.initialize(to: z_stream())
        guard unsafe inflateInit_(state, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw .damaged("it is too large to be read")
        }
    }

    deinit {
        _ = unsafe inflateEnd(state)
        unsafe state.deallocate()
    }

    /// Fills `output` with the next bytes.
    ///
    /// - Throws: ``ImageFileError`` when the stream has fewer, or is damaged.
    func read(into output: inout [UInt8]) throws(ImageFileError) {
        var filled = 0
        while filled < output.count {
            guard !hasEnded else { throw .damaged("pixels are missing") }
            let written = try step(into: &output, from: filled)
            guard written > 0 || hasEnded else { throw Self.damage }
            filled += written
        }
    }

    /// Checks that the stream ends here, with the right sum.
    ///
    /// - Throws: ``ImageFileError`` when further bytes follow, or the stream is damaged.
    func finish() throws(ImageFileError) {
        var further: [UInt8] = [0]
        while !hasEnded {
            guard try step(into: &further, from: 0) == 0 else {
                throw .damaged("it has more pixels than its size allows")
            }
        }
    }

    private static let damage = ImageFileError.damaged(
        "its pixels are not compressed as PNG requires, or they end too early"
    )

    /// Decompresses to the end of `output` or of the input, and returns the number of bytes written.
    private func step(into output: inout [UInt8], from filled: Int) throws(ImageFileError) -> Int {
        let rest = UInt32(clamping: input.count - consumed)
        let room = UInt32(clamping: output.count - filled)
        let code = unsafe input.withUnsafeBufferPointer { source in
            unsafe output.withUnsafeMutableBufferPointer { target in
                guard let source = source.baseAddress, let target = target.baseAddress else {
                    return Z_BUF_ERROR
                }
                unsafe state.pointee.next_in = UnsafeMutablePointer(mutating: source + consumed)
                unsafe state.pointee.avail_in = rest
                unsafe state.pointee.next_out = target + filled
                unsafe state.pointee.avail_out = room
                return unsafe inflate(state, Z_NO_FLUSH)
            }
        }
        let taken = unsafe rest - state.pointee.avail_in
        let written = unsafe room - state.pointee.avail_out
        consumed += Int(taken)
        switch code {
        case Z_STREAM_END: hasEnded = true
        case Z_OK where taken > 0 || written > 0: break
        case Z_MEM_ERROR: throw .damaged("it is too large to be read")
        default: throw Self.damage
        }
        return Int(written)
    }
}
