package import CommandModel
internal import Platform
package import QRCode

/// A QR code drawn for the terminal at hand, as large as a camera needs and as small as the window demands.
package struct TerminalCode {
    /// The lines, each with its end.
    package let text: String
    /// The remark if the window is too low for a camera to see all of it.
    package let remark: String?

    /// Draws `symbol` for a terminal of that style, or for the one that standard output is.
    ///
    /// A window that is too narrow for the standard's quiet zone gets a smaller one, down to one module.
    ///
    /// - Throws: ``CommandFailure`` when the window is too narrow even for that.
    package init(_ symbol: QRSymbol, style: TerminalStyle? = nil) throws(CommandFailure) {
        let window = Output.windowSize
        var quietZone = QRSymbol.quietZone
        while let window, quietZone > 1, symbol.terminalSize(quietZone: quietZone).columns > window.columns {
            quietZone -= 1
        }
        let (columns, lines) = symbol.terminalSize(quietZone: quietZone)
        if let window, columns > window.columns {
            throw CommandFailure(
                "too-narrow",
                .unavailable,
                "the code is \(columns) columns wide and this terminal \(window.columns): make the window wider or its "
                    + "letters smaller, or write its text into a picture with `runar qr show TEXT --output code.png`"
            )
        }
        text = symbol.terminalText(style ?? Self.style, quietZone: quietZone)
        remark = window.flatMap { window in
            guard lines >= window.lines else { return nil }
            return "the code is \(lines) lines high and this terminal \(window.lines): a camera must see all of it"
        }
    }

    /// Colours if they are supported; else light on dark, as most terminals are.
    private static var style: TerminalStyle {
        let isPlain =
            SystemProcess.environment("NO_COLOR")?.isEmpty == false
            || SystemProcess.environment("TERM") == "dumb"
        return Output.isTerminal && !isPlain ? .coloured : .dark
    }

    /// Shows a text as a code.
    ///
    /// - Throws: ``CommandFailure`` when the window is too narrow, `QRCodeError` when the text is too long.
    package static func show(_ text: String) throws { try TerminalCode(QRSymbol(encoding: text)).show() }

    /// Shows a text as a code if the window has room; the caller prints the text as well.
    ///
    /// - Throws: ``CommandFailure`` if it cannot be written.
    package static func showIfRoom(_ text: String) throws(CommandFailure) {
        let code: TerminalCode
        do {
            code = try TerminalCode(QRSymbol(encoding: text))
        } catch {
            return Output.note("note: \(CommandFailure(error).message)")
        }
        try code.show()
    }

    /// Shows it on standard output, and the remark on standard error.
    ///
    /// - Throws: ``CommandFailure`` if it cannot be written.
    package func show() throws(CommandFailure) {
        try Output.raw(text)
        if let remark { Output.note(remark) }
    }
}
