/// Fits the map from modules to pixels to the borders of three finder patterns and to further known points.
///
/// Each border point lies on a straight line of the symbol, and each centre of an alignment pattern on a point. In the
/// map from image to symbol these are linear equations; they are solved by least squares, and again with the weights
/// that the first solution gives. All of it is in the symbol's units, with (0, 0) at the outer corner.
struct GridFit {
    private let triple: FinderTriple
    private let patterns: [FinderPattern]
    private let scale: Double
    /// Known points: where they are in the image, and where in the symbol.
    var anchors: [(place: ImagePoint, module: ImagePoint)] = []
    /// The number of modules to a side, estimated from the legs and the modules along them.
    private(set) var estimatedSize = 0.0

    /// Measures the legs by the patterns' own size; nil if the result is not a size of a symbol.
    init?(_ triple: FinderTriple) {
        self.triple = triple
        patterns = [triple.corner, triple.right, triple.below]
        let (a, b) = (triple.right.centre - triple.corner.centre, triple.below.centre - triple.corner.centre)
        scale = 2 / (a.length + b.length)
        let across = sizeAlong(a, triple.corner, triple.right)
        let downward = sizeAlong(b, triple.corner, triple.below)
        estimatedSize = (across + downward) / 2
        guard estimatedSize > 18, estimatedSize < 200, (across - downward).magnitude < 0.3 * estimatedSize else {
            return nil
        }
    }

    /// The size estimated from one leg: its length over the mean module of its two patterns, measured along it.
    private func sizeAlong(_ leg: ImagePoint, _ first: FinderPattern, _ second: FinderPattern) -> Double {
        var modules: [Double] = []
        for pattern in [first, second] {
            // A border point's distance along the leg is its reach if the ray leaves through a side across the leg.
            var sum = (total: 0.0, count: 0.0)
            for border in pattern.borders {
                let offset = border.place - pattern.centre
                let along = offset.dot(leg).magnitude / leg.length
                guard offset.cross(leg).magnitude / leg.length < 0.5 * along else { continue }
                sum.total += along / border.reach
                sum.count += 1
            }
            if sum.count > 0 { modules.append(sum.total / sum.count) }
        }
        guard !modules.isEmpty else { return 0 }
        return leg.length / (modules.reduce(0, +) / Double(modules.count)) + 7
    }

    /// The map from modules to the image for a symbol of `size` modules.
    func perspective(size: Int, rounds: Int = 3) -> Perspective? {
        let span = Double(size - 7)
        let origin = triple.corner.centre
        let (a, b) = ((triple.right.centre - origin) * (1 / span), (triple.below.centre - origin) * (1 / span))
        let start = Perspective(origin: origin - a * 3.5 - b * 3.5, right: a, down: b)
        guard var inward = start.inverse else { return nil }
        for _ in 0..<rounds {
            guard let better = solve(size: size, from: inward) else { return nil }
            inward = better
        }
        guard let outward = inward.inverse, outward.cells[8].magnitude > 1e-12 else { return nil }
        let last = outward.cells[8]
        let result = Perspective(cells: outward.cells.map { $0 / last })
        return result.cells.allSatisfy(\.isFinite) ? result : nil
    }

    /// One round of least squares from `inward`, the map from the image to the symbol.
    private func solve(size: Int, from inward: Perspective) -> Perspective? {
        let far = Double(size) - 3.5
        let centres = [ImagePoint(x: 3.5, y: 3.5), ImagePoint(x: far, y: 3.5), ImagePoint(x: 3.5, y: far)]
        let origin = triple.corner.centre
        var equations = NormalEquations()
        func add(_ place: ImagePoint, u: Double?, v: Double?, weight: Double) {
            let depth = inward.cells[6] * place.x + inward.cells[7] * place.y + inward.cells[8]
            guard depth.magnitude > 1e-9 else { return }
            let factor = weight * (inward.cells[8] + inward.cells[6] * origin.x + inward.cells[7] * origin.y) / depth
            let (x, y) = ((place.x - origin.x) * scale, (place.y - origin.y) * scale)
            if let u { equations.add(x, y, target: u, isVertical: false, weight: factor * factor) }
            if let v { equations.add(x, y, target: v, isVertical: true, weight: factor * factor) }
        }
        for (centre, pattern) in zip(centres, patterns) {
            for border in pattern.borders {
                guard let here = inward(border.place.x, border.place.y) else { continue }
                let (u, v) = (here.x - centre.x, here.y - centre.y)
                if u.magnitude > 1.2 * v.magnitude {
                    add(border.place, u: centre.x + (u < 0 ? -border.reach : border.reach), v: nil, weight: 0.3)
                } else if v.magnitude > 1.2 * u.magnitude {
                    add(border.place, u: nil, v: centre.y + (v < 0 ? -border.reach : border.reach), weight: 0.3)
                }
            }
            add(pattern.centre, u: centre.x, v: centre.y, weight: 0.5)
        }
        for anchor in anchors { add(anchor.place, u: anchor.module.x, v: anchor.module.y, weight: 1) }
        guard let found = equations.solved() else { return nil }
        return Perspective(cells: found + [1]).afterShift(origin, stretch: scale)
    }
}

/// Least squares for the eight unknowns of a perspective map.
private struct NormalEquations {
    private static let unknowns = 8
    private var matrix = [Double](repeating: 0, count: 64)
    private var right = [Double](repeating: 0, count: 8)

    /// The equation that a point (x, y) has the coordinate `target`, in the first or (vertical) the second direction.
    mutating func add(_ x: Double, _ y: Double, target: Double, isVertical: Bool, weight: Double) {
        let first = isVertical ? 3 : 0
        let terms = [(first, x), (first + 1, y), (first + 2, 1), (6, -target * x), (7, -target * y)]
        for (row, value) in terms {
            for (column, other) in terms { matrix[row * 8 + column] += weight * value * other }
            right[row] += weight * value * target
        }
    }

    /// Gaussian elimination with pivots; nil if the equations do not determine the map.
    func solved() -> [Double]? {
        var (m, r) = (matrix, right)
        let n = Self.unknowns
        for column in 0..<n {
            guard let pivot = (column..<n).max(by: { m[$0 * n + column].magnitude < m[$1 * n + column].magnitude }),
                m[pivot * n + column].magnitude > 1e-12
            else { return nil }
            if pivot != column {
                for index in 0..<n { m.swapAt(pivot * n + index, column * n + index) }
                r.swapAt(pivot, column)
            }
            for row in 0..<n where row != column {
                let factor = m[row * n + column] / m[column * n + column]
                guard factor != 0 else { continue }
                for index in column..<n { m[row * n + index] -= factor * m[column * n + index] }
                r[row] -= factor * r[column]
            }
        }
        let solution = (0..<n).map { r[$0] / m[$0 * n + $0] }
        return solution.allSatisfy(\.isFinite) ? solution : nil
    }
}
