internal import CZlib

/// The functions of the system's zlib that PNG files need.
package enum Zlib {
    /// Returns the stream (RFC 1950) that decompresses to `content`.
    static func compress(_ content: [UInt8]) -> [UInt8] {
        let contentCount = UInt(content.count)
        var count = compressBound(contentCount)
        var stream = [UInt8](repeating: 0, count: Int(count))
        let code = unsafe compress2(&stream, &count, content, contentCount, Z_BEST_COMPRESSION)
        precondition(code == Z_OK, "zlib cannot compress \(contentCount) bytes: \(code)")
        return Array(stream.prefix(Int(count)))
    }

    /// Returns the checksum that ends a chunk of a PNG (ISO/IEC 15948, annex D).
    ///
    /// The format allows chunks of less than 2 GiB. The checksum of more than 4 GiB would be that of the first 4 GiB.
    package static func checksum(of chunk: ArraySlice<UInt8>) -> UInt32 {
        unsafe chunk.withUnsafeBufferPointer { bytes in
            unsafe UInt32(truncatingIfNeeded: crc32(0, bytes.baseAddress, UInt32(clamping: bytes.count)))
        }
    }
}
