package import CircleModel
package import Database
package import GRDB

extension Profile: StoredRow {
    package static let table = "profiles"
    package static let key = ["id"]

    package init(row: Row) throws {
        self.init(
            id: try row.value("id"),
            name: try row.value("name"),
            blurb: try row.optional("blurb"),
            interests: try row.value("interests"),
            location: try row.value("location"),
            hasHighEncryption: try row.value("has_high_encryption"),
            hasHighIdentityAssurance: try row.value("has_high_identity_assurance"),
            did: try row.optional("did"),
            handle: try row.optional("handle")
        )
    }

    package func columns() -> [StoredColumn] {
        [
            ("id", id.column), ("public_id", publicID.column), ("name", name.column), ("blurb", blurb.column),
            ("interests", interests.column), ("location", location.column),
            ("has_high_encryption", hasHighEncryption.column),
            ("has_high_identity_assurance", hasHighIdentityAssurance.column), ("did", did.column),
            ("handle", handle.column),
        ]
    }
}

extension CircleStore {
    /// The profile with a public id, or nil.
    ///
    /// - Throws: ``StorageError``.
    package func profile(_ publicID: PublicID) throws(StorageError) -> Profile? {
        try database.read { try Profile.first($0, "WHERE public_id = ?", publicID) }
    }
}
