extension QRSymbol {
    /// The symbol as a PNG image of one bit a pixel.
    ///
    /// - Parameters:
    ///   - modulePixels: The pixels of a module's side, from 1 to 50.
    ///   - quietZone: The light modules around it; 4 by the standard.
    /// - Returns: The bytes of the file.
    public func png(modulePixels: Int = 8, quietZone: Int = Self.quietZone) -> [UInt8] {
        let margin = RenderingLimits.quietZone(quietZone)
        let scale = RenderingLimits.modulePixels(modulePixels)
        let side = (size + 2 * margin) * scale
        var lines: [UInt8] = []
        var above = [UInt8](repeating: 0, count: (side + 7) / 8)
        for y in -margin..<size + margin {
            var row = [UInt8](repeating: 0, count: above.count)
            for pixel in 0..<side where !self[pixel / scale - margin, y] {
                row[pixel / 8] |= 0x80 >> UInt8(pixel % 8)
            }
            // Filter 2: each byte less the one above it, so that the further rows of a module are all 0.
            lines.append(2)
            lines += zip(row, above).map { $0 &- $1 }
            for _ in 1..<scale { lines += [2] + [UInt8](repeating: 0, count: row.count) }
            above = row
        }
        let dimension = UInt32(side).bigEndianBytes
        // One bit, grey, deflate, the standard's filters, not interlaced.
        let header = dimension + dimension + [1, 0, 0, 0, 0]
        let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        return signature + Self.chunk("IHDR", header) + Self.chunk("IDAT", Zlib.compress(lines))
            + Self.chunk("IEND", [])
    }

    private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let checked = Array(name.utf8) + content
        return UInt32(content.count).bigEndianBytes + checked + Zlib.checksum(of: checked[...]).bigEndianBytes
    }
}

extension UInt32 {
    /// Its four bytes, the most significant first.
    var bigEndianBytes: [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: self >> $0) } }
}
