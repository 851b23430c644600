/// Three finder patterns that may belong to one symbol, in the order in which an unmirrored symbol has them.
struct FinderTriple {
    let corner: FinderPattern
    let right: FinderPattern
    let below: FinderPattern
    /// How far the three are from a right angle with equal legs: the best are tried first.
    let strain: Double

    /// Triples looked at, of those that the patterns allow.
    static let most = 64
    /// Patterns that are combined: those that most rows led to.
    private static let mostPatterns = 40

    /// The plausible triples among `patterns`, best first.
    static func all(among patterns: [FinderPattern], budget: inout WorkBudget) -> [FinderTriple] {
        let strongest = patterns.sorted { Double($0.hits) * $1.module > Double($1.hits) * $0.module }
            .prefix(mostPatterns)
        let chosen = Array(strongest)
        var triples: [FinderTriple] = []
        for (index, corner) in chosen.enumerated() {
            let partners = chosen.indices.filter { $0 != index && corner.mayStandBeside(chosen[$0]) }
            budget.spend(chosen.count + partners.count * partners.count / 8)
            for (position, first) in partners.enumerated() {
                for second in partners[(position + 1)...] {
                    guard let triple = FinderTriple(corner: corner, chosen[first], chosen[second]) else { continue }
                    triples.append(triple)
                }
            }
        }
        return Array(triples.sorted { $0.strain < $1.strain }.prefix(most))
    }

    private init?(corner: FinderPattern, _ first: FinderPattern, _ second: FinderPattern) {
        let (a, b) = (first.centre - corner.centre, second.centre - corner.centre)
        let (long, short) = (max(a.length, b.length), min(a.length, b.length))
        let cosine = a.dot(b).magnitude / max(1e-9, a.length * b.length)
        guard short > 0, long < 3 * short, cosine < 0.8, first.mayStandBeside(second) else { return nil }
        self.corner = corner
        (right, below) = a.cross(b) > 0 ? (first, second) : (second, first)
        let modules = [corner.module, first.module, second.module]
        let spread = (modules.max() ?? 1) / max(1e-9, modules.min() ?? 1)
        strain = (long / short - 1) + cosine + (spread - 1) / 2
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
