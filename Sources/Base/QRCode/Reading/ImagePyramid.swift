/// An image at full, half, quarter and so on size, each with its thresholds.
///
/// Large modules are read in a smaller image, in which noise is averaged out and fewer pixels are read.
struct ImagePyramid {
    /// The most halvings: modules of 4096-pixel images are then a few pixels wide.
    static let deepest = 4
    /// An image with shorter sides is not halved further: a symbol has 21 modules.
    private static let shortestSide = 40

    private(set) var layers: [ImageLayer]

    init(_ image: GreyImage) {
        var current = image
        layers = [ImageLayer(image, depth: 0)]
        while layers.count <= Self.deepest, min(current.width, current.height) >= 2 * Self.shortestSide {
            current = current.halved()
            layers.append(ImageLayer(current, depth: layers.count))
        }
    }

    /// The layer in which modules of `size` pixels of the full image have `wanted` pixels or a little more.
    func layer(forModule size: Double, wanted: Double) -> ImageLayer {
        var depth = 0
        while depth + 1 < layers.count, size >= 2 * wanted * layers[depth].scale { depth += 1 }
        return layers[depth]
    }
}

/// One size of an image.
///
/// Coordinates are those of the full image; a pixel's centre has whole numbers.
struct ImageLayer {
    let image: GreyImage
    let threshold: LocalThreshold
    /// Pixels of the full image that one of this layer covers, in each direction.
    let scale: Double
    private let offset: Double
    private let inverseScale: Double

    init(_ image: GreyImage, depth: Int) {
        self.image = image
        threshold = LocalThreshold(image)
        scale = Double(1 << depth)
        inverseScale = 1 / scale
        offset = (scale - 1) / 2
    }

    /// A layer's coordinate as one of the full image.
    func full(_ coordinate: Double) -> Double { coordinate * scale + offset }

    /// Grey less threshold, negative where it is dark, or nil outside the image.
    @inline(__always)
    func tone(_ x: Double, _ y: Double) -> Double? {
        let (column, row) = ((x - offset) * inverseScale, (y - offset) * inverseScale)
        guard let grey = sample(column, row) else { return nil }
        let block = (Int(row) >> 3) * threshold.columns + (Int(column) >> 3)
        return grey - Double(threshold.levels[block])
    }

    /// Interpolates between pixels in this layer's own coordinates; the comparison also refuses NaN.
    @inline(__always)
    private func sample(_ column: Double, _ row: Double) -> Double? {
        guard column >= 0, row >= 0, column < Double(image.width - 1), row < Double(image.height - 1) else {
            return nil
        }
        let (x, y) = (Int(column), Int(row))
        let (right, down) = (column - Double(x), row - Double(y))
        let place = y &* image.width &+ x
        let upper = Double(image.pixels[place]) * (1 - right) + Double(image.pixels[place &+ 1]) * right
        let below = place &+ image.width
        let lower = Double(image.pixels[below]) * (1 - right) + Double(image.pixels[below &+ 1]) * right
        return upper * (1 - down) + lower * down
    }
}
