internal import QRCode

/// The description of the pixels in the first chunk of a PNG.
struct PNGHeader {
    /// The meaning of a pixel's samples.
    enum Color: UInt8 {
        case grey = 0
        case rgb = 2
        case palette = 3
        case greyAlpha = 4
        case rgbAlpha = 6

        var channels: Int {
            switch self {
            case .grey, .palette: 1
            case .greyAlpha: 2
            case .rgb: 3
            case .rgbAlpha: 4
            }
        }

        var depths: [Int] {
            switch self {
            case .grey: [1, 2, 4, 8, 16]
            case .palette: [1, 2, 4, 8]
            case .rgb, .greyAlpha, .rgbAlpha: [8, 16]
            }
        }
    }

    /// Some of the image's pixels, stored as an image of their own.
    struct Pass {
        let left: Int
        let top: Int
        let right: Int
        let down: Int
        let width: Int
        let height: Int
    }

    /// The most bytes that are decompressed, which bounds the time: 108 million pixels of four bytes.
    private static let rawByteLimit = 448 << 20

    let width: Int
    let height: Int
    /// Bits in a sample.
    let depth: Int
    let color: Color
    private let isInterlaced: Bool

    init(_ content: ArraySlice<UInt8>) throws(ImageFileError) {
        let bytes = Array(content)
        guard bytes.count == 13 else { throw .damaged("its header has \(bytes.count) bytes instead of 13") }
        width = bytes[0..<4].reduce(0) { $0 << 8 | Int($1) }
        height = bytes[4..<8].reduce(0) { $0 << 8 | Int($1) }
        try ImageFile.check(width: width, height: height)
        guard let color = Color(rawValue: bytes[9]), color.depths.contains(Int(bytes[8])) else {
            throw .damaged("its colour type does not exist")
        }
        depth = Int(bytes[8])
        self.color = color
        guard bytes[10] == 0, bytes[11] == 0, bytes[12] <= 1 else {
            throw .damaged("its compression or interlacing is unknown")
        }
        isInterlaced = bytes[12] == 1
        guard rawCount <= Self.rawByteLimit else { throw .size(width: width, height: height) }
    }

    private var pixelBits: Int { depth * color.channels }

    /// The distance in bytes to the pixel on the left, for the filters.
    var pixelBytes: Int { max(1, pixelBits / 8) }

    /// The bytes of a row of `width` pixels.
    func rowBytes(of width: Int) -> Int { (width * pixelBits + 7) / 8 }

    /// The whole image, or the seven passes of Adam7.
    var passes: [Pass] {
        guard isInterlaced else {
            return [Pass(left: 0, top: 0, right: 1, down: 1, width: width, height: height)]
        }
        let grid = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
        return grid.map { left, top, right, down in
            Pass(
                left: left,
                top: top,
                right: right,
                down: down,
                width: max(0, (width - left + right - 1) / right),
                height: max(0, (height - top + down - 1) / down)
            )
        }
    }

    /// The bytes of all rows, each with the number of its filter.
    var rawCount: Int {
        passes.filter { $0.width > 0 }.reduce(0) { $0 + $1.height * (1 + rowBytes(of: $1.width)) }
    }
}
