package import Essentials
package import GRDB
package import Identity

/// A value that one column of a table holds.
///
/// Numbers are never negative. Reading never traps.
package protocol ColumnValue {
    /// Reads a stored value; nil for NULL, and for a value that this type does not write.
    init?(column: DatabaseValue)

    /// The value as SQLite takes it.
    var column: DatabaseValue { get }
}

extension ColumnValue where Self: FixedWidthInteger {
    package init?(column: DatabaseValue) {
        guard case .int64(let number) = column.storage, number >= 0 else { return nil }
        self.init(exactly: number)
    }

    /// The number; one above the largest of SQLite is stored as that.
    package var column: DatabaseValue { Int64(clamping: self).databaseValue }
}

extension Int: ColumnValue {}
extension UInt16: ColumnValue {}
extension UInt32: ColumnValue {}
extension UInt64: ColumnValue {}

extension Bool: ColumnValue {
    /// Reads a number: 0 is false.
    package init?(column: DatabaseValue) {
        guard let number = UInt64(column: column) else { return nil }
        self = number != 0
    }

    package var column: DatabaseValue { databaseValue }
}

extension String: ColumnValue {
    package init?(column: DatabaseValue) {
        guard case .string(let text) = column.storage else { return nil }
        self = text
    }

    package var column: DatabaseValue { databaseValue }
}

/// A value that is stored as its bytes.
package protocol BlobValue: ColumnValue {
    /// Reads the bytes.
    init(blob: Data) throws

    /// The bytes.
    var blob: Data { get }
}

extension BlobValue {
    package init?(column: DatabaseValue) {
        guard case .blob(let data) = column.storage else { return nil }
        do {
            self = try Self(blob: data)
        } catch {
            return nil
        }
    }

    package var column: DatabaseValue { blob.databaseValue }
}

extension Data: BlobValue {
    package init(blob: Data) { self = blob }

    package var blob: Data { self }
}

extension PeerId: BlobValue {
    package init(blob: Data) throws { try self.init(rawRepresentation: blob) }

    package var blob: Data { rawRepresentation }
}

extension NetworkId: BlobValue {
    package init(blob: Data) throws { try self.init(rawRepresentation: blob) }

    package var blob: Data { rawRepresentation }
}

extension RendezvousKey: BlobValue {
    package init(blob: Data) throws { try self.init(rawRepresentation: blob) }

    package var blob: Data { Data(bytes) }
}

extension Bytes32: BlobValue {
    package init(blob: Data) throws {
        guard let words = Bytes32(blob) else { throw MalformedColumn(name: "of \(Bytes32.byteCount) bytes") }
        self = words
    }

    package var blob: Data { Data(bytes) }
}

/// An element of arrays of which each is one BLOB.
package protocol BlobElement {
    /// Reads the elements of a BLOB.
    static func elements(in blob: Data) throws -> [Self]

    /// The bytes of elements, without a length.
    static func blob(of elements: [Self]) -> Data
}

extension UInt8: BlobElement {
    package static func elements(in blob: Data) -> [UInt8] { [UInt8](blob) }

    package static func blob(of elements: [UInt8]) -> Data { Data(elements) }
}

extension PeerId: BlobElement {
    package static func elements(in blob: Data) throws -> [PeerId] {
        try stride(from: blob.startIndex, to: blob.endIndex, by: byteCount).map { start in
            try PeerId(rawRepresentation: blob[start..<min(start + byteCount, blob.endIndex)])
        }
    }

    package static func blob(of elements: [PeerId]) -> Data { Data(elements.flatMap(\.bytes)) }
}

extension Array: ColumnValue, BlobValue where Element: BlobElement {
    package init(blob: Data) throws { self = try Element.elements(in: blob) }

    package var blob: Data { Element.blob(of: self) }
}

extension Optional where Wrapped: ColumnValue {
    /// The value as SQLite takes it, or NULL.
    package var column: DatabaseValue { self?.column ?? .null }
}
