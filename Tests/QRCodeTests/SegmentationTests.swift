internal import TestSupport
internal import Testing

@testable internal import QRCode

/// Which parts of a text are packed how.
@Suite("Segmentation") struct SegmentationTests {
    private let modes: [SegmentMode] = [.numeric, .alphanumeric, .byte]

    /// The bits of one segment, counted as the standard's formulas do.
    private func bits(_ count: Int, _ mode: SegmentMode, _ version: QRVersion) -> Int {
        let header = 4 + (mode.countWidth(in: version) ?? 0)
        switch mode {
        case .numeric: return header + count / 3 * 10 + [0, 4, 7][count % 3]
        case .alphanumeric: return header + count / 2 * 11 + count % 2 * 6
        default: return header + count * 8
        }
    }

    private func fits(_ bytes: ArraySlice<UInt8>, _ mode: SegmentMode) -> Bool {
        let alphabet: [UInt8]
        switch mode {
        case .numeric: alphabet = Array("0123456789".utf8)
        case .alphanumeric: alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:".utf8)
        default: return true
        }
        return bytes.allSatisfy(alphabet.contains)
    }

    /// The fewest bits of any division, by trying every last segment of every prefix.
    private func fewestBits(_ bytes: [UInt8], _ version: QRVersion) -> Int {
        var fewest = [0]
        for end in 1...bytes.count {
            var best = Int.max
            for start in 0..<end {
                for mode in modes where fits(bytes[start..<end], mode) {
                    best = min(best, fewest[start] + bits(end - start, mode, version))
                }
            }
            fewest.append(best)
        }
        return fewest[bytes.count]
    }

    @Test(arguments: [1, 9, 10, 26, 27, 40])
    func `no division of a text takes fewer bits`(number: Int) throws {
        let version = try #require(QRVersion(number))
        var random = SplitMix64(seed: UInt64(number))
        var several = 0
        for _ in 0..<60 {
            // Runs of several kinds, whose lengths lie around those at which another mode begins to pay.
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                let alphabet = ["0123456789", "ABC $%:", "abc", "é", "0A"].map { Array($0.utf8) }
                let kind = alphabet[Int.random(in: alphabet.indices, using: &random)]
                for _ in 0..<Int.random(in: 1...16, using: &random) {
                    bytes.append(kind[Int.random(in: kind.indices, using: &random)])
                }
            }
            let found = Segmentation(of: bytes, in: version)
            #expect(found.bitCount == fewestBits(bytes, version), "\(bytes)")
            let taken = found.segments.reduce(0) { $0 + bits($1.bytes.count, $1.mode, version) }
            #expect(found.bitCount == taken)
            #expect(found.segments.flatMap(\.bytes) == bytes)
            #expect(found.segments.allSatisfy { fits($0.bytes, $0.mode) })
            if found.segments.count > 1 { several += 1 }
        }
        // Otherwise nothing was tried.
        #expect(several > 10)
    }

    @Test func `a mode is changed only where that pays`() throws {
        func modes(_ text: String, _ number: Int = 1) throws -> [SegmentMode] {
            let version = try #require(QRVersion(number))
            return Segmentation(of: Array(text.utf8), in: version).segments.map(\.mode)
        }
        #expect(try modes("0123456789") == [.numeric])
        #expect(try modes("RUNAR://JOIN/ABC234") == [.alphanumeric])
        #expect(try modes("abc123") == [.byte])
        #expect(try modes("abc1234") == [.byte, .numeric])
        #expect(try modes("abc1234", 27) == [.byte])
        #expect(try modes("abcABCDEFGHIJKL0123456789012345abc") == [.byte, .alphanumeric, .numeric, .byte])
    }

    @Test func `nothing is divided into nothing`() {
        let none = Segmentation(of: [], in: .smallest)
        #expect(none.segments.isEmpty && none.bitCount == 0)
    }
}
