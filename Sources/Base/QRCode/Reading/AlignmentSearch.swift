/// Searches for alignment patterns at the places that the current map predicts, and fits the map to those that it finds.
struct AlignmentSearch {
    /// The radius of the search around the predicted place, in modules.
    private static let reach = 2.5
    /// The number of steps in a module.
    private static let density = 2
    /// The least correlation of pattern and image, of which 1 is identical and 0 is chance.
    private static let likeness = 0.6

    let pyramid: ImagePyramid
    let module: Double
    let isInverted: Bool

    /// Adds the patterns of `version` to `fit`, those near the finder patterns first; returns the best map.
    func refine(_ fit: inout GridFit, version: QRVersion, budget: inout WorkBudget) -> Perspective? {
        let size = version.size
        guard var map = fit.perspective(size: size) else { return nil }
        let layer = pyramid.layer(forModule: module, wanted: 2.5)
        for centre in Self.centres(of: version) {
            guard !budget.isSpent else { break }
            let wanted = ImagePoint(x: Double(centre.x) + 0.5, y: Double(centre.y) + 0.5)
            guard let found = locate(wanted, by: map, in: layer, budget: &budget),
                let place = map(found.x, found.y)
            else { continue }
            fit.anchors.append((place, wanted))
            guard let better = fit.perspective(size: size, rounds: 2) else { break }
            budget.spend(2_000)
            map = better
        }
        return map
    }

    /// The centres of a version's alignment patterns, in the order of their distance from the finder patterns.
    private static func centres(of version: QRVersion) -> [(x: Int, y: Int)] {
        let places = version.alignmentCentres
        guard let first = places.first, let last = places.last else { return [] }
        var centres: [(x: Int, y: Int)] = []
        for y in places {
            for x in places where !(x == first && y == first || x == first && y == last || x == last && y == first) {
                centres.append((x, y))
            }
        }
        func distance(_ centre: (x: Int, y: Int)) -> Int {
            [(first, first), (last, first), (first, last)].map { max(abs(centre.x - $0.0), abs(centre.y - $0.1)) }
                .min() ?? 0
        }
        return centres.sorted { (distance($0), $0.y, $0.x) < (distance($1), $1.y, $1.x) }
    }

    /// Returns the place, in modules, of the pattern expected at `wanted`; nil if none is like it.
    private func locate(
        _ wanted: ImagePoint,
        by map: Perspective,
        in layer: ImageLayer,
        budget: inout WorkBudget
    ) -> ImagePoint? {
        let density = Self.density
        let half = Int((Self.reach + 2) * Double(density))
        let side = 2 * half + 1
        var patch = [Double](repeating: 0, count: side * side)
        let sign: Double = isInverted ? -1 : 1
        for row in 0..<side {
            for column in 0..<side {
                let x = wanted.x + Double(column - half) / Double(density)
                let y = wanted.y + Double(row - half) / Double(density)
                guard let place = map(x, y), let tone = layer.tone(place.x, place.y) else { continue }
                patch[row * side + column] = tone * sign
            }
        }
        budget.spend(side * side)
        let reach = half - 2 * density
        var scores = [Double](repeating: -1, count: (2 * reach + 1) * (2 * reach + 1))
        for row in 0...2 * reach {
            for column in 0...2 * reach {
                let away = Double((row - reach) * (row - reach) + (column - reach) * (column - reach))
                // Of two that are as good, the nearer one.
                scores[row * (2 * reach + 1) + column] =
                    Self.likeness(of: patch, side: side, column: column, row: row) - 0.004 * away
            }
        }
        budget.spend(scores.count * 25 / 4)
        guard let best = scores.indices.max(by: { scores[$0] < scores[$1] }), scores[best] > Self.likeness else {
            return nil
        }
        let (row, column) = best.quotientAndRemainder(dividingBy: 2 * reach + 1)
        func score(_ x: Int, _ y: Int) -> Double? {
            guard 0...2 * reach ~= x, 0...2 * reach ~= y else { return nil }
            return scores[y * (2 * reach + 1) + x]
        }
        let across = Self.peak(score(column - 1, row), scores[best], score(column + 1, row))
        let downward = Self.peak(score(column, row - 1), scores[best], score(column, row + 1))
        return ImagePoint(
            x: wanted.x + (Double(column - reach) + across) / Double(density),
            y: wanted.y + (Double(row - reach) + downward) / Double(density)
        )
    }

    /// Returns the offset of the top of a parabola through three scores from the middle one.
    private static func peak(_ before: Double?, _ best: Double, _ after: Double?) -> Double {
        guard let before, let after else { return 0 }
        let bend = before + after - 2 * best
        guard bend < -1e-9 else { return 0 }
        return min(0.5, max(-0.5, (before - after) / (2 * bend)))
    }

    /// Returns the likeness of the 5x5 modules at a place of the patch to an alignment pattern, from -1 to 1.
    private static func likeness(of patch: [Double], side: Int, column: Int, row: Int) -> Double {
        var sum = 0.0
        var energy = 0.0
        for y in 0..<5 {
            for x in 0..<5 {
                let tone = patch[(row + y * density) * side + column + x * density]
                let isLight = max(abs(x - 2), abs(y - 2)) == 1
                sum += isLight ? tone : -tone
                energy += tone * tone
            }
        }
        guard energy > 1 else { return 0 }
        return sum / (25 * energy).squareRoot()
    }
}
