internal import TestSupport
internal import Testing

@testable internal import QRCode

/// The encoding of a text as codewords.
@Suite("Encoding") struct EncodingTests {
    private let standard: Standard

    init() throws {
        standard = try Standard.load()
    }

    @Test func `the example of the standard gives its codewords`() throws {
        let example = standard.example
        let level = try #require(ErrorCorrectionLevel(rawValue: example.level))
        let message = try Message(Array(example.text.utf8), isUTF8: true, level: level, atLeast: .smallest)
        #expect(message.version == .smallest)
        #expect(message.codewords == Standard.bytes(example.data))
        let all = QRSymbol.interleaved(message.codewords, in: BlockLayout(.smallest, level))
        #expect(all == Standard.bytes(example.data) + Standard.bytes(example.correction))
    }

    @Test func `generator polynomials are those of the standard, and none that is used has a coefficient of 0`() throws
    {
        for (count, exponents) in standard.generatorExponents {
            #expect(ReedSolomonEncoder(correctionCount: try #require(Int(count))).generator == exponents)
        }
        for version in QRVersion.all {
            for level in ErrorCorrectionLevel.allCases {
                let count = BlockLayout(version, level).correctionCount
                // With a constant term of 1 and data of one codeword, the rest is the generator itself.
                let correction = ReedSolomonEncoder(correctionCount: count).correction(for: [1])
                #expect(correction.count == count && !correction.contains(0))
                for root in 0..<count {
                    let value = ([1] + correction).reduce(UInt8(0)) {
                        GaloisField.multiply($0, GaloisField.power(root)) ^ $1
                    }
                    #expect(value == 0)
                }
            }
        }
    }

    @Test func `a symbol is the smallest that holds the text, and at least what was demanded`() throws {
        for (number, levels) in standard.byteCapacities {
            let version = try #require(Int(number).flatMap { QRVersion($0) })
            for level in ErrorCorrectionLevel.allCases {
                let capacity = try #require(levels[level.rawValue])
                let full = try Message([UInt8](repeating: 0x61, count: capacity), level)
                #expect(full.version == version)
                guard version < .largest else { continue }
                let next = try Message([UInt8](repeating: 0x61, count: capacity + 1), level)
                #expect(next.version.number == version.number + 1)
            }
        }
        for version in QRVersion.all {
            let message = try Message([0x31], isUTF8: false, level: .l, atLeast: version)
            #expect(message.version == version && message.codewords.count == BlockLayout(version, .l).dataCount)
        }
    }

    @Test func `a text that is too long is refused with the level that would hold it`() throws {
        let text = [UInt8](repeating: 0x61, count: 2_000)
        #expect(throws: QRCodeError.tooLong(byteCount: 2_000, level: .h, fitting: .m)) { try Message(text, .h) }
        #expect(throws: QRCodeError.tooLong(byteCount: 2_000, level: .q, fitting: .m)) { try Message(text, .q) }
        #expect(try Message(text, .m).version == QRVersion(38))
        let long = [UInt8](repeating: 0x61, count: 2_954)
        #expect(throws: QRCodeError.tooLong(byteCount: 2_954, level: .l, fitting: nil)) { try Message(long, .l) }
        let endless = [UInt8](repeating: 0x31, count: 1_000_000)
        #expect(throws: QRCodeError.tooLong(byteCount: 1_000_000, level: .h, fitting: nil)) { try Message(endless, .h) }
        #expect(throws: QRCodeError.empty) { try QRSymbol(encoding: "") }
        let words = QRCodeError.tooLong(byteCount: 2_000, level: .h, fitting: .m).description
        #expect(
            words.contains("2000 bytes") && words.contains("level H, which holds 1273") && words.contains("level M")
        )
        #expect(QRCodeError.tooLong(byteCount: 9_999, level: .l, fitting: nil).description.contains("shorten"))
    }

    @Test func `only a text beyond ASCII says that it is UTF-8`() throws {
        let designator: [UInt8] = [0b0111_0001, 0b1010_0100]
        #expect(
            try Message(Array("é".utf8), isUTF8: true, level: .l, atLeast: .smallest).codewords.starts(with: designator)
        )
        let plain = try Message(Array("e".utf8), isUTF8: true, level: .l, atLeast: .smallest)
        #expect(plain.codewords[0] >> 4 == 0b0100)
        let bytes = try Message(Array("é".utf8), isUTF8: false, level: .l, atLeast: .smallest)
        #expect(bytes.codewords[0] >> 4 == 0b0100)
    }

    @Test func `whatever is to be encoded, nothing crashes`() {
        let texts = ["0", "A0", "héllo 012345678901234567890", String(repeating: "x", count: 300)]
        neverCrash(onTexts: texts, rounds: 60) { text in
            let level = ErrorCorrectionLevel.allCases[text.utf8.count % 4]
            let symbol = try QRSymbol(encoding: text, level: level)
            _ = (symbol.terminalText(.dark, quietZone: -1), symbol.svg(title: text, modulePixels: 0), symbol[-1, 999])
        }
    }
}

extension Message {
    /// The message of bytes in the smallest version.
    fileprivate init(_ bytes: [UInt8], _ level: ErrorCorrectionLevel) throws(QRCodeError) {
        try self.init(bytes, isUTF8: false, level: level, atLeast: .smallest)
    }
}
