/// Computes the error correction codewords of a block (ISO/IEC 18004, 7.5.2).
struct ReedSolomonEncoder {
    /// The logarithms of the generator polynomial's coefficients behind the leading 1, the highest power first.
    let generator: [Int]

    /// The encoder for blocks with `count` error correction codewords.
    ///
    /// Its generator is the product of `x - 2^i` for `i` from 0 to `count - 1`. None of its coefficients is 0 for the
    /// counts of QR codes, so that their logarithms can be kept.
    init(correctionCount count: Int) {
        var coefficients: [UInt8] = [1]
        for exponent in 0..<count {
            let root = GaloisField.power(exponent)
            var product = coefficients + [0]
            for (index, coefficient) in coefficients.enumerated() {
                product[index + 1] ^= GaloisField.multiply(coefficient, root)
            }
            coefficients = product
        }
        generator = coefficients.dropFirst().map { GaloisField.logarithms[Int($0)] }
    }

    /// Returns the remainder of the data, shifted by the degree of the generator, after division by the generator.
    func correction(for data: some Sequence<UInt8>) -> [UInt8] {
        let powers = GaloisField.powers
        let logarithms = GaloisField.logarithms
        var rest = [UInt8](repeating: 0, count: generator.count)
        for codeword in data {
            let factor = codeword ^ rest[0]
            rest.removeFirst()
            rest.append(0)
            guard factor != 0 else { continue }
            let logarithm = logarithms[Int(factor)]
            for index in generator.indices { rest[index] ^= powers[generator[index] + logarithm] }
        }
        return rest
    }
}
