internal import Bytes
internal import TestSupport
internal import Testing

@Suite("CBOR items") struct CBORItemTests {
    /// A key of COSE, with integers of both signs as labels.
    private let key = CBORItem.map([
        .integer(-3): .bytes([3]), .integer(1): .integer(2), .integer(-1): .integer(1), .integer(3): .integer(-7),
        .integer(-2): .bytes([2]),
    ])
    private let keyBytes = "a5010203262001214102224103"

    @Test func `a map with integer keys is in CTAP2's order`() throws {
        #expect(Hex.encode(key.encoded) == keyBytes)
        #expect(try CBORItem(Hex.decode(keyBytes)) == key)
    }

    @Test func `keys are in order of type, length and bytes`() {
        let item = CBORItem.map([
            .text("aa"): .null, .text("b"): .null, .integer(-1): .null, .integer(100): .null, .integer(10): .null,
            .bytes([0]): .null,
        ])
        #expect(Hex.encode(item.encoded) == "a60af61864f620f64100f66162f6626161f6")
    }

    /// An item in the form of RFC 8949, appendix A.
    struct Example: Sendable {
        let hex: String
        let item: CBORItem
    }

    static let examples = [
        Example(hex: "00", item: .integer(0)), Example(hex: "1903e8", item: .integer(1_000)),
        Example(hex: "1bffffffffffffffff", item: .unsigned(.max)),
        Example(hex: "3bffffffffffffffff", item: .negative(.max)), Example(hex: "3903e7", item: .integer(-1_000)),
        Example(hex: "3b7fffffffffffffff", item: .integer(.min)), Example(hex: "f93c00", item: .number(1)),
        Example(hex: "fb3ff199999999999a", item: .number(1.1)), Example(hex: "fa47c35000", item: .number(100_000)),
        Example(hex: "f4", item: .boolean(false)), Example(hex: "f6", item: .null),
        Example(hex: "4401020304", item: .bytes([1, 2, 3, 4])), Example(hex: "62c3bc", item: .text("ü")),
        Example(
            hex: "8301820203820405",
            item: .array([.integer(1), .array([.integer(2), .integer(3)]), .array([.integer(4), .integer(5)])])
        ), Example(hex: "a0", item: .map([:])),
    ]

    @Test(arguments: examples) func `items of the standard are written and read`(example: Example) throws {
        #expect(Hex.encode(example.item.encoded) == example.hex)
        #expect(try CBORItem(Hex.decode(example.hex)) == example.item)
    }

    /// Well-formed bytes in another encoding than the deterministic one.
    static let others = [
        "1801", "190001", "1a00000001", "1b0000000000000001", "3800", "580101", "780161", "980101", "b8010101",
        "fa3f800000", "fb3ff0000000000000", "f7", "c101", "9f01ff", "bf0102ff", "5f41014102ff", "7f61616162ff",
        "a202010102", "a2616101200a", "a26261610161620a",
    ]

    @Test(arguments: others) func `other encodings are refused`(hex: String) throws {
        let bytes = try Hex.decode(hex)
        let error = #expect(throws: BytesError.self) { try CBORItem(bytes) }
        guard case .nonCanonical? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(arguments: [
        "", "18", "41", "8101ff", "ff", "e0", "f820", "a1f601", "a1800102", "a201010102", "a0a0", "1c", "62c328", "81",
        "bbffffffffffffffff", "9bffffffffffffffff", "5bffffffffffffffff", "a2616101616102", "7f61c361bcff", "5f6161ff",
    ])
    func `wrong bytes are refused`(hex: String) throws {
        let bytes = try Hex.decode(hex)
        #expect(throws: BytesError.self) { try CBORItem(bytes) }
    }

    @Test func `keys of equal texts in different bytes are refused`() throws {
        let bytes = try Hex.decode("a2" + "62c3bc01" + "6375cc8802")
        #expect(throws: BytesError.invalidValue("a map with a duplicate key")) { try CBORItem(bytes) }
    }

    @Test func `an item at the front is read, and the rest is left`() throws {
        var reader = ByteReader(try Hex.decode(keyBytes) + [0xA0, 0x07])
        #expect(try reader.readCBORItem() == key)
        #expect(reader.remaining == 2)
        #expect(try reader.readCBORItem() == .map([:]))
        #expect(reader.readRemaining() == [7])
        var short = ByteReader([0x82, 0x01] as [UInt8])
        #expect(throws: BytesError.self) { try short.readCBORItem() }
        #expect(short.remaining == 2)
    }

    @Test func `nesting and length are bounded`() throws {
        let nested = [UInt8](repeating: 0x81, count: 3) + [0x00]
        #expect(try CBORItem(nested, maximumDepth: 3).array?.count == 1)
        #expect(throws: BytesError.tooDeep(limit: 2)) { try CBORItem(nested, maximumDepth: 2) }
        #expect(throws: BytesError.tooLong(limit: 3, found: 4)) { try CBORItem(nested, limit: 3) }
        let deep = [UInt8](repeating: 0x81, count: 100_000)
        #expect(throws: BytesError.tooDeep(limit: CBOR.maximumDepth)) { try CBORItem(deep) }
    }

    @Test func `damaged bytes never crash, and a value has one encoding`() throws {
        let inputs = try (Self.examples.map(\.hex) + Self.others).map { try Hex.decode($0) } + [key.encoded]
        neverCrash(on: inputs, rounds: 10_000) { bytes in
            let item = try CBORItem(bytes)
            // A NaN of another payload is also in its shortest form.
            #expect(item.encoded == bytes || "\(item)".contains("nan"))
        }
    }
}
