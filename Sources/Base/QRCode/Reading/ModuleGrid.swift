/// The tones of a symbol's modules, read from an image: negative is dark.
struct ModuleGrid {
    let size: Int
    private(set) var tones: [Float]

    /// Samples every module at the place that `map` gives; nil if a quarter of them or more is outside the image.
    init?(size: Int, map: Perspective, layer: ImageLayer, isInverted: Bool, budget: inout WorkBudget) {
        self.size = size
        tones = [Float](repeating: 0, count: size * size)
        let sign: Double = isInverted ? -1 : 1
        // The middle and four places around it: their mean holds less noise than one of them.
        let looks = [(0.0, 0.0), (-0.2, -0.2), (0.2, -0.2), (-0.2, 0.2), (0.2, 0.2)]
        var missing = 0
        for row in 0..<size {
            for column in 0..<size {
                var sum = 0.0
                var count = 0.0
                for (right, down) in looks {
                    guard let place = map(Double(column) + 0.5 + right, Double(row) + 0.5 + down),
                        let tone = layer.tone(place.x, place.y)
                    else { continue }
                    sum += tone
                    count += 1
                }
                if count > 0 { tones[row * size + column] = Float(sum / count * sign) } else { missing += 1 }
            }
        }
        budget.spend(size * size * 5)
        guard missing * 4 < size * size else { return nil }
    }

    /// Returns the alternation of the timing patterns, from -1 to 1, read without the rest of the symbol.
    static func timing(size: Int, map: Perspective, layer: ImageLayer, isInverted: Bool) -> Double {
        var sum = 0.0
        var energy = 1.0
        for place in 8...size - 9 {
            for (x, y) in [(Double(place) + 0.5, 6.5), (6.5, Double(place) + 0.5)] {
                guard let point = map(x, y), let tone = layer.tone(point.x, point.y) else { continue }
                let seen = max(-60, min(60, isInverted ? -tone : tone))
                sum += place % 2 == 0 ? -seen : seen
                energy += seen.magnitude
            }
        }
        return sum / energy
    }

    /// Which modules are dark, once each tone has been set off from its neighbours' by `sharpness`.
    ///
    /// Blur mixes a module with its neighbours; a lone dark module among light ones is then no darker than the
    /// threshold. Taking off a part of the neighbours' tones undoes that.
    func dark(sharpness: Float, isMirrored: Bool) -> [Bool] {
        var dark = [Bool](repeating: false, count: size * size)
        for row in 0..<size {
            for column in 0..<size {
                let place = row * size + column
                var tone = tones[place]
                if sharpness > 0 {
                    let left = column > 0 ? tones[place - 1] : 60
                    let right = column + 1 < size ? tones[place + 1] : 60
                    let upper = row > 0 ? tones[place - size] : 60
                    let lower = row + 1 < size ? tones[place + size] : 60
                    tone -= sharpness * (left + right + upper + lower)
                }
                dark[isMirrored ? column * size + row : place] = tone < 0
            }
        }
        return dark
    }
}
