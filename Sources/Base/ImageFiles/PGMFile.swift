internal import QRCode

/// Portable greymaps with bytes as pixels (netpbm's `P5`).
enum PGMFile {
    static let signature = Array("P5".utf8)

    static func greyImage(from bytes: [UInt8]) throws(ImageFileError) -> GreyImage {
        var position = signature.count
        let width = try number(bytes, &position)
        let height = try number(bytes, &position)
        let brightest = try number(bytes, &position)
        guard 1...255 ~= brightest else { throw .damaged("its brightest grey is \(brightest), not 1 to 255") }
        try ImageFile.check(width: width, height: height)
        // A single white space ends the header.
        let start = position + 1
        guard bytes.count - start >= width * height else { throw .damaged("pixels are missing at its end") }
        let pixels = bytes[start..<start + width * height]
        guard brightest < 255 else {
            return try ImageFile.image(width: width, height: height, pixels: Array(pixels))
        }
        let scaled = pixels.map { UInt8(min(255, Int($0) * 255 / brightest)) }
        return try ImageFile.image(width: width, height: height, pixels: scaled)
    }

    /// The next number of the header; white space and comments stand before it.
    private static func number(_ bytes: [UInt8], _ position: inout Int) throws(ImageFileError) -> Int {
        var isComment = false
        while position < bytes.count, isComment || !(0x30...0x39 ~= bytes[position]) {
            switch bytes[position] {
            case UInt8(ascii: "#"): isComment = true
            case 0x0A, 0x0D: isComment = false
            case 0x09, 0x20: break
            default: guard isComment else { throw .damaged("its header has something else than numbers") }
            }
            position += 1
        }
        var number = 0
        let start = position
        while position < bytes.count, 0x30...0x39 ~= bytes[position] {
            number = number * 10 + Int(bytes[position] - 0x30)
            position += 1
            guard number <= 1_000_000 else { throw .damaged("a number of its header is too large") }
        }
        guard position > start else { throw .damaged("its header ends too early") }
        return number
    }
}
