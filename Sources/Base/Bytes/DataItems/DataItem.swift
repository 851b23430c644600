/// A value in the making, as a CBOR data item.
internal enum DataItem {
    case null
    case boolean(Bool)
    case unsigned(UInt64)
    /// The number -1 - n.
    case negative(UInt64)
    case single(Float)
    case double(Double)
    case text(String)
    case bytes([UInt8])
    /// A container, or a value that a holder of this encoder may still change.
    case container(DataItemEncoder)

    /// An integer of any width.
    init(_ value: some FixedWidthInteger) {
        self = value < 0 ? .negative(UInt64(-1 - value)) : .unsigned(UInt64(value))
    }

    /// Appends the item.
    ///
    /// The entries of a map are sorted by the bytes of their keys, the elements of a set by their own, and of equal keys
    /// only the last counts, so that equal values have equal bytes.
    func write(to writer: inout ByteWriter, depth: Int) throws {
        switch self {
        case .null: DataItemHead.null.write(to: &writer)
        case .boolean(let value): DataItemHead.boolean(value).write(to: &writer)
        case .unsigned(let value): DataItemHead.unsigned(value).write(to: &writer)
        case .negative(let value): DataItemHead.negative(value).write(to: &writer)
        case .single(let value): DataItemHead.single(value).write(to: &writer)
        case .double(let value): DataItemHead.double(value).write(to: &writer)
        case .text(let value):
            DataItemHead.text(count: value.utf8.count).write(to: &writer)
            writer.write(utf8: value)
        case .bytes(let value):
            DataItemHead.bytes(count: value.count).write(to: &writer)
            writer.write(value)
        case .container(let encoder):
            guard depth < CBOR.maximumDepth else {
                throw BytesError.tooDeep(limit: CBOR.maximumDepth)
            }
            switch encoder.content {
            case .nothing: DataItemHead.map(count: 0).write(to: &writer)
            case .item(let item): try item.write(to: &writer, depth: depth + 1)
            case .array(let items):
                DataItemHead.array(count: items.count).write(to: &writer)
                if let stride = encoder.unordered?.stride {
                    try write(items, unorderedBy: stride, to: &writer, depth: depth + 1)
                } else {
                    for item in items { try item.write(to: &writer, depth: depth + 1) }
                }
            case .map(let entries):
                let entries = sorted(entries)
                DataItemHead.map(count: entries.count).write(to: &writer)
                for entry in entries {
                    writer.write(entry.key)
                    try entry.item.write(to: &writer, depth: depth + 1)
                }
            }
        }
    }

    private func write(
        _ items: [DataItem],
        unorderedBy stride: Int,
        to writer: inout ByteWriter,
        depth: Int
    ) throws {
        let groups = try Swift.stride(from: 0, to: items.count, by: stride).map { start in
            var group = ByteWriter()
            for item in items[start..<min(start + stride, items.count)] {
                try item.write(to: &group, depth: depth)
            }
            return group.bytes
        }
        for group in groups.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            writer.write(group)
        }
    }

    private func sorted(_ entries: [(key: String, item: DataItem)]) -> [(key: [UInt8], item: DataItem)] {
        let encoded = entries.enumerated().map { index, entry in
            var key = ByteWriter(capacity: entry.key.utf8.count + 1)
            DataItemHead.text(count: entry.key.utf8.count).write(to: &key)
            key.write(utf8: entry.key)
            return (key: key.bytes, index: index)
        }
        let order = encoded.sorted { left, right in
            left.key == right.key ? left.index < right.index : left.key.lexicographicallyPrecedes(right.key)
        }
        var result: [(key: [UInt8], item: DataItem)] = []
        result.reserveCapacity(order.count)
        for (key, index) in order {
            if result.last?.key == key { result.removeLast() }
            result.append((key, entries[index].item))
        }
        return result
    }
}

/// A type that is written and read as one item, without Codable.
internal protocol DataItemConvertible {
    var dataItem: DataItem { get }
    init(from decoder: DataItemDecoder) throws
}

extension DataItemConvertible where Self: FixedWidthInteger {
    var dataItem: DataItem { DataItem(self) }

    init(from decoder: DataItemDecoder) throws {
        self = try decoder.readInteger()
    }
}

extension UInt8: DataItemConvertible {}
extension UInt16: DataItemConvertible {}
extension UInt32: DataItemConvertible {}
extension UInt64: DataItemConvertible {}
extension UInt: DataItemConvertible {}
extension Int8: DataItemConvertible {}
extension Int16: DataItemConvertible {}
extension Int32: DataItemConvertible {}
extension Int64: DataItemConvertible {}
extension Int: DataItemConvertible {}

extension Bool: DataItemConvertible {
    var dataItem: DataItem { .boolean(self) }

    init(from decoder: DataItemDecoder) throws {
        self = try decoder.readBoolean()
    }
}

extension Float: DataItemConvertible {
    var dataItem: DataItem { .single(self) }

    init(from decoder: DataItemDecoder) throws {
        self = Float(try decoder.readDouble())
    }
}

extension Double: DataItemConvertible {
    var dataItem: DataItem { .double(self) }

    init(from decoder: DataItemDecoder) throws {
        self = try decoder.readDouble()
    }
}

extension String: DataItemConvertible {
    var dataItem: DataItem { .text(self) }

    init(from decoder: DataItemDecoder) throws {
        self = try decoder.readText()
    }
}

extension Array: DataItemConvertible where Element == UInt8 {
    var dataItem: DataItem { .bytes(self) }

    init(from decoder: DataItemDecoder) throws {
        self = try decoder.readBytes()
    }
}

/// A collection that writes its elements in an order of chance.
internal protocol DataItemUnordered {
    /// The number of items that belong together.
    static var stride: Int { get }
}

extension Set: DataItemUnordered {
    static var stride: Int { 1 }
}

/// Codable writes keys that are neither texts nor integers as an array of keys and values in turn.
extension Dictionary: DataItemUnordered {
    static var stride: Int { 2 }
}
