/// Three finder patterns that may belong to one symbol, in the order in which an unmirrored symbol has them.
struct FinderTriple {
    let corner: FinderPattern
    let right: FinderPattern
    let below: FinderPattern
    /// The most triples that are examined.
    private static let most = 256
    /// The most patterns that are combined: those found in the most rows.
    private static let mostPatterns = 192
    /// Patterns with which one is combined: those next to it.
    private static let mostPartners = 24

    /// The plausible triples among `patterns`, best first.
    static func all(among patterns: [FinderPattern], budget: inout WorkBudget) -> [FinderTriple] {
        let strongest = patterns.sorted { Double($0.hits) * $1.module > Double($1.hits) * $0.module }
        let chosen = Array(strongest.prefix(mostPatterns))
        var found: [(strain: Double, corner: Int, first: Int, second: Int)] = []
        for (index, corner) in chosen.enumerated() {
            let near = chosen.indices.filter { $0 != index && corner.mayStandBeside(chosen[$0]) }
                .map { (distance: corner.centre.distance(to: chosen[$0].centre), index: $0) }
                .sorted { $0 < $1 }
                .prefix(mostPartners).map(\.index)
            budget.spend(chosen.count + near.count * near.count)
            for (position, first) in near.enumerated() {
                for second in near[(position + 1)...] {
                    guard let strain = strain(corner, chosen[first], chosen[second]) else { continue }
                    found.append((strain, index, first, second))
                }
            }
        }
        return found.sorted { $0 < $1 }.prefix(most).map {
            let (corner, first, second) = (chosen[$0.corner], chosen[$0.first], chosen[$0.second])
            let isTurning = (first.centre - corner.centre).cross(second.centre - corner.centre) > 0
            return FinderTriple(
                corner: corner,
                right: isTurning ? first : second,
                below: isTurning ? second : first
            )
        }
    }

    /// Returns the deviation of the three from a right angle with equal, short legs; nil if they cannot be of one
    /// symbol.
    private static func strain(_ corner: FinderPattern, _ first: FinderPattern, _ second: FinderPattern) -> Double? {
        let (a, b) = (first.centre - corner.centre, second.centre - corner.centre)
        let (long, short) = (max(a.length, b.length), min(a.length, b.length))
        let cosine = a.dot(b).magnitude / max(1e-9, a.length * b.length)
        guard short > 0, long < 3 * short, cosine < 0.8, first.mayStandBeside(second) else { return nil }
        let largest = max(corner.module, first.module, second.module)
        let spread = largest / max(1e-9, min(corner.module, first.module, second.module))
        // Of triples across several symbols those of one symbol are the smallest.
        let modules = 1.5 * (long + short) / (corner.module + first.module + second.module)
        return (long / short - 1) + cosine + (spread - 1) / 2 + modules / 200
    }
}

extension FinderPattern {
    /// Whether another pattern has the same polarity, a similar size, and a distance that a symbol can have.
    fileprivate func mayStandBeside(_ other: FinderPattern) -> Bool {
        guard isInverted == other.isInverted, module < 3 * other.module, other.module < 3 * module else {
            return false
        }
        // Centres are 14 to 170 modules apart, in the diagonal half as much again; sizes may be wrong by as much.
        let modules = centre.distance(to: other.centre) / ((module + other.module) / 2)
        return 8 < modules && modules < 330
    }
}
