internal import RunarNode
internal import Testing

/// Frames in, texts out.
@Suite("QRCodeScanner", .timeLimit(.minutes(15))) struct QRCodeScannerTests {
    private func frame(_ text: String?) throws -> GreyImage {
        try GreyImage(of: text.map { try QRSymbol(encoding: $0, level: .m) })
    }

    @Test func `a text is reported once while it stays in view and again when it returns`() async throws {
        let scanner = QRCodeScanner()
        var texts = scanner.scanQRCode().makeAsyncIterator()
        for _ in 0..<5 { #expect(await scanner.scan(try frame("first"))) }
        // Two frames without it are a hand before the lens.
        for _ in 0..<2 { await scanner.scan(try frame(nil)) }
        await scanner.scan(try frame("first"))
        await scanner.scan(try frame("second"))
        #expect(await texts.next() == "first")
        #expect(await texts.next() == "second")
        for _ in 0..<16 { await scanner.scan(try frame(nil)) }
        await scanner.scan(try frame("first"))
        #expect(await texts.next() == "first")
    }

    @Test func `every listener gets the texts, and a late one those in view`() async throws {
        let scanner = QRCodeScanner()
        var early = scanner.scanQRCode().makeAsyncIterator()
        await scanner.scan(try frame("in view"))
        var late = scanner.scanQRCode().makeAsyncIterator()
        #expect(await early.next() == "in view")
        #expect(await late.next() == "in view")
    }

    @Test func `unread texts are bounded, and the newest are kept`() async throws {
        let scanner = QRCodeScanner()
        var texts = scanner.scanQRCode().makeAsyncIterator()
        for number in 0..<40 { await scanner.scan(try frame("text \(number)")) }
        #expect(await texts.next() == "text 24")
    }

    @Test func `listening ends with the scanner`() async throws {
        var scanner: QRCodeScanner? = QRCodeScanner()
        var texts = try #require(scanner).scanQRCode().makeAsyncIterator()
        scanner = nil
        #expect(await texts.next() == nil)
    }
}

extension GreyImage {
    /// Creates a camera's image of a screen with a code, or without one.
    init(of symbol: QRSymbol?) throws {
        let (margin, scale) = (QRSymbol.quietZone, 3)
        // There is more around a small one.
        let side = scale * max((symbol?.size ?? 0) + 2 * margin, 45)
        let pixels = (0..<side * side).map { index -> UInt8 in
            let (y, x) = index.quotientAndRemainder(dividingBy: side)
            return symbol?[x / scale - margin, y / scale - margin] == true ? 10 : 240
        }
        try self.init(width: side, height: side, pixels: pixels)
    }
}
