/// The terminal that a symbol is drawn for.
public enum TerminalStyle: String, CaseIterable, Sendable {
    /// Light text on a dark background: light modules are drawn.
    case dark
    /// Dark text on a light background: dark modules are drawn.
    case light
    /// Any terminal that knows colours: black on white is demanded of it.
    case coloured
}

extension QRSymbol {
    /// The symbol in half blocks, two rows of modules in a line, each line ended by a line feed.
    ///
    /// - Parameters:
    ///   - style: The colours of the terminal. With the wrong style the symbol is inverted, which not all readers accept.
    ///   - quietZone: The light modules around it; 4 by the standard, which terminals seldom need.
    /// - Returns: The lines.
    public func terminalText(_ style: TerminalStyle, quietZone: Int = Self.quietZone) -> String {
        let margin = RenderingLimits.quietZone(quietZone)
        let drawsDark = style != .dark
        var text = ""
        for y in stride(from: -margin, to: size + margin, by: 2) {
            // Black on white of the colour cube, which no theme changes.
            if style == .coloured { text += "\u{1B}[38;5;16;48;5;231m" }
            for x in -margin..<size + margin {
                switch (self[x, y] == drawsDark, self[x, y + 1] == drawsDark) {
                case (true, true): text += "█"
                case (true, false): text += "▀"
                case (false, true): text += "▄"
                case (false, false): text += " "
                }
            }
            text += style == .coloured ? "\u{1B}[0m\n" : "\n"
        }
        return text
    }

    /// The columns and lines that ``terminalText(_:quietZone:)`` takes.
    public func terminalSize(quietZone: Int = Self.quietZone) -> (columns: Int, lines: Int) {
        let side = size + 2 * RenderingLimits.quietZone(quietZone)
        return (side, (side + 1) / 2)
    }
}
