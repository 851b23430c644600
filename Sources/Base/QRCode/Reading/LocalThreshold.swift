/// The grey level between dark and light for each block of 8x8 pixels, from its surroundings.
///
/// The pixels around a block are treated as a mixture of two levels. Mean, variance and third moment determine both levels
/// (Tsai's moment-preserving threshold), so the level between them is right even where dark or light prevails, and symmetric
/// noise does not shift it. The window grows until its two levels differ by more than the noise: within a large module, or
/// on blank paper, the threshold is determined by a larger area.
struct LocalThreshold {
    static let blockSide = 8
    /// Windows reach this many blocks to each side, the smallest that shows a contrast counts.
    private static let reaches = [2, 4, 8, 16, 64]

    let columns: Int
    let rows: Int
    /// A pixel below its block's level is dark.
    private(set) var levels: [UInt8]
    /// The deviation of pixels where the image is calm.
    let noise: Double

    init(_ image: GreyImage) {
        columns = (image.width + Self.blockSide - 1) / Self.blockSide
        rows = (image.height + Self.blockSide - 1) / Self.blockSide
        levels = []
        let sums = BlockSums(image, columns: columns, rows: rows)
        noise = sums.noise
        let whole = sums.window(0..<columns, 0..<rows)
        let enough = max(6, min(3 * sums.noise, 0.2 * whole.contrast))
        levels = [UInt8](repeating: whole.middle, count: columns * rows)
        for row in 0..<rows {
            for column in 0..<columns {
                for reach in Self.reaches {
                    let moments = sums.window(
                        max(0, column - reach)..<min(columns, column + reach + 1),
                        max(0, row - reach)..<min(rows, row + reach + 1)
                    )
                    guard moments.contrast >= enough else { continue }
                    levels[row * columns + column] = moments.middle
                    break
                }
            }
        }
    }
}

/// Sums of the pixels' first three powers over blocks, as a summed-area table: any window in constant time.
private struct BlockSums {
    private let stride: Int
    private var table: [SIMD4<Double>]
    /// The deviation of pixels in the image's calm blocks.
    private(set) var noise = 0.0

    init(_ image: GreyImage, columns: Int, rows: Int) {
        stride = columns + 1
        table = [SIMD4<Double>](repeating: .zero, count: (columns + 1) * (rows + 1))
        var deviations = [Int](repeating: 0, count: 129)
        for row in 0..<rows {
            var running = SIMD4<Double>.zero
            for column in 0..<columns {
                let sums = Self.block(image, column: column, row: row)
                let deviation = Moments(sums).variance.squareRoot()
                deviations[Int(min(128, max(0, deviation)))] += 1
                running += sums
                let place = (row + 1) * stride + column + 1
                table[place] = table[place - stride] + running
            }
        }
        var calm = columns * rows / 5
        for (deviation, count) in deviations.enumerated() {
            calm -= count
            guard calm < 0 else { continue }
            noise = Double(deviation) + 0.5
            break
        }
    }

    /// Count and power sums of one block; levels count from the middle grey, which keeps the sums small.
    private static func block(_ image: GreyImage, column: Int, row: Int) -> SIMD4<Double> {
        let side = LocalThreshold.blockSide
        let left = column * side
        let right = min(image.width, left + side)
        let bottom = min(image.height, (row + 1) * side)
        var (first, second, third): (Int32, Int32, Int32) = (0, 0, 0)
        for y in row * side..<bottom {
            let start = y * image.width
            for x in start + left..<start + right {
                let level = Int32(image.pixels[x]) &- 128
                let square = level &* level
                first &+= level
                second &+= square
                third &+= square &* level
            }
        }
        let count = Double((right - left) * (bottom - row * side))
        return SIMD4(count, Double(first), Double(second), Double(third))
    }

    func window(_ columns: Range<Int>, _ rows: Range<Int>) -> Moments {
        let upper = rows.lowerBound * stride
        let lower = rows.upperBound * stride
        return Moments(
            table[lower + columns.upperBound] - table[lower + columns.lowerBound]
                - table[upper + columns.upperBound] + table[upper + columns.lowerBound]
        )
    }
}

/// Mean, variance and third central moment of levels.
struct Moments {
    let mean: Double
    let variance: Double
    private let third: Double

    /// From count, sum, sum of squares and sum of cubes.
    init(_ sums: SIMD4<Double>) {
        let count = max(1, sums[0])
        mean = sums[1] / count
        let square = sums[2] / count
        variance = max(0, square - mean * mean)
        third = sums[3] / count - 3 * mean * square + 2 * mean * mean * mean
    }

    /// Twice the distance of the middle between the two levels from the mean.
    private var skew: Double { variance > 0.25 ? third / variance : 0 }

    /// The difference of the two levels.
    var contrast: Double { (4 * variance + skew * skew).squareRoot() }

    /// The level between the two.
    var midpoint: Double { mean + skew / 2 }

    /// The midpoint as a pixel's value.
    var middle: UInt8 { UInt8(max(1, min(255, midpoint + 128.5))) }
}
