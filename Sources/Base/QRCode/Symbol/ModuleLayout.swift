/// Which modules of a version are function patterns, how those look, and in which order the others carry codewords.
package struct ModuleLayout: Sendable {
    /// A column and a row, counted from 0 at the upper left corner.
    package struct Position: Hashable, Sendable {
        package let x: Int
        package let y: Int

        /// The module in column `x` of row `y`.
        package init(x: Int, y: Int) {
            self.x = x
            self.y = y
        }
    }

    /// The modules of a side.
    package let size: Int
    /// Row by row, whether the module belongs to a function pattern, format or version information.
    package private(set) var isFunction: [Bool]
    /// Row by row, the dark modules of the function patterns and of the version information.
    ///
    /// The format information is left light, because it depends on level and mask.
    package private(set) var isDark: [Bool]

    /// Draws the function patterns of a version.
    package init(_ version: QRVersion) {
        size = version.size
        isFunction = Array(repeating: false, count: size * size)
        isDark = isFunction
        drawTiming()
        for (x, y) in [(3, 3), (size - 4, 3), (3, size - 4)] { drawFinder(x, y) }
        drawAlignment(version.alignmentCentres)
        for position in formatPositions.joined() { draw(position.x, position.y, dark: false) }
        // The one module that is dark in every symbol.
        draw(8, size - 8, dark: true)
        if version.hasVersionInformation {
            for copy in versionPositions {
                for (place, position) in copy.enumerated() {
                    draw(position.x, position.y, dark: version.information >> UInt32(17 - place) & 1 == 1)
                }
            }
        }
    }

    private mutating func draw(_ x: Int, _ y: Int, dark: Bool) {
        guard 0..<size ~= x, 0..<size ~= y else { return }
        isFunction[y * size + x] = true
        isDark[y * size + x] = dark
    }

    private mutating func drawTiming() {
        for place in 0..<size {
            draw(place, 6, dark: place % 2 == 0)
            draw(6, place, dark: place % 2 == 0)
        }
    }

    /// A finder pattern and its separator: squares of 9, 7, 5 and 3 modules around its centre.
    private mutating func drawFinder(_ x: Int, _ y: Int) {
        drawSquares(x, y, radius: 4) { ring in ring != 4 && ring != 2 }
    }

    private mutating func drawAlignment(_ centres: [Int]) {
        guard let first = centres.first, let last = centres.last else { return }
        for y in centres {
            for x in centres {
                let isCovered = (x == first && y == first) || (x == first && y == last) || (x == last && y == first)
                if !isCovered { drawSquares(x, y, radius: 2) { ring in ring != 1 } }
            }
        }
    }

    /// Draws square rings around a centre, ring 0 being the centre itself.
    private mutating func drawSquares(_ x: Int, _ y: Int, radius: Int, isDark: (Int) -> Bool) {
        for downwards in -radius...radius {
            for rightwards in -radius...radius {
                draw(x + rightwards, y + downwards, dark: isDark(max(abs(downwards), abs(rightwards))))
            }
        }
    }
}

extension ModuleLayout {
    /// The two copies of the format information, each beginning with the most significant of its 15 bits.
    ///
    /// The first lies around the upper left finder pattern, the second below the right one and to the right of the lower
    /// one.
    package var formatPositions: [[Position]] {
        let around =
            (0...5).map { Position(x: $0, y: 8) } + [7, 8].map { Position(x: $0, y: 8) } + [Position(x: 8, y: 7)]
            + (0...5).reversed().map { Position(x: 8, y: $0) }
        let apart =
            (size - 7..<size).reversed().map { Position(x: 8, y: $0) } + (size - 8..<size).map { Position(x: $0, y: 8) }
        return [around, apart]
    }

    /// The two copies of the version information, each from the most significant of its 18 bits on; from version 7 on.
    ///
    /// The first lies to the left of the upper right finder pattern, the second above the lower left one.
    package var versionPositions: [[Position]] {
        let places = (0..<18).reversed().map { (across: size - 11 + $0 % 3, along: $0 / 3) }
        return [
            places.map { Position(x: $0.across, y: $0.along) },
            places.map { Position(x: $0.along, y: $0.across) },
        ]
    }

    /// The modules that carry codewords, by their index in the rows, in the order of the bits.
    ///
    /// From the lower right corner in columns of two, up and down by turns; the column of the timing pattern does not
    /// count. Remainder bits come last.
    package var placement: [Int] {
        var order: [Int] = []
        var isUpwards = true
        var right = size - 1
        while right > 0 {
            if right == 6 { right -= 1 }
            for step in 0..<size {
                let y = isUpwards ? size - 1 - step : step
                for x in [right, right - 1] where !isFunction[y * size + x] { order.append(y * size + x) }
            }
            isUpwards.toggle()
            right -= 2
        }
        return order
    }
}
