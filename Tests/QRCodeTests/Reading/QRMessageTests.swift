internal import TestSupport
internal import Testing

@testable internal import QRCode

@Suite("Messages of symbols") struct QRMessageTests {
    private let version: QRVersion

    init() throws {
        version = try #require(QRVersion(5))
    }

    /// The message of these fields, each a value and its width, or nil if it is refused.
    private func message(_ fields: [(Int, Int)]) -> QRMessage? {
        var writer = BitWriter()
        for (value, width) in fields { writer.append(value, width: width) }
        return QRMessage(writer.bytes, version: version)
    }

    private func bytes(_ bytes: [UInt8]) -> [(Int, Int)] {
        [(0b0100, 4), (bytes.count, 8)] + bytes.map { (Int($0), 8) }
    }

    @Test func `digits come in threes, twos and ones`() {
        let digits = [(0b0001, 4), (8, 10), (12, 10), (345, 10), (67, 7), (0, 4)]
        #expect(message(digits)?.text == "01234567")
        #expect(message([(0b0001, 4), (1, 10), (7, 4), (0, 4)])?.text == "7")
        #expect(message([(0b0001, 4), (3, 10), (1_000, 10), (0, 4)]) == nil, "not three digits")
    }

    @Test func `letters come in pairs`() {
        // The standard's own example: AC-42.
        #expect(message([(0b0010, 4), (5, 9), (462, 11), (1_849, 11), (2, 6), (0, 4)])?.text == "AC-42")
        #expect(message([(0b0010, 4), (2, 9), (2_025, 11), (0, 4)]) == nil, "no pair of letters")
    }

    @Test func `bytes are UTF-8 if they can be and ISO 8859-1 otherwise`() {
        #expect(message(bytes(Array("schön".utf8)) + [(0, 4)])?.text == "schön")
        #expect(message(bytes([0x73, 0x63, 0x68, 0xF6, 0x6E]) + [(0, 4)])?.text == "schön")
    }

    @Test func `a character split over two segments is read`() {
        let joined = message(bytes([0x68, 0xC3]) + bytes([0xA4]) + [(0, 4)])
        #expect(joined?.text == "hä")
        #expect(joined?.bytes == [0x68, 0xC3, 0xA4])
    }

    @Test func `what is said to be UTF-8 and is not has no text`() {
        let utf8 = [(0b0111, 4), (26, 8)]
        #expect(message(utf8 + bytes(Array("ß".utf8)) + [(0, 4)])?.text == "ß")
        let broken = message(utf8 + bytes([0xDF]) + [(0, 4)])
        #expect(broken?.text == nil && broken?.bytes == [0xDF])
    }

    @Test func `a character set that is not read gives bytes and no text`() {
        // Assignment 9 is ISO 8859-7; the second form encodes it in two bytes.
        for field in [[(9, 8)], [(0x80, 8), (9, 8)]] {
            let greek = message([(0b0111, 4)] + field + bytes([0xE1]) + [(0, 4)])
            #expect(greek?.bytes == [0xE1])
            #expect(greek != nil && greek?.text == nil)
        }
    }

    @Test func `kanji are given as Shift JIS and as no text`() {
        // The standard's own example: 点 is 0x935F and becomes 0x0D9F.
        let kanji = message([(0b1000, 4), (1, 8), (0xD9F, 13), (0, 4)])
        #expect(kanji?.bytes == [0x93, 0x5F])
        #expect(kanji != nil && kanji?.text == nil)
    }

    @Test func `a part of a message says which it is`() {
        let part = message([(0b0011, 4), (1, 4), (2, 4), (0x5C, 8)] + bytes([0x41]) + [(0, 4)])
        #expect(part?.part == QRMessage.Part(index: 1, count: 3, parity: 0x5C))
        #expect(message([(0b0011, 4), (3, 4), (2, 4), (0x5C, 8)]) == nil, "the fourth of three")
    }

    @Test func `in formatted data a percent sign separates and two are one`() {
        // "A%%B%C" in pairs of the alphanumeric table.
        let pairs = [(10 * 45 + 38, 11), (38 * 45 + 11, 11), (38 * 45 + 12, 11)]
        let text = message([(0b0101, 4), (0b0010, 4), (6, 9)] + pairs + [(0, 4)])?.text
        #expect(text == "A%B\u{1D}C")
        #expect(message([(0b0010, 4), (6, 9)] + pairs + [(0, 4)])?.text == "A%%B%C")
    }

    @Test func `a segment longer than the symbol is refused`() {
        #expect(message([(0b0100, 4), (200, 8), (0x41, 8)]) == nil)
        #expect(message([(0b0001, 4), (1_000, 10), (1, 10)]) == nil)
        #expect(message([(0b1000, 4), (200, 8), (1, 13)]) == nil)
        #expect(message([(0b1111, 4), (1, 8)]) == nil, "no such mode")
    }

    @Test func `no bytes crash the reading of segments`() {
        let version = version
        neverCrash(on: [[0x41, 0x10, 0x71, 0xA4, 0x20], [0x20, 0x29, 0xCE, 0xE7, 0x21, 0]], rounds: 20_000) {
            _ = QRMessage($0, version: version)
        }
    }
}
