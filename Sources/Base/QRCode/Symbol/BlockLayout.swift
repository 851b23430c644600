/// The division of a symbol's codewords into blocks that are corrected each by itself (ISO/IEC 18004, table 9).
///
/// Blocks differ by at most one data codeword, the shorter ones first. In the symbol they are interleaved, so that a
/// stain damages each of them a little instead of one of them a lot.
package struct BlockLayout: Equatable, Sendable {
    /// The data codewords of each block.
    package let dataCounts: [Int]
    /// The error correction codewords of every block.
    package let correctionCount: Int

    /// The blocks of a version at a level.
    package init(_ version: QRVersion, _ level: ErrorCorrectionLevel) {
        let (count, correction) = Self.table[version.number - 1][level.index]
        let data = version.codewordCount - count * correction
        let longer = data % count
        dataCounts = (0..<count).map { data / count + ($0 < count - longer ? 0 : 1) }
        correctionCount = correction
    }

    /// The data codewords of all blocks together.
    package var dataCount: Int { dataCounts.reduce(0, +) }

    /// The block and the index of each codeword of the symbol, in the order of placement.
    ///
    /// First the data codewords, one of each block in turn, then in the same way the error correction codewords, which
    /// are counted on behind the data of their block.
    package var order: [(block: Int, index: Int)] {
        var order: [(block: Int, index: Int)] = []
        for index in 0..<(dataCounts.last ?? 0) {
            for (block, count) in dataCounts.enumerated() where index < count { order.append((block, index)) }
        }
        for index in 0..<correctionCount {
            for (block, count) in dataCounts.enumerated() { order.append((block, count + index)) }
        }
        return order
    }

    /// For each version the number of blocks and their error correction codewords at levels L, M, Q and H.
    private static let table: [[(count: Int, correction: Int)]] = [
        [(1, 7), (1, 10), (1, 13), (1, 17)],
        [(1, 10), (1, 16), (1, 22), (1, 28)],
        [(1, 15), (1, 26), (2, 18), (2, 22)],
        [(1, 20), (2, 18), (2, 26), (4, 16)],
        [(1, 26), (2, 24), (4, 18), (4, 22)],
        [(2, 18), (4, 16), (4, 24), (4, 28)],
        [(2, 20), (4, 18), (6, 18), (5, 26)],
        [(2, 24), (4, 22), (6, 22), (6, 26)],
        [(2, 30), (5, 22), (8, 20), (8, 24)],
        [(4, 18), (5, 26), (8, 24), (8, 28)],
        [(4, 20), (5, 30), (8, 28), (11, 24)],
        [(4, 24), (8, 22), (10, 26), (11, 28)],
        [(4, 26), (9, 22), (12, 24), (16, 22)],
        [(4, 30), (9, 24), (16, 20), (16, 24)],
        [(6, 22), (10, 24), (12, 30), (18, 24)],
        [(6, 24), (10, 28), (17, 24), (16, 30)],
        [(6, 28), (11, 28), (16, 28), (19, 28)],
        [(6, 30), (13, 26), (18, 28), (21, 28)],
        [(7, 28), (14, 26), (21, 26), (25, 26)],
        [(8, 28), (16, 26), (20, 30), (25, 28)],
        [(8, 28), (17, 26), (23, 28), (25, 30)],
        [(9, 28), (17, 28), (23, 30), (34, 24)],
        [(9, 30), (18, 28), (25, 30), (30, 30)],
        [(10, 30), (20, 28), (27, 30), (32, 30)],
        [(12, 26), (21, 28), (29, 30), (35, 30)],
        [(12, 28), (23, 28), (34, 28), (37, 30)],
        [(12, 30), (25, 28), (34, 30), (40, 30)],
        [(13, 30), (26, 28), (35, 30), (42, 30)],
        [(14, 30), (28, 28), (38, 30), (45, 30)],
        [(15, 30), (29, 28), (40, 30), (48, 30)],
        [(16, 30), (31, 28), (43, 30), (51, 30)],
        [(17, 30), (33, 28), (45, 30), (54, 30)],
        [(18, 30), (35, 28), (48, 30), (57, 30)],
        [(19, 30), (37, 28), (51, 30), (60, 30)],
        [(19, 30), (38, 28), (53, 30), (63, 30)],
        [(20, 30), (40, 28), (56, 30), (66, 30)],
        [(21, 30), (43, 28), (59, 30), (70, 30)],
        [(22, 30), (45, 28), (62, 30), (74, 30)],
        [(24, 30), (47, 28), (65, 30), (77, 30)],
        [(25, 30), (49, 28), (68, 30), (81, 30)],
    ]
}
