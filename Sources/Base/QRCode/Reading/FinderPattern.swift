/// A place that looks like a finder pattern: along every line through its centre dark and light as 1:1:3:1:1.
struct FinderPattern {
    var centre: ImagePoint
    /// The width of a module, in pixels of the full image, as rows and columns show it.
    var module: Double
    /// Light where it should be dark.
    let isInverted: Bool
    /// The number of rows, over all sizes of the image, that led here.
    var hits = 1
    /// The borders that were seen all around it.
    private(set) var borders: [BorderPoint] = []

    /// A place on the border between two of the pattern's squares.
    struct BorderPoint {
        let place: ImagePoint
        /// Modules from the pattern's centre to this border: 1.5, 2.5 or 3.5.
        let reach: Double
    }

    init(centre: ImagePoint, module: Double, isInverted: Bool) {
        self.centre = centre
        self.module = module
        self.isInverted = isInverted
    }

    /// Looks into all directions; false if too little is seen for a finder pattern.
    mutating func lookAround(in pyramid: ImagePyramid, budget: inout WorkBudget) -> Bool {
        let layer = pyramid.layer(forModule: module, wanted: 3.5)
        let limit = Int(min(2_000, 8 * module / layer.scale)) + 4
        borders = []
        for direction in Ray.directions {
            guard
                let ray = Ray(
                    from: centre,
                    along: direction,
                    limit: limit,
                    isInverted: isInverted,
                    in: layer,
                    budget: &budget
                )
            else { continue }
            for (steps, reach) in [(ray.borders.0, 1.5), (ray.borders.1, 2.5), (ray.borders.2, 3.5)] {
                borders.append(BorderPoint(place: centre + direction * (steps * layer.scale), reach: reach))
            }
        }
        return borders.count >= Self.fewestBorders
    }

    /// The fewest borders, of 96: those of a pattern that is damaged on one side.
    private static let fewestBorders = 48
}

/// The rays that measure a pattern, from its centre to the borders of dark and light.
struct Ray {
    /// 32 directions whose longer coordinate is one pixel.
    static let directions: [ImagePoint] = (0..<32).map { index in
        let along = Double(index % 8) / 4 - 1
        switch index / 8 {
        case 0: return ImagePoint(x: along, y: -1)
        case 1: return ImagePoint(x: 1, y: along)
        case 2: return ImagePoint(x: -along, y: 1)
        default: return ImagePoint(x: -1, y: -along)
        }
    }

    /// Steps from the start to the three borders: of the dark square, of the light ring, of the dark ring.
    var borders: (Double, Double, Double)

    /// Casts a ray; nil if it starts in the wrong tone or does not cross three borders within `limit` steps.
    init?(
        from start: ImagePoint,
        along direction: ImagePoint,
        limit: Int,
        isInverted: Bool,
        in layer: ImageLayer,
        budget: inout WorkBudget
    ) {
        let sign: Double = isInverted ? -1 : 1
        let step = direction * layer.scale
        guard var previous = layer.tone(start.x, start.y).map({ $0 * sign }), previous < 0 else { return nil }
        borders = (0, 0, 0)
        var found = 0
        for index in 1...max(1, limit) {
            let place = start + step * Double(index)
            // Beyond the image's edge is light, as a continuation of the quiet zone.
            let inside = layer.tone(place.x, place.y)
            let tone = inside.map { $0 * sign } ?? 255
            if (tone < 0) != (previous < 0) {
                let border = Double(index - 1) + previous / (previous - tone)
                switch found {
                case 0: borders.0 = border
                case 1: borders.1 = border
                default:
                    borders.2 = border
                    budget.spend(index)
                    return
                }
                found += 1
            }
            guard inside != nil else { break }
            previous = tone
        }
        budget.spend(limit)
        return nil
    }
}
