extension QRSymbol {
    /// The symbol as an SVG document: dark on white, one path, a run of dark modules in a row being one rectangle.
    ///
    /// - Parameters:
    ///   - title: The title for screen readers. Do not put the text of the symbol here if it is secret.
    ///   - modulePixels: The side of a module in pixels, for viewers that set no size.
    ///   - quietZone: The light modules around it; 4 by the standard.
    /// - Returns: The document, which ends with a line feed.
    public func svg(title: String = "QR code", modulePixels: Int = 8, quietZone: Int = Self.quietZone) -> String {
        let margin = RenderingLimits.quietZone(quietZone)
        let side = size + 2 * margin
        let pixels = side * RenderingLimits.modulePixels(modulePixels)
        var path = ""
        for y in 0..<size {
            var x = 0
            while x < size {
                let start = x
                while self[x, y] { x += 1 }
                if x > start { path += "M\(start + margin) \(y + margin)h\(x - start)v1h-\(x - start)z" }
                x += 1
            }
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(pixels)" height="\(pixels)" \
            viewBox="0 0 \(side) \(side)" role="img" shape-rendering="crispEdges">
            <title>\(Self.escaped(title))</title>
            <rect width="\(side)" height="\(side)" fill="#fff"/>
            <path d="\(path)" fill="#000"/>
            </svg>

            """
    }

    /// A text as XML can hold it: markup as entities, characters that XML has not as the sign for such.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x26: escaped += "&amp;"
            case 0x3C: escaped += "&lt;"
            case 0x3E: escaped += "&gt;"
            case 0x00...0x08, 0x0B, 0x0C, 0x0E...0x1F, 0xFFFE, 0xFFFF: escaped.unicodeScalars.append("\u{FFFD}")
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

/// The limits of drawings, so that no argument makes one that fills the memory.
enum RenderingLimits {
    /// Pixels a module: at most 50, which makes the largest symbol 9,250 pixels wide.
    static func modulePixels(_ asked: Int) -> Int { min(max(asked, 1), 50) }

    /// Light modules around a symbol: at most 16.
    static func quietZone(_ asked: Int) -> Int { min(max(asked, 0), 16) }
}
