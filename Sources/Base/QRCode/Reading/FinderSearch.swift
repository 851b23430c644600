/// Looks for finder patterns row by row, in every size of the image, dark on light and light on dark at once.
struct FinderSearch {
    /// Patterns kept: an image full of symbols has fewer, noise could have thousands.
    static let mostPatterns = 256
    /// The tolerance of a run's length in modules; the rounding to a pixel is added.
    private static let tolerance = 0.5

    private(set) var patterns: [FinderPattern] = []

    /// Scans every `step`th row of `layer`.
    mutating func scan(_ layer: ImageLayer, step: Int, budget: inout WorkBudget) {
        let width = layer.image.width
        let pixels = layer.image.pixels
        for row in stride(from: step / 2, to: layer.image.height, by: step) {
            guard !budget.isSpent, patterns.count < Self.mostPatterns else { return }
            let start = row * width
            let blocks = (row >> 3) * layer.threshold.columns
            var runs = RunWindow()
            var wasDark = pixels[start] < layer.threshold.levels[blocks]
            var column = 1
            while column < width {
                let level = layer.threshold.levels[blocks + column >> 3]
                let pixel = pixels[start + column]
                guard (pixel < level) != wasDark else {
                    column += 1
                    continue
                }
                let before =
                    Double(pixels[start + column - 1]) - Double(layer.threshold.levels[blocks + (column - 1) >> 3])
                let after = Double(pixel) - Double(level)
                runs.append(Double(column - 1) + before / (before - after))
                if runs.looksLikeFinder {
                    let place = ImagePoint(x: layer.full(runs.middle), y: layer.full(Double(row)))
                    consider(place, module: runs.module * layer.scale, isInverted: !wasDark, in: layer, budget: &budget)
                }
                wasDark.toggle()
                column += 1
            }
        }
    }

    /// Measures a candidate in every direction; a pattern is added, or counted if it is known.
    private mutating func consider(
        _ place: ImagePoint,
        module: Double,
        isInverted: Bool,
        in layer: ImageLayer,
        budget: inout WorkBudget
    ) {
        if let known = patterns.lastIndex(where: {
            $0.isInverted == isInverted && ($0.centre.y - place.y).magnitude < 2 * $0.module
                && ($0.centre.x - place.x).magnitude < 2 * $0.module && module < 1.6 * $0.module
                && $0.module < 1.6 * module
        }) {
            patterns[known].hits += 1
            return
        }
        var centre = place
        var size = module
        for direction in [
            ImagePoint(x: 0, y: 1), ImagePoint(x: 1, y: 0), ImagePoint(x: 1, y: 1), ImagePoint(x: 1, y: -1),
        ] {
            let limit = Int(min(2_000, 8 * size / layer.scale)) + 4
            guard
                let ahead = Ray(
                    from: centre,
                    along: direction,
                    limit: limit,
                    isInverted: isInverted,
                    in: layer,
                    budget: &budget
                ),
                let behind = Ray(
                    from: centre,
                    along: direction * -1,
                    limit: limit,
                    isInverted: isInverted,
                    in: layer,
                    budget: &budget
                ),
                Self.isFinder(ahead, behind)
            else { return }
            let shift = (ahead.borders.0 - behind.borders.0 + ahead.borders.2 - behind.borders.2) / 4
            centre = centre + direction * (shift * layer.scale)
            let measured = (ahead.borders.2 + behind.borders.2) / 7 * layer.scale
            guard measured < 2.5 * module, module < 2.5 * measured else { return }
            if direction.x * direction.y == 0 { size = (size + measured) / 2 }
        }
        patterns.append(FinderPattern(centre: centre, module: size, isInverted: isInverted))
    }

    /// Whether two opposite rays show 1:1:3:1:1.
    private static func isFinder(_ ahead: Ray, _ behind: Ray) -> Bool {
        let unit = (ahead.borders.2 + behind.borders.2) / 7
        let slack = tolerance * unit + 0.25
        let core = ahead.borders.0 + behind.borders.0
        return (core - 3 * unit).magnitude < 1.5 * slack
            && (ahead.borders.1 - ahead.borders.0 - unit).magnitude < slack
            && (behind.borders.1 - behind.borders.0 - unit).magnitude < slack
            && (ahead.borders.2 - ahead.borders.1 - unit).magnitude < slack
            && (behind.borders.2 - behind.borders.1 - unit).magnitude < slack
    }
}

/// The last six borders in a row: five runs.
private struct RunWindow {
    private var borders = (-9e4, -7e4, -5e4, -3e4, -2e4, -1e4)

    mutating func append(_ border: Double) {
        borders = (borders.1, borders.2, borders.3, borders.4, borders.5, border)
    }

    var module: Double { (borders.5 - borders.0) / 7 }
    var middle: Double { (borders.2 + borders.3) / 2 }

    var looksLikeFinder: Bool {
        let unit = module
        let core = borders.3 - borders.2
        guard core > 1.7 * unit, core < 4.3 * unit else { return false }
        let slack = 0.55 * unit + 0.25
        return (borders.1 - borders.0 - unit).magnitude < slack && (borders.2 - borders.1 - unit).magnitude < slack
            && (borders.4 - borders.3 - unit).magnitude < slack && (borders.5 - borders.4 - unit).magnitude < slack
    }
}
