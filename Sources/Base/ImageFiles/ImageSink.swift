internal import QRCode

/// The pixels of an image as they are read, averaged where its sides are longer than those of a `GreyImage`.
///
/// The memory depends on the sides of the result, not on those of the file. Each pixel of the result is the mean of the
/// pixels of the file that fall on it (box sampling).
struct ImageSink {
    /// The target column of each column, and the target row of each row.
    private let columns: [Int]
    private let rows: [Int]
    private let width: Int
    private let height: Int
    /// The sums of the pixels that fall on each target, if the image is made smaller; 65 535 x 65 535 of them fit.
    private var sums: [UInt32]
    private var pixels: [UInt8]

    /// Allocates memory for the result; the sides are those of the file, and checked.
    init(width: Int, height: Int) {
        let longest = max(width, height)
        let limit = GreyImage.longestSide
        func side(_ side: Int) -> Int { longest <= limit ? side : max(1, side * limit / longest) }
        (self.width, self.height) = (side(width), side(height))
        let (targetWidth, targetHeight) = (self.width, self.height)
        columns = (0..<width).map { $0 * targetWidth / width }
        rows = (0..<height).map { $0 * targetHeight / height }
        let count = targetWidth * targetHeight
        sums = longest <= limit ? [] : [UInt32](repeating: 0, count: count)
        pixels = [UInt8](repeating: 255, count: longest <= limit ? count : 0)
    }

    /// Adds one pixel of the file.
    mutating func add(_ grey: UInt8, column: Int, row: Int) {
        let target = rows[row] * width + columns[column]
        if sums.isEmpty { pixels[target] = grey } else { sums[target] += UInt32(grey) }
    }

    /// Returns the result once every pixel was added.
    consuming func image() throws(ImageFileError) -> GreyImage {
        guard !sums.isEmpty else { return try ImageFile.image(width: width, height: height, pixels: pixels) }
        let across = Self.counts(columns, width)
        let down = Self.counts(rows, height)
        var pixels = [UInt8](repeating: 255, count: sums.count)
        for row in 0..<height {
            for column in 0..<width {
                let count = across[column] * down[row]
                let sum = sums[row * width + column]
                pixels[row * width + column] = UInt8(clamping: (sum + count / 2) / count)
            }
        }
        return try ImageFile.image(width: width, height: height, pixels: pixels)
    }

    /// The number of sources of each target.
    private static func counts(_ targets: [Int], _ count: Int) -> [UInt32] {
        var counts = [UInt32](repeating: 0, count: count)
        for target in targets { counts[target] += 1 }
        return counts
    }
}
