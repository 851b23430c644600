/// A place in an image, in pixels from the centre of the upper left one; or a direction.
public struct ImagePoint: Sendable, Equatable {
    /// To the right.
    public internal(set) var x: Double
    /// Downwards.
    public internal(set) var y: Double

    static func + (left: ImagePoint, right: ImagePoint) -> ImagePoint {
        ImagePoint(x: left.x + right.x, y: left.y + right.y)
    }
    static func - (left: ImagePoint, right: ImagePoint) -> ImagePoint {
        ImagePoint(x: left.x - right.x, y: left.y - right.y)
    }
    static func * (point: ImagePoint, factor: Double) -> ImagePoint {
        ImagePoint(x: point.x * factor, y: point.y * factor)
    }

    var length: Double { (x * x + y * y).squareRoot() }

    func dot(_ other: ImagePoint) -> Double { x * other.x + y * other.y }
    func cross(_ other: ImagePoint) -> Double { x * other.y - y * other.x }
    func distance(to other: ImagePoint) -> Double { (self - other).length }
}

/// A map between two planes that keeps lines straight: nine numbers, the last of them 1 where that is possible.
struct Perspective {
    /// Row by row.
    var cells: [Double]

    /// The affine map of the origin and the units to three corners, as three finder patterns determine it.
    init(origin: ImagePoint, right: ImagePoint, down: ImagePoint) {
        cells = [right.x, down.x, origin.x, right.y, down.y, origin.y, 0, 0, 1]
    }

    init(cells: [Double]) { self.cells = cells }

    /// Maps a point; returns nil if it is behind the horizon, or if the numbers have run away.
    @inline(__always)
    func callAsFunction(_ x: Double, _ y: Double) -> ImagePoint? {
        let depth = cells[6] * x + cells[7] * y + cells[8]
        guard depth > 1e-9 else { return nil }
        let inverse = 1 / depth
        return ImagePoint(
            x: (cells[0] * x + cells[1] * y + cells[2]) * inverse,
            y: (cells[3] * x + cells[4] * y + cells[5]) * inverse
        )
    }

    /// The way back, by the adjoint matrix; nil if there is none.
    var inverse: Perspective? {
        let m = cells
        let a = m[4] * m[8] - m[5] * m[7]
        let b = m[5] * m[6] - m[3] * m[8]
        let c = m[3] * m[7] - m[4] * m[6]
        let determinant = m[0] * a + m[1] * b + m[2] * c
        guard determinant.magnitude > 1e-12, determinant.isFinite else { return nil }
        let adjoint = [
            a, m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
            b, m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
            c, m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3],
        ]
        return Perspective(cells: adjoint.map { $0 / determinant })
    }

    /// This map after a shift and a stretch of its input: `x` becomes `(x - shift) * stretch`.
    func afterShift(_ shift: ImagePoint, stretch: Double) -> Perspective {
        var result = cells
        for row in 0..<3 {
            let (a, b) = (cells[3 * row] * stretch, cells[3 * row + 1] * stretch)
            result[3 * row] = a
            result[3 * row + 1] = b
            result[3 * row + 2] = cells[3 * row + 2] - a * shift.x - b * shift.y
        }
        return Perspective(cells: result)
    }
}
