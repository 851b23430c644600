/// A QR code: a square of dark and light modules that encodes a text.
public struct QRSymbol: Equatable, Sendable {
    /// Its size class.
    public let version: QRVersion
    /// Its level of error correction.
    public let level: ErrorCorrectionLevel
    /// The pattern that was laid over its codewords.
    public let mask: MaskPattern
    /// Row by row, whether the module is dark.
    let modules: [Bool]

    /// A symbol of modules that were drawn elsewhere.
    init(version: QRVersion, level: ErrorCorrectionLevel, mask: MaskPattern, modules: [Bool]) {
        precondition(modules.count == version.size * version.size, "\(modules.count) modules, \(version)")
        self.version = version
        self.level = level
        self.mask = mask
        self.modules = modules
    }

    /// The modules of a side, without the quiet zone.
    public var size: Int { version.size }

    /// Whether the module in column `x` of row `y` is dark; everything around the symbol is light.
    public subscript(x: Int, y: Int) -> Bool {
        guard 0..<size ~= x, 0..<size ~= y else { return false }
        return modules[y * size + x]
    }

    /// The light modules that must surround a symbol (ISO/IEC 18004, 6.3.8).
    public static let quietZone = 4
}
