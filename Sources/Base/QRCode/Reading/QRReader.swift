/// A QR code that was read in an image.
public struct QRReading: Sendable, Equatable {
    /// Its message.
    public let message: QRMessage
    /// Its size class.
    public let version: QRVersion
    /// Its level of error correction.
    public let level: ErrorCorrectionLevel
    /// The pattern that lies over its codewords.
    public let mask: MaskPattern
    /// Its corners in the image: of a symbol that stands upright from the upper left one clockwise.
    public let corners: [ImagePoint]
    /// Light on dark.
    public let isInverted: Bool
    /// Seen from behind or in a mirror.
    public let isMirrored: Bool

    /// The text, or nil if it is in a character set that is not read here.
    public var text: String? { message.text }
    /// The bytes as they stand in the symbol.
    public var bytes: [UInt8] { message.bytes }
}

/// Reads the QR codes in an image (ISO/IEC 18004).
///
/// The steps in order: thresholds from the surroundings of each place; finder patterns by their 1:1:3:1:1, in the image and
/// in smaller ones of it; three of them at right angles; the perspective that fits their borders; alignment patterns, which
/// refine it; the modules' tones; codewords, corrected; segments. A text is returned only if every block of it was corrected
/// within the capacity of its level.
public struct QRReader: Sendable {
    /// The default number of steps: enough for every symbol of a camera's frame, and a limit for an image of noise.
    public static let defaultSteps = 3_000_000

    /// The deviation of pixels in calm places above which sharpening shows nothing but noise.
    private static let mostNoise = 20.0

    private let steps: Int

    /// Creates a reader that samples at most about `steps` pixels, beyond one pass through all of them.
    public init(steps: Int = Self.defaultSteps) { self.steps = steps }

    /// Every QR code that can be read in `image`, each once.
    public func read(_ image: GreyImage) -> [QRReading] {
        var budget = WorkBudget(steps: steps)
        let pyramid = ImagePyramid(image)
        let readings = Self.read(pyramid, budget: &budget)
        guard readings.isEmpty, !budget.isSpent, pyramid.layers[0].threshold.noise < Self.mostNoise else {
            return readings
        }
        // Blur can close the light ring of a finder pattern; a sharpened image shows it, and more noise.
        return Self.read(ImagePyramid(image.sharpened()), budget: &budget)
    }

    private static func read(_ pyramid: ImagePyramid, budget: inout WorkBudget) -> [QRReading] {
        var search = FinderSearch()
        for layer in pyramid.layers.prefix(3) {
            let step = layer.image.height > 360 ? 2 : 1
            search.scan(layer, step: step, budget: &budget)
        }
        var readings: [QRReading] = []
        var used: [ImagePoint] = []
        let patterns = search.patterns.compactMap { pattern in
            var pattern = pattern
            return pattern.lookAround(in: pyramid, budget: &budget) ? pattern : nil
        }
        for triple in FinderTriple.all(among: patterns, budget: &budget) {
            guard !budget.isSpent else { break }
            let centres = [triple.corner.centre, triple.right.centre, triple.below.centre]
            guard !centres.contains(where: { used.contains($0) }) else { continue }
            guard let reading = SymbolReader(triple, pyramid: pyramid).read(budget: &budget) else { continue }
            used += centres
            readings.append(reading)
        }
        return readings
    }
}
