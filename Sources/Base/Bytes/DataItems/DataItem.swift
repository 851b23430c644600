/// A value on its way into bytes, as CBOR and MessagePack see it.
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
    func write<Format: DataItemFormat>(to writer: inout ByteWriter, in format: Format.Type, depth: Int) throws {
        switch self {
        case .null: format.write(.null, to: &writer)
        case .boolean(let value): format.write(.boolean(value), to: &writer)
        case .unsigned(let value): format.write(.unsigned(value), to: &writer)
        case .negative(let value): format.write(.negative(value), to: &writer)
        case .single(let value): format.write(.single(value), to: &writer)
        case .double(let value): format.write(.double(value), to: &writer)
        case .text(let value):
            format.write(.text(count: value.utf8.count), to: &writer)
            writer.write(utf8: value)
        case .bytes(let value):
            format.write(.bytes(count: value.count), to: &writer)
            writer.write(value)
        case .container(let encoder):
            guard depth < DataItems.maximumDepth else {
                throw BytesError.tooDeep(limit: DataItems.maximumDepth)
            }
            switch encoder.content {
            case .nothing: format.write(.map(count: 0), to: &writer)
            case .item(let item): try item.write(to: &writer, in: format, depth: depth + 1)
            case .array(let items):
                format.write(.array(count: items.count), to: &writer)
                if let stride = encoder.unordered?.stride {
                    try write(items, unorderedBy: stride, to: &writer, in: format, depth: depth + 1)
                } else {
                    for item in items { try item.write(to: &writer, in: format, depth: depth + 1) }
                }
            case .map(let entries):
                let entries = sorted(entries, in: format)
                format.write(.map(count: entries.count), to: &writer)
                for entry in entries {
                    writer.write(entry.key)
                    try entry.item.write(to: &writer, in: format, depth: depth + 1)
                }
            }
        }
    }

    private func write(
        _ items: [DataItem],
        unorderedBy stride: Int,
        to writer: inout ByteWriter,
        in format: (some DataItemFormat).Type,
        depth: Int
    ) throws {
        let groups = try Swift.stride(from: 0, to: items.count, by: stride).map { start in
            var group = ByteWriter()
            for item in items[start..<min(start + stride, items.count)] {
                try item.write(to: &group, in: format, depth: depth)
            }
            return group.bytes
        }
        for group in groups.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            writer.write(group)
        }
    }

    private func sorted(
        _ entries: [(key: String, item: DataItem)],
        in format: (some DataItemFormat).Type
    ) -> [(key: [UInt8], item: DataItem)] {
        let encoded = entries.enumerated().map { index, entry in
            var key = ByteWriter(capacity: entry.key.utf8.count + 1)
            format.write(.text(count: entry.key.utf8.count), to: &key)
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
    init<Format: DataItemFormat>(from decoder: DataItemDecoder<Format>) throws
}

extension DataItemConvertible where Self: FixedWidthInteger {
    var dataItem: DataItem { DataItem(self) }

    init<Format: DataItemFormat>(from decoder: DataItemDecoder<Format>) throws {
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

    init<Format: DataItemFormat>(from decoder: DataItemDecoder<Format>) throws {
        self = try decoder.readBoolean()
    }
}

extension Float: DataItemConvertible {
    var dataItem: DataItem { .single(self) }

    init<Format: DataItemFormat>(from decoder: DataItemDecoder<Format>) throws {
        self = Float(try decoder.readDouble())
    }
}

extension Double: DataItemConvertible {
    var dataItem: DataItem { .double(self) }

    init<Format: DataItemFormat>(from decoder: DataItemDecoder<Format>) throws {
        self = try decoder.readDouble()
    }
}

extension String: DataItemConvertible {
    var dataItem: DataItem { .text(self) }

    init<Format: DataItemFormat>(from decoder: DataItemDecoder<Format>) throws {
        self = try decoder.readText()
    }
}

extension Array: DataItemConvertible where Element == UInt8 {
    var dataItem: DataItem { .bytes(self) }

    init<Format: DataItemFormat>(from decoder: DataItemDecoder<Format>) throws {
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
