internal import QRCode

/// Portable Network Graphics (ISO/IEC 15948): every colour type and depth, interlaced or not.
struct PNGFile {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    private var header: PNGHeader?
    private var palette: [UInt8] = []
    private var transparency: [UInt8] = []
    private var packed: [UInt8] = []

    static func greyImage(from bytes: [UInt8]) throws(ImageFileError) -> GreyImage {
        var file = PNGFile()
        try file.readChunks(bytes)
        guard let header = file.header else { throw .damaged("it has no header") }
        guard header.color != .palette || !file.palette.isEmpty else { throw .damaged("it has no palette") }
        // Checked before decompression: a stream of this length cannot contain the pixels.
        guard header.rawCount <= file.packed.count * Zlib.largestRatio else { throw .damaged("pixels are missing") }
        return try file.image(header)
    }

    /// Reads the relevant chunks; each has a length, a name, its data and a checksum.
    private mutating func readChunks(_ bytes: [UInt8]) throws(ImageFileError) {
        var position = Self.signature.count
        while position + 12 <= bytes.count {
            let length = Self.number(bytes, position)
            guard length <= bytes.count - position - 12 else { throw .damaged("it ends too early") }
            let content = position + 8..<position + 8 + length
            let name = String(decoding: bytes[position + 4..<position + 8], as: UTF8.self)
            guard Zlib.checksum(of: bytes[position + 4..<content.upperBound]) == Self.number(bytes, content.upperBound)
            else {
                throw .damaged("its part \"\(name.filter(\.isLetter))\" was changed: the checksum differs")
            }
            guard header != nil || name == "IHDR" else { throw .damaged("it does not begin with its header") }
            switch name {
            case "IHDR": header = try PNGHeader(bytes[content])
            case "PLTE": palette = Array(bytes[content].prefix(3 * 256))
            case "tRNS": transparency = Array(bytes[content].prefix(256))
            case "IDAT": packed += bytes[content]
            case "IEND": return
            default: break
            }
            position = content.upperBound + 4
        }
        throw .damaged("it ends too early")
    }

    private static func number(_ bytes: [UInt8], _ position: Int) -> Int {
        bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
    }

    /// Reads the rows one after another, so that the memory does not depend on their number.
    private func image(_ header: PNGHeader) throws(ImageFileError) -> GreyImage {
        let stream = try Inflation(packed)
        let greys = paletteGreys
        var sink = ImageSink(width: header.width, height: header.height)
        for pass in header.passes where pass.width > 0 && pass.height > 0 {
            let rowBytes = header.rowBytes(of: pass.width)
            var above = [UInt8](repeating: 0, count: rowBytes)
            var read = [UInt8](repeating: 0, count: 1 + rowBytes)
            for row in 0..<pass.height {
                try stream.read(into: &read)
                var line = Array(read[1...])
                try Self.undo(read[0], &line, above: above, step: header.pixelBytes)
                let target = pass.top + row * pass.down
                for column in 0..<pass.width {
                    let grey = Self.grey(line, column, header, greys)
                    sink.add(grey, column: pass.left + column * pass.right, row: target)
                }
                above = line
            }
        }
        try stream.finish()
        return try sink.image()
    }

    /// The colours of the palette as greys, before white where they are transparent; white beyond its end.
    private var paletteGreys: [UInt8] {
        var greys = [UInt8](repeating: 255, count: 256)
        for entry in 0..<palette.count / 3 {
            let level = ImageFile.luminance(
                red: Int(palette[3 * entry]),
                green: Int(palette[3 * entry + 1]),
                blue: Int(palette[3 * entry + 2])
            )
            greys[entry] = Self.blended(level, entry < transparency.count ? Int(transparency[entry]) : 255)
        }
        return greys
    }

    /// Returns a level before white.
    private static func blended(_ level: Int, _ alpha: Int) -> UInt8 {
        UInt8((level * alpha + 255 * (255 - alpha)) / 255)
    }

    /// Adds to each byte the prediction that the filter subtracted: its neighbour to the left, above, or a guess from three.
    private static func undo(
        _ filter: UInt8,
        _ line: inout [UInt8],
        above: [UInt8],
        step: Int
    ) throws(ImageFileError) {
        switch filter {
        case 0: break
        case 1: for index in line.indices.dropFirst(step) { line[index] &+= line[index - step] }
        case 2: for index in line.indices { line[index] &+= above[index] }
        case 3:
            for index in line.indices {
                let left = index >= step ? Int(line[index - step]) : 0
                line[index] &+= UInt8((left + Int(above[index])) / 2)
            }
        case 4:
            for index in line.indices {
                let left = index >= step ? Int(line[index - step]) : 0
                let corner = index >= step ? Int(above[index - step]) : 0
                let upper = Int(above[index])
                let (a, b, c) = (abs(upper - corner), abs(left - corner), abs(left + upper - 2 * corner))
                line[index] &+= UInt8(a <= b && a <= c ? left : b <= c ? upper : corner)
            }
        default: throw .damaged("a row has an unknown filter")
        }
    }

    /// One pixel of a row as grey, before white where it is transparent.
    private static func grey(_ line: [UInt8], _ column: Int, _ header: PNGHeader, _ palette: [UInt8]) -> UInt8 {
        func sample(_ channel: Int) -> Int {
            let index = column * header.color.channels + channel
            switch header.depth {
            case 8: return Int(line[index])
            case 16: return Int(line[2 * index])
            default:
                let perByte = 8 / header.depth
                let shift = (perByte - 1 - index % perByte) * header.depth
                return Int(line[index / perByte]) >> shift & (1 << header.depth - 1)
            }
        }
        var (level, alpha) = (255, 255)
        switch header.color {
        case .grey, .greyAlpha:
            level = header.depth < 8 ? sample(0) * 255 / (1 << header.depth - 1) : sample(0)
            if header.color == .greyAlpha { alpha = sample(1) }
        case .rgb, .rgbAlpha:
            level = ImageFile.luminance(red: sample(0), green: sample(1), blue: sample(2))
            if header.color == .rgbAlpha { alpha = sample(3) }
        case .palette: return palette[sample(0)]
        }
        return blended(level, alpha)
    }
}
