internal import CZlib
internal import QRCode

extension Zlib {
    /// The bytes that one byte of a stream can decompress to: two bits repeat up to 258 bytes.
    private static let largestRatio = 1_032

    /// Returns the `count` bytes that `stream` (RFC 1950) decompresses to.
    ///
    /// zlib writes to an array of exactly `count` bytes, which is not allocated if the stream is too short for them.
    static func decompress(_ stream: [UInt8], count: Int) throws(ImageFileError) -> [UInt8] {
        guard count <= stream.count * largestRatio else { throw .damaged("pixels are missing") }
        var written = UInt(count)
        var consumed = UInt(stream.count)
        var code = Z_OK
        // Not filled with zeros: memory that a damaged stream does not reach is never used.
        let content = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
            code = unsafe uncompress2(buffer.baseAddress, &written, stream, &consumed)
            initializedCount = min(Int(clamping: written), count)
        }
        switch code {
        case Z_OK where written == count: return content
        case Z_OK: throw .damaged("pixels are missing")
        case Z_BUF_ERROR where consumed < stream.count: throw .damaged("it has more pixels than its size allows")
        case Z_MEM_ERROR: throw .damaged("it is too large to be read")
        default: throw .damaged("its pixels are not compressed as PNG requires, or they end too early")
        }
    }
}
