internal import Foundation
internal import TestSupport

/// The position of a symbol before the camera.
struct View {
    /// The place of the symbol's middle in the image, in pixels.
    var middle: (x: Double, y: Double)
    /// Pixels a module has in the middle.
    var module = 4.0
    /// Turned in its plane, in degrees.
    var turn = 0.0
    /// Tilted about the horizontal and the vertical, in degrees.
    var tilt = (x: 0.0, y: 0.0)
    /// The camera's distance in sides of the symbol.
    var distance = 4.0
    var isMirrored = false
    var isInverted = false

    init(middle: (Double, Double)) { self.middle = middle }

    /// Draws the numbers that belong to a distortion, for a symbol of `size` modules with `room` pixels to lie in.
    mutating func choose(_ distortion: Distortion, size: Int, room: Double, using random: inout SplitMix64) {
        let widest = room / Double(size + 8)
        func between(_ low: Double, _ high: Double) -> Double { .random(in: low...max(low, high), using: &random) }
        module = between(2, min(8, widest))
        switch distortion {
        case .clean, .mirrored, .inverted:
            turn = between(-4, 4) * (distortion == .clean ? 0 : 1)
        case .small:
            module = between(1.5, 2.3)
            turn = between(-10, 10)
        case .rotated:
            module = between(2.2, min(7, widest / 1.42))
            turn = between(0, 360)
        case .perspective:
            module = between(2.6, min(8, widest))
            turn = between(-30, 30)
            tilt = (between(-45, 45), between(-45, 45))
            distance = between(1.6, 4)
        case .blurred, .noisy, .uneven, .faint, .occluded, .several, .empty:
            turn = between(-15, 15)
            module = between(2.2, min(7, widest / 1.25))
        case .handheld:
            module = between(2.5, min(7, widest / 1.2))
            turn = between(-20, 20)
            tilt = (between(-30, 30), between(-30, 30))
            distance = between(2, 4)
        }
        isMirrored = distortion == .mirrored
        isInverted = distortion == .inverted
        let slack = max(0, room - module * Double(size + 8)) / 4
        middle.x += between(-slack, slack)
        middle.y += between(-slack, slack)
    }

    /// Nine numbers, row by row: from modules, counted from the symbol's middle, to pixels.
    private func matrix(size: Int) -> [Double] {
        let radian = Double.pi / 180
        let (sine, cosine) = (sin(turn * radian), cos(turn * radian))
        let (sineX, cosineX) = (sin(tilt.x * radian), cos(tilt.x * radian))
        let (sineY, cosineY) = (sin(tilt.y * radian), cos(tilt.y * radian))
        // The plane's two axes after the turn and both tilts, as seen from the camera.
        func rotated(_ x: Double, _ y: Double) -> (x: Double, y: Double, z: Double) {
            let (a, b) = (cosine * x - sine * y, sine * x + cosine * y)
            let (c, d) = (cosineX * b, sineX * b)
            return (cosineY * a + sineY * d, c, cosineY * d - sineY * a)
        }
        let right = rotated(isMirrored ? -1 : 1, 0)
        let down = rotated(0, 1)
        let far = distance * Double(size)
        let focal = module * far
        return [
            focal * right.x + middle.x * right.z, focal * down.x + middle.x * down.z, middle.x * far,
            focal * right.y + middle.y * right.z, focal * down.y + middle.y * down.z, middle.y * far,
            right.z, down.z, far,
        ]
    }

    /// The module, also between modules, that a place in the image shows; nil behind the camera.
    func modulePlace(size: Int) -> (_ x: Double, _ y: Double) -> (x: Double, y: Double)? {
        let m = matrix(size: size)
        let inverse = [
            m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
            m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
            m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3],
        ]
        let half = Double(size) / 2
        return { x, y in
            let depth = inverse[6] * x + inverse[7] * y + inverse[8]
            guard depth.magnitude > 1e-9 else { return nil }
            return (
                (inverse[0] * x + inverse[1] * y + inverse[2]) / depth + half,
                (inverse[3] * x + inverse[4] * y + inverse[5]) / depth + half
            )
        }
    }

    /// Returns the place in the image of a place in the symbol, which is given in modules.
    func imagePlace(size: Int, x: Double, y: Double) -> (x: Double, y: Double) {
        let m = matrix(size: size)
        let (a, b) = (x - Double(size) / 2, y - Double(size) / 2)
        let depth = m[6] * a + m[7] * b + m[8]
        return ((m[0] * a + m[1] * b + m[2]) / depth, (m[3] * a + m[4] * b + m[5]) / depth)
    }
}
