internal import Bytes
internal import TestSupport
internal import Testing

/// The examples in `docs/spec/encodings.md` are held against the code and the vector files.
@Suite("The specification of encodings") struct SpecificationTests {
    /// The tables of the document: rows of cells, by the title of the first column.
    private let tables: [String: [[String]]]

    init() throws {
        tables = TestSupport.tables(in: try packageText(named: "docs/spec/encodings.md"))
    }

    @Test func `its texts are what the code writes and the vectors contain`() throws {
        let rows = try #require(tables["Encoding, Bytes, Text"])
        let vectors = try TextVectors.load()
        #expect(rows.count >= TextEncoding.allCases.count)
        for row in rows {
            let encoding = try #require(TextEncoding(rawValue: row[0]))
            #expect(encoding.encode(try Hex.decode(row[1])) == row[2])
            #expect(
                vectors.valid.contains { $0.encoding == encoding && $0.bytes == row[1] && $0.text == row[2] },
                "\(row)"
            )
        }
    }

    @Test func `its variable-length integers are what the code writes`() throws {
        let rows = try #require(tables["Value, Varint"])
        #expect(rows.count == 4)
        for row in rows {
            var writer = ByteWriter()
            writer.writeVarint(try #require(UInt64(row[0])))
            #expect(Hex.encode(writer.bytes) == row[1])
        }
    }

    @Test func `its bincode examples stand in the vectors`() throws {
        let rows = try #require(tables["Value, Bytes"])
        let vectors: BincodeVectors = try vectors(named: "Bytes/bincode.json")
        #expect(rows.count == 5)
        for row in rows {
            #expect(vectors.valid.contains { $0.name == row[0] && $0.bytes == row[1] }, "\(row)")
        }
    }

    @Test func `its bounds are those of the code`() throws {
        let text = try packageText(named: "docs/spec/encodings.md")
        #expect(text.contains("At most \(CheckedBase32.maximumByteCount) bytes may be encoded"))
        #expect(text.contains("At most \(Base58.maximumByteCount)\nbytes"))
        #expect(text.contains("Values nest at most \(Bincode.maximumDepth) deep"))
        #expect(Bincode.defaultLimit == 1 << 20)
    }
}
