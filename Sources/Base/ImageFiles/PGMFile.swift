internal import QRCode

/// Portable greymaps (netpbm's PGM), with numbers as bytes or as text.
enum PGMFile {
    /// The form of the pixels.
    enum Kind: Sendable {
        /// `P5`: one byte, or two for more than 255 greys, with the more significant one first.
        case raw
        /// `P2`: decimal numbers.
        case plain

        /// The kind that the first bytes of a file name; nil if it is no greymap.
        init?(_ bytes: [UInt8]) {
            guard bytes.count > 2, bytes[0] == UInt8(ascii: "P") else { return nil }
            switch bytes[1] {
            case UInt8(ascii: "2"): self = .plain
            case UInt8(ascii: "5"): self = .raw
            default: return nil
            }
        }
    }

    private static let signatureCount = 2

    static func greyImage(from bytes: [UInt8], _ kind: Kind) throws(ImageFileError) -> GreyImage {
        var position = signatureCount
        let width = try number(bytes, &position)
        let height = try number(bytes, &position)
        let brightest = try number(bytes, &position)
        guard 1...65_535 ~= brightest else { throw .damaged("its brightest grey is \(brightest), not 1 to 65535") }
        try ImageFile.check(width: width, height: height)
        let count = width * height
        let pixelBytes = brightest > 255 && kind == .raw ? 2 : 1
        // A white space ends the header; in a plain file one is between each two of the numbers.
        let start = position + 1
        let needed = kind == .raw ? count * pixelBytes : 2 * count - 1
        guard bytes.count - start >= needed else { throw .damaged("pixels are missing at its end") }
        var sink = ImageSink(width: width, height: height)
        for row in 0..<height {
            for column in 0..<width {
                let level: Int
                switch kind {
                case .plain: level = try number(bytes, &position)
                case .raw where pixelBytes == 2:
                    let place = start + 2 * (row * width + column)
                    level = Int(bytes[place]) << 8 | Int(bytes[place + 1])
                case .raw: level = Int(bytes[start + row * width + column])
                }
                sink.add(UInt8(min(255, level * 255 / brightest)), column: column, row: row)
            }
        }
        return try sink.image()
    }

    /// The next number; white space and comments stand before it.
    private static func number(_ bytes: [UInt8], _ position: inout Int) throws(ImageFileError) -> Int {
        var isComment = false
        while position < bytes.count, isComment || !(0x30...0x39 ~= bytes[position]) {
            switch bytes[position] {
            case UInt8(ascii: "#"): isComment = true
            case 0x0A, 0x0D: isComment = false
            case 0x09, 0x20: break
            default: guard isComment else { throw .damaged("it has something else than numbers") }
            }
            position += 1
        }
        var number = 0
        let start = position
        while position < bytes.count, 0x30...0x39 ~= bytes[position] {
            number = number * 10 + Int(bytes[position] - 0x30)
            position += 1
            guard number <= 1_000_000 else { throw .damaged("a number in it is too large") }
        }
        guard position > start else { throw .damaged("it ends too early") }
        return number
    }
}
