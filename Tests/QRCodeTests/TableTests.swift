internal import Testing

@testable internal import QRCode

/// The tables that every reader and writer needs, checked against the standard's own.
@Suite("Tables of ISO/IEC 18004") struct TableTests {
    private let standard: Standard

    init() throws {
        standard = try Standard.load()
    }

    @Test func `every version has the codewords, remainder bits and alignment patterns of the tables`() {
        #expect(standard.versions.map(\.number) == QRVersion.all.map(\.number))
        for (row, version) in zip(standard.versions, QRVersion.all) {
            #expect(version.codewordCount == row.codewords, "\(version)")
            #expect(version.dataModuleCount % 8 == row.remainderBits, "\(version)")
            #expect(version.alignmentCentres == row.alignment, "\(version)")
            #expect(version.information == row.information.flatMap { UInt32($0, radix: 16) } || version.number < 7)
            #expect(QRVersion(size: version.size) == version)
        }
        #expect([0, 41, -1].allSatisfy { QRVersion($0) == nil })
        #expect([17, 22, 181].allSatisfy { QRVersion(size: $0) == nil })
    }

    @Test func `every format has the word of the table`() throws {
        for level in ErrorCorrectionLevel.allCases {
            let words = try #require(standard.formats[level.rawValue]).compactMap { UInt32($0, radix: 16) }
            #expect(MaskPattern.all.map { FormatInformation(level: level, mask: $0).bits } == words)
        }
    }

    @Test func `a format with three wrong bits is recognised, with four it is not`() {
        func near(_ bits: UInt32) -> [FormatInformation] { FormatInformation.all.filter { $0.distance(to: bits) <= 3 } }
        for format in FormatInformation.all {
            #expect(near(format.bits ^ 0b100_0001_0000_0100) == [format])
            #expect(!near(format.bits ^ 0b11_0000_0000_0011).contains(format))
        }
    }

    @Test func `the blocks of every version and level use up its codewords`() {
        for version in QRVersion.all {
            for level in ErrorCorrectionLevel.allCases {
                let blocks = BlockLayout(version, level)
                let total = blocks.dataCount + blocks.dataCounts.count * blocks.correctionCount
                #expect(total == version.codewordCount)
                #expect((blocks.dataCounts.max() ?? 0) - (blocks.dataCounts.min() ?? 0) <= 1)
                let places = Set(blocks.order.map { $0.block * 1000 + $0.index })
                #expect(places.count == total && blocks.order.count == total)
            }
        }
    }

    @Test func `byte capacities are those of the table`() throws {
        for (number, levels) in standard.byteCapacities {
            let version = try #require(Int(number).flatMap { QRVersion($0) })
            for level in ErrorCorrectionLevel.allCases {
                let width = try #require(SegmentMode.byte.countWidth(in: version))
                let bits = BlockLayout(version, level).dataCount * 8 - SegmentMode.indicatorWidth - width
                #expect(bits / 8 == levels[level.rawValue], "\(version) \(level)")
            }
        }
    }

    @Test func `function patterns leave exactly the data modules, each once in the order of placement`() {
        for version in QRVersion.all {
            let layout = ModuleLayout(version)
            let free = layout.isFunction.indices.filter { !layout.isFunction[$0] }
            #expect(free.count == version.dataModuleCount)
            #expect(layout.placement.sorted() == free)
        }
    }

    @Test func `the positions of format and version information do not overlap`() {
        for version in QRVersion.all {
            let layout = ModuleLayout(version)
            let copies = layout.formatPositions + (version.number < 7 ? [] : layout.versionPositions)
            let positions = copies.flatMap { $0 }
            #expect(Set(positions).count == positions.count)
            #expect(positions.allSatisfy { 0..<layout.size ~= $0.x && 0..<layout.size ~= $0.y })
        }
    }

    @Test func `the eight masks repeat every twelve modules and differ from each other`() {
        let images = MaskPattern.all.map { mask in
            (0..<144).map { mask.inverts(x: $0 % 12, y: $0 / 12) }
        }
        #expect(Set(images).count == 8)
        for (mask, image) in zip(MaskPattern.all, images) {
            #expect((0..<144).map { mask.inverts(x: $0 % 12 + 24, y: $0 / 12 + 12) } == image)
            #expect(MaskPattern(mask.reference) == mask)
        }
        #expect(MaskPattern(-1) == nil && MaskPattern(8) == nil)
    }

    @Test func `each element of the field but 0 has an inverse, and powers go round`() {
        for element in UInt8(1)...255 {
            #expect(GaloisField.multiply(element, GaloisField.inverse(of: element)) == 1)
            #expect(GaloisField.power(GaloisField.logarithms[Int(element)]) == element)
        }
        #expect(GaloisField.power(-1) == GaloisField.inverse(of: 2) && GaloisField.power(255) == 1)
        #expect(GaloisField.multiply(0, 7) == 0 && GaloisField.multiply(0x80, 2) == 0x1D)
    }

    @Test func `bits come out as they went in, and never more of them`() {
        var writer = BitWriter()
        writer.append(0b101, width: 3)
        writer.append(0x1234, width: 13)
        writer.append(1, width: 1)
        #expect(writer.count == 17 && writer.bytes == [0b1011_0010, 0x34, 0x80])
        var reader = BitReader(writer.bytes)
        #expect(reader.read(3) == 0b101 && reader.read(13) == 0x1234 && reader.read(9) == nil)
        #expect(reader.remaining == 8 && reader.read(8) == 0x80 && reader.read(1) == nil && reader.read(0) == 0)
    }
}
