internal import QRCorpus
internal import TestSupport
internal import Testing

@testable internal import QRCode

/// Images in, texts out.
@Suite("Reading of images") struct ReadingTests {
    /// A symbol's rows, drawn with `scale` pixels a module and a quiet zone of four.
    private func image(_ rows: [[Bool]], scale: Int = 3, isInverted: Bool = false) throws -> GreyImage {
        let side = (rows.count + 8) * scale
        var pixels = [UInt8](repeating: isInverted ? 20 : 235, count: side * side)
        for y in 0..<side {
            for x in 0..<side {
                let (row, column) = (y / scale - 4, x / scale - 4)
                guard rows.indices ~= row, rows.indices ~= column, rows[row][column] else { continue }
                pixels[y * side + x] = isInverted ? 235 : 20
            }
        }
        return try GreyImage(width: side, height: side, pixels: pixels)
    }

    private func rows(of symbol: QRSymbol) -> [[Bool]] {
        (0..<symbol.size).map { y in (0..<symbol.size).map { x in symbol[x, y] } }
    }

    /// Letters and digits that fill a symbol's bytes to the last, and no segment of another mode.
    private func filling(_ version: QRVersion, _ level: ErrorCorrectionLevel) -> String {
        let bits = BlockLayout(version, level).dataCount * 8 - 4 - (version.number < 10 ? 8 : 16)
        let characters = Array("rUnAr+7/mOdUlEs=9")
        return String((0..<bits / 8).map { characters[($0 * 5 + version.number) % characters.count] })
    }

    @Test(.enabled(if: IndependentReaders.missing.isEmpty, "zxing-cpp is missing"))
    func `all 160 combinations of version and level are read from another encoder`() throws {
        let all = QRVersion.all.flatMap { version in ErrorCorrectionLevel.allCases.map { (version, $0) } }
        let requests = all.map { version, level in
            IndependentWriter.Request(
                text: filling(version, level),
                version: version.number,
                level: level.rawValue.uppercased()
            )
        }
        let drawn = try IndependentWriter.draw(requests)
        #expect(drawn.count == 160)
        for (index, rows) in drawn.enumerated() {
            let (version, level) = all[index]
            let reading = try #require(
                QRReader().read(try image(rows.map { $0.map { $0 == "1" } })).first,
                "\(version) \(level)"
            )
            #expect(reading.text == requests[index].text, "\(version) \(level)")
            #expect(reading.version == version && reading.level == level)
        }
        print("\(drawn.count) full symbols drawn by zxing-cpp read")
    }

    @Test func `the reader reports the version, level, mask and corners of a symbol`() throws {
        let symbol = try QRSymbol(encoding: "beside the text", level: .q)
        let upright = try #require(QRReader().read(try image(rows(of: symbol))).first)
        #expect(upright.version == symbol.version && upright.level == .q && upright.mask == symbol.mask)
        #expect(!upright.isInverted && !upright.isMirrored && upright.message.part == nil)
        // The quiet zone is 12 pixels wide, and a pixel's centre has whole numbers.
        let (near, far) = (11.5, 11.5 + Double(3 * symbol.size))
        let corners = [(near, near), (far, near), (far, far), (near, far)]
        #expect(upright.corners.count == 4)
        for (corner, expected) in zip(upright.corners, corners) {
            #expect((corner.x - expected.0).magnitude < 0.5 && (corner.y - expected.1).magnitude < 0.5)
        }
    }

    @Test func `twenty codes on a sheet are each read once`() throws {
        let texts = (0..<20).map { "https://example.org/item/\($0)?\($0 * 7_919)" }
        let symbols = try texts.map { rows(of: try QRSymbol(encoding: $0, level: .m, atLeast: QRVersion.all[2])) }
        let cell = 2 * (symbols[0].count + 8)
        let (width, height) = (5 * cell, 4 * cell)
        var pixels = [UInt8](repeating: 240, count: width * height)
        for (index, symbol) in symbols.enumerated() {
            for y in 0..<2 * symbol.count {
                for x in 0..<2 * symbol.count where symbol[y / 2][x / 2] {
                    pixels[(index / 5 * cell + 8 + y) * width + index % 5 * cell + 8 + x] = 15
                }
            }
        }
        let read = QRReader().read(try GreyImage(width: width, height: height, pixels: pixels)).compactMap(\.text)
        #expect(read.sorted() == texts.sorted())
    }

    @Test func `inverted and mirrored symbols are read and reported as such`() throws {
        let symbol = try QRSymbol(encoding: "other way round", level: .m)
        let inverted = try #require(QRReader().read(try image(rows(of: symbol), isInverted: true)).first)
        #expect(inverted.text == "other way round" && inverted.isInverted && !inverted.isMirrored)
        let mirrored = try #require(QRReader().read(try image(rows(of: symbol).map { $0.reversed() })).first)
        #expect(mirrored.text == "other way round" && mirrored.isMirrored && !mirrored.isInverted)
    }

    @Test func `a damaged symbol is read as long as its level can correct it and never becomes another text`() throws {
        let symbol = try QRSymbol(encoding: "a text that must not become another one", level: .h)
        var random = SplitMix64(seed: 4)
        var read = 0
        for damage in stride(from: 0, to: 300, by: 10) {
            var rows = rows(of: symbol)
            for _ in 0..<damage {
                let x = Int.random(in: 9..<symbol.size, using: &random)
                rows[Int.random(in: 9..<symbol.size, using: &random)][x].toggle()
            }
            for reading in QRReader().read(try image(rows)) {
                #expect(reading.text == "a text that must not become another one", "\(damage)")
                read += 1
            }
        }
        #expect(3...15 ~= read, "\(read) of 30")
    }

    @Test(arguments: Distortion.allCases)
    func `the generated images give their text and nothing else`(_ distortion: Distortion) throws {
        // Of eight images; `make bench` measures the larger corpus and compares other readers.
        let floor: [Distortion: Int] = [.blurred: 6, .uneven: 7, .handheld: 7]
        var missed = 0
        for number in 0..<8 {
            let sample = try CorpusImage(distortion, number: number, isSmall: true)
            let read = QRReader().read(sample.image).compactMap(\.text)
            #expect(Set(read).isSubset(of: sample.texts), "\(distortion) \(number) was read as \(read)")
            #expect(Set(read).count == read.count, "\(distortion) \(number): one symbol twice")
            if Set(read) != Set(sample.texts) { missed += 1 }
        }
        #expect(8 - missed >= floor[distortion] ?? 8, "\(missed) of 8 were not read")
    }

    @Test func `an image of code-like patterns costs no more than its budget`() throws {
        for number in 0..<6 {
            let sample = try CorpusImage(.empty, number: number, isSmall: true)
            for steps in [0, 1, 1_000, 100_000] {
                #expect(QRReader(steps: steps).read(sample.image).isEmpty)
            }
        }
        let symbol = try QRSymbol(encoding: "no work, no text", level: .l)
        #expect(QRReader(steps: 0).read(try image(rows(of: symbol))).isEmpty)
    }

    @Test func `no damage to an image crashes the reader or gives another text`() throws {
        let symbol = try QRSymbol(encoding: "never another", level: .l)
        let whole = try image(rows(of: symbol), scale: 2)
        neverCrash(on: [whole.pixels], rounds: 400) { bytes in
            let width = whole.width
            let height = max(1, min(whole.height, bytes.count / width))
            guard bytes.count >= width * height else { return }
            let image = try GreyImage(width: width, height: height, pixels: Array(bytes.prefix(width * height)))
            for reading in QRReader().read(image) { #expect(reading.text == "never another") }
        }
    }
}
