/// A data item of CBOR (RFC 8949) as a value.
///
/// Codable writes maps with keys of text. This type serves formats that the sender's types cannot describe: COSE, whose
/// maps have integer keys, and items that other bytes follow.
package indirect enum CBORItem: Hashable, Sendable {
    case unsigned(UInt64)
    /// The number -1 - n.
    case negative(UInt64)
    case number(Double)
    case bytes([UInt8])
    case text(String)
    case array([CBORItem])
    /// A map, whose keys are integers, byte strings or texts.
    case map([CBORItem: CBORItem])
    case boolean(Bool)
    case null

    /// Creates an integer of either sign.
    package static func integer(_ value: Int64) -> CBORItem {
        value < 0 ? .negative(UInt64(-1 - value)) : .unsigned(UInt64(value))
    }
}

// The contents of an item of one kind, or nil if it is of another kind.
extension CBORItem {
    /// An integer that 64 bits with a sign can hold.
    package var integer: Int64? {
        switch self {
        case .unsigned(let value): Int64(exactly: value)
        case .negative(let value): Int64(exactly: value).map { -1 - $0 }
        case .number, .bytes, .text, .array, .map, .boolean, .null: nil
        }
    }

    package var bytes: [UInt8]? {
        guard case .bytes(let value) = self else { return nil }
        return value
    }

    package var text: String? {
        guard case .text(let value) = self else { return nil }
        return value
    }

    package var array: [CBORItem]? {
        guard case .array(let value) = self else { return nil }
        return value
    }

    package var map: [CBORItem: CBORItem]? {
        guard case .map(let value) = self else { return nil }
        return value
    }
}

extension CBORItem {
    /// The item in deterministic CBOR (RFC 8949, section 4.2.1), which is CTAP2's canonical form at the same time.
    ///
    /// Keys of maps are in the order of their bytes. For integers, byte strings and texts with the shortest heads, that
    /// order is CTAP2's: by major type, then by length, then by bytes.
    package var encoded: [UInt8] {
        var writer = ByteWriter()
        write(to: &writer)
        return writer.bytes
    }

    private func write(to writer: inout ByteWriter) {
        switch self {
        case .unsigned(let value): DataItemHead.unsigned(value).write(to: &writer)
        case .negative(let value): DataItemHead.negative(value).write(to: &writer)
        case .number(let value): DataItemHead.double(value).write(to: &writer)
        case .boolean(let value): DataItemHead.boolean(value).write(to: &writer)
        case .null: DataItemHead.null.write(to: &writer)
        case .bytes(let value):
            DataItemHead.bytes(count: value.count).write(to: &writer)
            writer.write(value)
        case .text(let value):
            DataItemHead.text(count: value.utf8.count).write(to: &writer)
            writer.write(utf8: value)
        case .array(let items):
            DataItemHead.array(count: items.count).write(to: &writer)
            for item in items { item.write(to: &writer) }
        case .map(let entries):
            DataItemHead.map(count: entries.count).write(to: &writer)
            let encoded = entries.map { (key: $0.key.encoded, value: $0.value) }
            for entry in encoded.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
                writer.write(entry.key)
                entry.value.write(to: &writer)
            }
        }
    }
}
