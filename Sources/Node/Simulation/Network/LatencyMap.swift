/// The one-way latency between two nodes, computed from the seed whenever it is asked for: ten thousand nodes have
/// fifty million pairs.
struct LatencyMap {
    private let seed: UInt64
    private let roundTrip: NetworkModel.RoundTrip
    private let asymmetry: Double

    init(_ model: NetworkModel, seed: UInt64) {
        self.seed = seed
        roundTrip = model.roundTrip
        asymmetry = model.asymmetry
    }

    /// Nanoseconds from `source` to `target`.
    func oneWay(from source: Int, to target: Int) -> Int64 {
        let pair = number(UInt64(min(source, target)), UInt64(max(source, target)))
        let roundTrip = self.roundTrip(of: source, and: target, pair: pair)
        guard asymmetry > 0, Self.share(Self.mixed(pair ^ 0xA5)) < asymmetry else { return roundTrip / 2 }
        let isSlow = (source < target) == (pair & 1 == 0)
        return isSlow ? roundTrip * 3 / 4 : roundTrip / 4
    }

    private func roundTrip(of source: Int, and target: Int, pair: UInt64) -> Int64 {
        switch roundTrip {
        case .fixed(let duration): return duration.nanoseconds
        case .uniform(let low, let high):
            return low.nanoseconds + Int64(Self.share(pair) * Double((high - low).nanoseconds))
        case .coordinates(let low, let high):
            let (first, second) = (place(of: source), place(of: target))
            let (x, y) = (first.x - second.x, first.y - second.y)
            // The diagonal of the square is the square root of 2; roots are exact in IEEE 754, so this is no libm.
            let share = ((x * x + y * y) / 2).squareRoot()
            return low.nanoseconds + Int64(share * Double((high - low).nanoseconds))
        }
    }

    private func place(of node: Int) -> (x: Double, y: Double) {
        let number = self.number(UInt64(node), .max)
        return (Self.share(number), Self.share(Self.mixed(number)))
    }

    private func number(_ first: UInt64, _ second: UInt64) -> UInt64 {
        Self.mixed(Self.mixed(seed ^ first) &+ second)
    }

    /// From 0 to below 1.
    private static func share(_ number: UInt64) -> Double { Double(number >> 11) / 0x1p53 }

    /// The finishing step of SplitMix64.
    private static func mixed(_ number: UInt64) -> UInt64 {
        var mixed = number &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
