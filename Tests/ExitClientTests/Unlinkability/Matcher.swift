internal import Foundation

/// An observer that has the transcripts of issuer and gateway, and guesses the issuance of each redeemed token.
enum Matcher: CaseIterable {
    /// The tokens of a client are redeemed in the order of their issuance; the clients are known.
    case order
    /// A token is redeemed soon after its issuance.
    case time
    /// A redemption has bytes of its issuance.
    case bytes

    /// Returns the number of redemptions for which the guess is right.
    func score(_ observation: Observation) -> Int {
        zip(guesses(observation), observation.redemptions).count { guess, redemption in guess == redemption.issuance }
    }

    /// The expected score of a guess that depends on nothing: one for each permutation that is guessed.
    func chance(_ observation: Observation) -> Double {
        switch self {
        case .order: Double(observation.clientCount)
        case .time: 1
        case .bytes: 0
        }
    }

    /// Returns a score that chance reaches with a probability of less than 1e-9.
    ///
    /// The factorial moments of the fixed points of a random permutation, and of sums over independent ones, are at
    /// most those of a Poisson distribution; so its Chernoff bound holds: P(X >= k) <= exp(k - m) (m / k)^k.
    func bound(_ observation: Observation) -> Int {
        let mean = chance(observation)
        guard mean > 0 else { return 1 }
        var score = mean
        while score - mean + score * log(mean / score) > log(1e-9) { score += 1 }
        return Int(score)
    }

    private func guesses(_ observation: Observation) -> [Int?] {
        switch self {
        case .order: Self.byOrder(observation)
        case .time: Self.byTime(observation)
        case .bytes: Self.byBytes(observation)
        }
    }

    private static func byOrder(_ observation: Observation) -> [Int?] {
        var places = Dictionary(grouping: observation.issuances.indices) { observation.issuances[$0].client }
            .mapValues { $0[...] }
        return observation.redemptions.map { places[$0.client]?.popFirst() }
    }

    /// The latest issuance before a redemption that was not guessed yet.
    private static func byTime(_ observation: Observation) -> [Int?] {
        var next = 0
        var open: [Int] = []
        return observation.redemptions.map { redemption in
            while next < observation.issuances.count, observation.issuances[next].seconds <= redemption.seconds {
                open.append(next)
                next += 1
            }
            return open.popLast()
        }
    }

    private static func byBytes(_ observation: Observation) -> [Int?] {
        let constants = ByteWindows.all(observation.constants.values.joined())
        var places: [UInt64: Int] = [:]
        for (place, issuance) in observation.issuances.enumerated() {
            for part in issuance.parts { ByteWindows.visit(part) { places[$0] = place } }
        }
        return observation.redemptions.map { redemption in
            var found: Int?
            for part in redemption.parts {
                ByteWindows.visit(part) { window in
                    if let place = places[window], !constants.contains(window) { found = place }
                }
            }
            return found
        }
    }
}
