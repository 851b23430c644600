/// Reads the symbol that three finder patterns may belong to.
struct SymbolReader {
    /// The least alternation of the timing patterns with which the rest is read.
    private static let goodTiming = 0.45
    /// Parts of the four neighbours' tones that are taken off a module's, one after the other.
    private static let sharpnesses: [Float] = [0, 0.12, 0.2]

    private let triple: FinderTriple
    private let pyramid: ImagePyramid
    private var isInverted: Bool { triple.corner.isInverted }

    init(_ triple: FinderTriple, pyramid: ImagePyramid) {
        self.triple = triple
        self.pyramid = pyramid
    }

    func read(budget: inout WorkBudget) -> QRReading? {
        guard let fit = GridFit(triple) else { return nil }
        let module = (triple.corner.module + triple.right.module + triple.below.module) / 3
        let layer = pyramid.layer(forModule: module, wanted: 2.5)
        let estimate = (fit.estimatedSize - 17) / 4
        let nearest = Int(estimate.rounded())
        let reach = 1 + nearest / 8
        var candidates: [(version: QRVersion, timing: Double)] = []
        for number in nearest - reach...nearest + reach {
            guard let version = QRVersion(number), let map = fit.perspective(size: version.size) else { continue }
            let timing = ModuleGrid.timing(size: version.size, map: map, layer: layer, isInverted: isInverted)
            budget.spend(2_000 + 4 * version.size)
            if timing > Self.goodTiming { candidates.append((version, timing)) }
        }
        for candidate in candidates.sorted(by: { $0.timing > $1.timing }).prefix(2) {
            if let reading = read(candidate.version, fit: fit, module: module, layer: layer, budget: &budget) {
                return reading
            }
        }
        return nil
    }

    private func read(
        _ version: QRVersion,
        fit: GridFit,
        module: Double,
        layer: ImageLayer,
        budget: inout WorkBudget
    ) -> QRReading? {
        var fit = fit
        let search = AlignmentSearch(pyramid: pyramid, module: module, isInverted: isInverted)
        guard let map = search.refine(&fit, version: version, budget: &budget),
            let grid = ModuleGrid(
                size: version.size,
                map: map,
                layer: layer,
                isInverted: isInverted,
                budget: &budget
            )
        else { return nil }
        let decoder = SymbolDecoder(version)
        for sharpness in Self.sharpnesses {
            for isMirrored in [false, true] {
                guard !budget.isSpent else { return nil }
                let dark = grid.dark(sharpness: sharpness, isMirrored: isMirrored)
                guard let result = decoder.decode(dark, budget: &budget) else { continue }
                let far = Double(version.size)
                var corners = [(0.0, 0.0), (far, 0.0), (far, far), (0.0, far)]
                if isMirrored { corners.swapAt(1, 3) }
                return QRReading(
                    message: result.message,
                    version: version,
                    level: result.format.level,
                    mask: result.format.mask,
                    corners: corners.compactMap { map($0.0, $0.1) },
                    isInverted: isInverted,
                    isMirrored: isMirrored
                )
            }
        }
        return nil
    }
}
