internal import TestSupport
internal import Testing

@testable internal import QRCode

/// The comparison of masks.
@Suite("Mask penalty") struct MaskPenaltyTests {
    private func modules(_ rows: [String]) -> [Bool] { rows.joined().map { $0 == "1" } }

    private func penalty(_ rows: [String]) -> MaskPenalty { MaskPenalty(of: modules(rows), size: rows.count) }

    /// The four rules once more, on texts, as literally as in the standard.
    private func plainly(_ rows: [String]) -> (runs: Int, squares: Int, finderLikes: Int, imbalance: Int) {
        let size = rows.count
        let cells = rows.map(Array.init)
        let lines = cells + (0..<size).map { x in (0..<size).map { cells[$0][x] } }
        var (runs, squares, finderLikes) = (0, 0, 0)
        for line in lines {
            var start = 0
            for end in 1...size where end == size || line[end] != line[start] {
                if end - start >= 5 { runs += 3 + end - start - 5 }
                start = end
            }
            let padded = Array("0000") + line + Array("0000")
            for place in 4..<4 + size - 6 where padded[place..<place + 7].elementsEqual("1011101") {
                guard padded[place - 1] == "0", padded[place + 7] == "0" else { continue }
                let before = padded[place - 4..<place].elementsEqual("0000")
                let after = place + 11 <= padded.count && padded[place + 7..<place + 11].elementsEqual("0000")
                if before || after { finderLikes += 40 }
            }
        }
        for y in 1..<size {
            for x in 1..<size {
                let square = [cells[y][x], cells[y - 1][x], cells[y][x - 1], cells[y - 1][x - 1]]
                if Set(square).count == 1 { squares += 3 }
            }
        }
        let percent = Double(rows.joined().count { $0 == "1" }) * 100 / Double(size * size)
        return (runs, squares, finderLikes, Int(abs(percent - 50) / 5) * 10)
    }

    @Test func `a chequered square costs nothing`() {
        let rows = (0..<10).map { $0 % 2 == 0 ? "0101010101" : "1010101010" }
        #expect(penalty(rows).total == 0)
    }

    @Test func `a light square costs runs, squares and its want of dark modules`() {
        let found = penalty([String](repeating: "000000", count: 6))
        #expect(found.runs == 12 * 4 && found.squares == 25 * 3 && found.finderLikes == 0 && found.imbalance == 100)
    }

    @Test func `the finder patterns of a symbol are among the likenesses that cost`() throws {
        let symbol = try QRSymbol(encoding: "finder")
        let rows = (0..<symbol.size).map { y in String((0..<symbol.size).map { symbol[$0, y] ? "1" : "0" }) }
        // Each of the three crosses one row group of three and one column group of three.
        #expect(penalty(rows).finderLikes >= 3 * 6 * 40)
    }

    @Test func `a likeness needs four light modules on one side and single dark ones at its ends`() {
        func likeness(_ line: String) -> Int {
            let empty = (0..<line.count - 1).map { _ in String(repeating: "0", count: line.count) }
            return penalty([line] + empty).finderLikes
        }
        #expect(likeness("1011101000000") == 40)
        #expect(likeness("0101110101101") == 40)
        #expect(likeness("1101110100000") == 0)
        #expect(likeness("1101011101011") == 0)
        #expect(likeness("0001101110110") == 0)
        #expect(likeness("1000010111011") == 0)
        #expect(likeness("1000010111010") == 40)
    }

    @Test func `the rules agree with a plain reading of them on noise, stripes and symbols`() throws {
        var random = SplitMix64(seed: 3)
        var images: [[String]] = []
        for size in [7, 21, 30] {
            for density in [2, 3, 5] {
                images.append(
                    (0..<size).map { _ in
                        String((0..<size).map { _ in Int.random(in: 0..<density, using: &random) == 0 ? "1" : "0" })
                    }
                )
            }
            let stripe = String((0..<size).map { Array("1011101000")[$0 % 10] })
            images.append([String](repeating: stripe, count: size))
        }
        for mask in MaskPattern.all {
            let message = try Message(Array("symbol".utf8), isUTF8: true, level: .l, atLeast: .smallest)
            let symbol = QRSymbol(message, level: .l, mask: mask)
            images.append((0..<symbol.size).map { y in String((0..<symbol.size).map { symbol[$0, y] ? "1" : "0" }) })
        }
        for rows in images {
            let (found, plain) = (penalty(rows), plainly(rows))
            #expect(found.runs == plain.runs && found.squares == plain.squares)
            #expect(found.finderLikes == plain.finderLikes && found.imbalance == plain.imbalance)
        }
    }

    @Test func `the mask with the least penalty is chosen, the first of equals`() throws {
        for text in ["a", "runar", "0123456789", "RUNAR://JOIN/"] {
            let message = try Message(Array(text.utf8), isUTF8: true, level: .m, atLeast: .smallest)
            let penalties = MaskPattern.all.map { mask in
                let symbol = QRSymbol(message, level: .m, mask: mask)
                return MaskPenalty(of: symbol.modules, size: symbol.size).total
            }
            let chosen = try QRSymbol(encoding: text).mask.reference
            #expect(chosen == penalties.firstIndex(of: penalties.min() ?? 0))
        }
    }
}
