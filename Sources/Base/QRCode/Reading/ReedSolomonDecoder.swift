/// Finds and corrects wrong codewords in a block (ISO/IEC 18004, 7.5.2 and annex B).
enum ReedSolomonDecoder {
    /// Corrects `block`, whose last `correctionCount` codewords protect the others; returns how many were wrong.
    ///
    /// Nil if more than `mostErrors` are detected; `block` is then unchanged.
    static func correct(_ block: inout [UInt8], correctionCount: Int, mostErrors: Int) -> Int? {
        let syndromes = syndromes(of: block, count: correctionCount)
        guard syndromes.contains(where: { $0 != 0 }) else { return 0 }
        let locator = locator(for: syndromes)
        let errors = locator.count - 1
        guard errors > 0, errors <= mostErrors, 2 * errors <= correctionCount else { return nil }

        // The zeros of the locator are the inverses of the wrong places' field elements.
        var places: [Int] = []
        for exponent in 0..<block.count where evaluate(locator, at: GaloisField.power(-exponent)) == 0 {
            places.append(exponent)
        }
        guard places.count == errors else { return nil }

        let evaluator = product(syndromes, locator, terms: correctionCount)
        let derivative = locator.indices.dropFirst().map { $0 % 2 == 1 ? locator[$0] : 0 }
        var corrected = block
        for exponent in places {
            let inverse = GaloisField.power(-exponent)
            let slope = evaluate(derivative, at: inverse)
            guard slope != 0 else { return nil }
            let quotient = GaloisField.multiply(evaluate(evaluator, at: inverse), GaloisField.inverse(of: slope))
            corrected[block.count - 1 - exponent] ^= GaloisField.multiply(GaloisField.power(exponent), quotient)
        }
        guard !self.syndromes(of: corrected, count: correctionCount).contains(where: { $0 != 0 }) else { return nil }
        block = corrected
        return errors
    }

    /// The block as a polynomial, its first codeword the highest coefficient, at the powers of 2.
    private static func syndromes(of block: [UInt8], count: Int) -> [UInt8] {
        (0..<count).map { exponent in
            let point = GaloisField.power(exponent)
            return block.reduce(0) { GaloisField.multiply($0, point) ^ $1 }
        }
    }

    /// A polynomial, its constant term first, at a point.
    private static func evaluate(_ polynomial: [UInt8], at point: UInt8) -> UInt8 {
        polynomial.reversed().reduce(0) { GaloisField.multiply($0, point) ^ $1 }
    }

    private static func product(_ left: [UInt8], _ right: [UInt8], terms: Int) -> [UInt8] {
        var product = [UInt8](repeating: 0, count: terms)
        for (place, factor) in left.enumerated() where factor != 0 {
            for (other, second) in right.enumerated() where place + other < terms {
                product[place + other] ^= GaloisField.multiply(factor, second)
            }
        }
        return product
    }

    /// The shortest linear recurrence that gives the syndromes (Berlekamp and Massey), its constant term first.
    private static func locator(for syndromes: [UInt8]) -> [UInt8] {
        var current: [UInt8] = [1]
        var previous: [UInt8] = [1]
        var length = 0
        var gap = 1
        var previousDiscrepancy: UInt8 = 1
        for step in syndromes.indices {
            var discrepancy: UInt8 = 0
            for place in 0...min(length, current.count - 1, step) {
                discrepancy ^= GaloisField.multiply(current[place], syndromes[step - place])
            }
            guard discrepancy != 0 else {
                gap += 1
                continue
            }
            let factor = GaloisField.multiply(discrepancy, GaloisField.inverse(of: previousDiscrepancy))
            var next = current
            if next.count < previous.count + gap {
                next += [UInt8](repeating: 0, count: previous.count + gap - next.count)
            }
            for (place, value) in previous.enumerated() {
                next[place + gap] ^= GaloisField.multiply(factor, value)
            }
            if 2 * length <= step {
                length = step + 1 - length
                previous = current
                previousDiscrepancy = discrepancy
                gap = 1
            } else {
                gap += 1
            }
            current = next
        }
        while current.count > 1, current.last == 0 { current.removeLast() }
        // If the recurrence has a smaller degree than its length, no set of error positions explains the syndromes.
        return current.count - 1 == length ? current : [1]
    }
}
