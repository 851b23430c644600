internal import Database
package import Essentials
package import GRDB
package import Identity
package import RegistrationModel

extension UserId: BlobValue {
    package init(blob: Data) throws { try self.init(blob) }

    package var blob: Data { Data(bytes) }
}

extension UniqueId: BlobValue {
    package init(blob: Data) throws {
        guard let id = UniqueId(blob) else { throw MalformedColumn(name: "of \(UniqueId.byteCount) bytes") }
        self = id
    }

    package var blob: Data { Data(bytes) }
}

extension Handle: ColumnValue {
    /// Reads a handle of an account; nil for another text.
    package init?(column: DatabaseValue) {
        guard let text = String(column: column) else { return nil }
        do {
            try self.init(existing: text)
        } catch {
            return nil
        }
    }

    package var column: DatabaseValue { text.column }
}

extension DIDKey: ColumnValue {
    /// Reads the text of a DID; nil for another text.
    package init?(column: DatabaseValue) {
        guard let text = String(column: column) else { return nil }
        do {
            try self.init(text)
        } catch {
            return nil
        }
    }

    package var column: DatabaseValue { description.column }
}
