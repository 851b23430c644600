package import CircleModel
internal import Database
package import Essentials

extension UUID: BlobValue {
    package init(blob: Data) throws {
        guard let id = UUID(bytes: [UInt8](blob)) else { throw MalformedColumn(name: "of a UUID") }
        self = id
    }

    package var blob: Data { Data(bytes) }
}

extension PublicID: BlobValue {
    package init(blob: Data) throws { try self.init(bytes: blob) }

    package var blob: Data { Data(bytes) }
}
