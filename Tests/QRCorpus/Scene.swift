internal import Foundation
internal import QRCode
internal import TestSupport

/// An image while it is made: light from 0 to 1 for each pixel.
struct Scene {
    private let width: Int
    private let height: Int
    private let paper: Float
    private var light: [Float]

    /// Nothing but paper.
    init(width: Int, height: Int, paper: Float) {
        self.width = width
        self.height = height
        self.paper = paper
        light = [Float](repeating: paper, count: width * height)
    }

    /// Draws a symbol and its quiet zone, each pixel the mean of 16 places in it.
    mutating func draw(_ symbol: QRSymbol, seen view: View) {
        let ink: Float = 0.08
        let size = symbol.size
        let zone = Double(QRSymbol.quietZone)
        let place = view.modulePlace(size: size)
        let box = box(of: size, seen: view, margin: zone)
        for y in box.rows {
            for x in box.columns {
                var sum: Float = 0
                for part in 0..<16 {
                    let right = (Double(part % 4) + 0.5) / 4 - 0.5
                    let down = (Double(part / 4) + 0.5) / 4 - 0.5
                    guard let (u, v) = place(Double(x) + right, Double(y) + down) else { continue }
                    guard u > -zone, v > -zone, u < Double(size) + zone, v < Double(size) + zone else {
                        sum += light[y * width + x]
                        continue
                    }
                    let isDark = symbol[Int(u.rounded(.down)), Int(v.rounded(.down))] != view.isInverted
                    sum += isDark ? ink : paper
                }
                light[y * width + x] = sum / 16
            }
        }
    }

    /// Covers a square with about half of the modules that the level corrects, away from the function patterns.
    mutating func cover(_ symbol: QRSymbol, seen view: View, using random: inout SplitMix64) {
        let share: [ErrorCorrectionLevel: Double] = [.l: 0.03, .m: 0.06, .q: 0.1, .h: 0.13]
        let side = Double(symbol.size) * ((share[symbol.level] ?? 0) * 0.8).squareRoot()
        let room = Double(symbol.size) - 9 - side
        let left = 9 + Double.random(in: 0...max(0, room), using: &random)
        let top = 9 + Double.random(in: 0...max(0, room), using: &random)
        let shade = Float.random(in: 0.1...0.9, using: &random)
        let place = view.modulePlace(size: symbol.size)
        let box = box(of: symbol.size, seen: view, margin: 0)
        for y in box.rows {
            for x in box.columns {
                guard let (u, v) = place(Double(x), Double(y)), u > left, v > top, u < left + side, v < top + side
                else { continue }
                light[y * width + x] = shade
            }
        }
    }

    /// Fills the image with patterns that are no code but cost readers work: noise, a mosaic, or squares in squares.
    mutating func drawClutter(_ kind: Int, using random: inout SplitMix64) {
        if kind == 0 {
            light = light.map { _ in 0.5 }
            addNoise(0.2, using: &random)
        }
        let side = kind == 1 ? Int.random(in: 2...4, using: &random) : 2 * Int.random(in: 8...14, using: &random)
        for top in stride(from: 0, to: kind == 0 ? 0 : height, by: side) {
            for left in stride(from: 0, to: width, by: side) {
                let isDark = Bool.random(using: &random)
                for y in top..<min(height, top + side) {
                    for x in left..<min(width, left + side) {
                        // Rings around the middle, as those of a finder pattern.
                        let ring = 7 * max(abs(2 * (x - left) - side + 1), abs(2 * (y - top) - side + 1)) / (2 * side)
                        let isInk = kind == 1 ? isDark : ring != 2 && ring < 4
                        if isInk { light[y * width + x] = 0.1 }
                    }
                }
            }
        }
    }

    /// Applies the effects of lamps, lens and sensor, which come between paper and image.
    mutating func distort(_ distortion: Distortion, using random: inout SplitMix64) {
        func between(_ low: Double, _ high: Double) -> Double { .random(in: low...high, using: &random) }
        switch distortion {
        case .clean, .mirrored, .inverted, .rotated, .perspective, .small, .several, .empty:
            blur(0.5)
            addNoise(0.008, using: &random)
        case .blurred:
            blur(between(0.9, 2))
            addNoise(0.008, using: &random)
        case .noisy:
            blur(0.5)
            addNoise(between(0.05, 0.16), using: &random)
        case .uneven:
            shade(using: &random)
            blur(0.6)
            addNoise(0.012, using: &random)
        case .faint:
            let (scale, ground) = (between(0.07, 0.25), between(0.1, 0.7))
            for index in light.indices { light[index] = Float(ground) + light[index] * Float(scale) }
            blur(0.6)
            addNoise(0.008, using: &random)
        case .occluded:
            blur(0.6)
            addNoise(0.012, using: &random)
        case .handheld:
            shade(using: &random, darkest: 0.5)
            blur(between(0.6, 1.3))
            addNoise(between(0.01, 0.05), using: &random)
        }
    }

    /// The light as an image.
    func image() throws -> GreyImage {
        try GreyImage(
            width: width,
            height: height,
            pixels: light.map { UInt8(max(0, min(255, ($0 * 255).rounded()))) }
        )
    }

    /// The pixels among which a symbol lies.
    private func box(of size: Int, seen view: View, margin: Double) -> (columns: Range<Int>, rows: Range<Int>) {
        let (near, far) = (-margin, Double(size) + margin)
        let corners = [(near, near), (far, near), (near, far), (far, far)]
            .map { view.imagePlace(size: size, x: $0.0, y: $0.1) }
        func range(_ values: [Double], below limit: Int) -> Range<Int> {
            let low = max(0, min(limit, Int(values.min() ?? 0) - 1))
            return low..<max(low, min(limit, Int(values.max() ?? 0) + 2))
        }
        return (range(corners.map(\.x), below: width), range(corners.map(\.y), below: height))
    }

    /// A lamp to one side and the edge of a shadow.
    private mutating func shade(using random: inout SplitMix64, darkest: Float = 0.22) {
        let angle = Double.random(in: 0..<2 * .pi, using: &random)
        let direction = (x: Float(cos(angle)), y: Float(sin(angle)))
        let edge = Float.random(in: -0.3...0.3, using: &random)
        let softness = Float.random(in: 0.1...0.6, using: &random)
        for y in 0..<height {
            for x in 0..<width {
                let across =
                    (Float(x) / Float(width) - 0.5) * direction.x + (Float(y) / Float(height) - 0.5) * direction.y
                let step = max(0, min(1, (across - edge) / softness + 0.5))
                light[y * width + x] *= darkest + (1 - darkest) * step
            }
        }
    }

    /// A Gaussian of this deviation in pixels, along rows and then along columns.
    private mutating func blur(_ deviation: Double) {
        let reach = Int((3 * deviation).rounded(.up))
        let weights = (-reach...reach).map { Float(exp(-Double($0 * $0) / (2 * deviation * deviation))) }
        let total = weights.reduce(0, +)
        let kernel = weights.map { $0 / total }
        var target = light
        for (step, limit) in [(1, width), (width, height)] {
            for y in 0..<height {
                for x in 0..<width {
                    let position = step == 1 ? x : y
                    let base = y * width + x
                    var sum: Float = 0
                    for index in -reach...reach {
                        let other = max(0, min(limit - 1, position + index))
                        sum += kernel[index + reach] * light[base + (other - position) * step]
                    }
                    target[base] = sum
                }
            }
            light = target
        }
    }

    /// Noise that is nearly Gaussian: the sum of eight bytes.
    private mutating func addNoise(_ deviation: Double, using random: inout SplitMix64) {
        let scale = Float(deviation / 209)
        for index in light.indices {
            var bits = random.next()
            var sum: Int32 = -1_020
            for _ in 0..<8 {
                sum += Int32(bits & 0xFF)
                bits >>= 8
            }
            light[index] += Float(sum) * scale
        }
    }
}
