public import Failures

/// An image in shades of grey: one byte a pixel, row by row from the top, 0 for black and 255 for white.
public struct GreyImage: Sendable, Equatable {
    /// The longest side: more than any camera's frame needs.
    ///
    /// Larger images in files are made smaller while they are read.
    public static let longestSide = 4_096

    /// Pixels in a row.
    public let width: Int
    /// Rows.
    public let height: Int
    /// `width * height` bytes.
    public let pixels: [UInt8]

    /// An image from its pixels, refused if their number is not that of the sides or a side is out of bounds.
    public init(width: Int, height: Int, pixels: [UInt8]) throws(GreyImageError) {
        guard 1...Self.longestSide ~= width, 1...Self.longestSide ~= height else {
            throw .size(width: width, height: height)
        }
        guard pixels.count == width * height else { throw .pixels(count: pixels.count, expected: width * height) }
        self.init(checkedWidth: width, height: height, pixels: pixels)
    }

    init(checkedWidth width: Int, height: Int, pixels: [UInt8]) {
        self.width = width
        self.height = height
        self.pixels = pixels
    }

    /// The image with each pixel's difference from the mean of its 5x5 neighbourhood increased, which undoes some of the
    /// blur.
    func sharpened() -> GreyImage {
        let (reach, side) = (2, 5)
        guard width > side, height > side else { return self }
        var sharp = pixels
        var columns = [Int32](repeating: 0, count: width)
        for row in 0..<side - 1 {
            for x in 0..<width { columns[x] &+= Int32(pixels[row &* width &+ x]) }
        }
        for y in reach..<height - reach {
            let entering = (y + reach) * width
            for x in 0..<width { columns[x] &+= Int32(pixels[entering &+ x]) }
            var sum = columns[0] &+ columns[1] &+ columns[2] &+ columns[3]
            for x in reach..<width - reach {
                sum &+= columns[x &+ reach]
                let pixel = Int32(pixels[y &* width &+ x])
                let set = pixel &+ (3 &* (25 &* pixel &- sum)) / 50
                sharp[y &* width &+ x] = UInt8(truncatingIfNeeded: max(0, min(255, set)))
                sum &-= columns[x &- reach]
            }
            let leaving = (y - reach) * width
            for x in 0..<width { columns[x] &-= Int32(pixels[leaving &+ x]) }
        }
        return GreyImage(checkedWidth: width, height: height, pixels: sharp)
    }

    /// Half as wide and high, every pixel the mean of four: less to search, and less noise.
    func halved() -> GreyImage {
        let (halfWidth, halfHeight) = (width / 2, height / 2)
        var half = [UInt8](repeating: 0, count: halfWidth * halfHeight)
        for y in 0..<halfHeight {
            let upper = 2 * y * width
            let lower = upper + width
            let target = y * halfWidth
            for x in 0..<halfWidth {
                let sum =
                    UInt16(pixels[upper + 2 * x]) &+ UInt16(pixels[upper + 2 * x + 1])
                    &+ UInt16(pixels[lower + 2 * x]) &+ UInt16(pixels[lower + 2 * x + 1])
                half[target + x] = UInt8(truncatingIfNeeded: (sum &+ 2) >> 2)
            }
        }
        return GreyImage(checkedWidth: halfWidth, height: halfHeight, pixels: half)
    }
}

/// Why pixels are no image.
public enum GreyImageError: Error, CodedError, Equatable, Sendable, CustomStringConvertible {
    /// A side is shorter than 1 or longer than `GreyImage.longestSide` pixels.
    case size(width: Int, height: Int)
    /// The number of pixels differs from width times height.
    case pixels(count: Int, expected: Int)

    /// The failure in words, with the values that would be right.
    public var description: String {
        switch self {
        case .size(let width, let height):
            "a picture of \(width)x\(height) pixels cannot be read: each side must have 1 to \(GreyImage.longestSide)"
        case .pixels(let count, let expected):
            "\(count) pixels came where the picture's sides ask for \(expected)"
        }
    }

    package var failureCode: FailureCode { FailureCode("bad-picture", .unknown, .data) }
}
