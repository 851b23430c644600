internal import QRCode
internal import TestSupport

extension QRSymbol {
    /// The symbol as independent readers are shown it.
    var image: IndependentReaders.Image {
        .modules((0..<size).map { y in String((0..<size).map { x in self[x, y] ? "1" : "0" }) })
    }
}

extension IndependentReaders.Reading {
    /// Whether zxing-cpp saw the version, level and mask of this symbol.
    func recognizes(_ symbol: QRSymbol) -> Bool {
        guard let seen = zxing.first, zxing.count == 1 else { return false }
        return seen.version == symbol.version.number && seen.level == symbol.level.rawValue
            && seen.mask == symbol.mask.reference
    }
}
