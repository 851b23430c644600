package import Database
package import NodeStore

/// The inner circle of this device's person, in the database of the node.
package struct CircleStore: Sendable {
    let database: StateDatabase

    /// Adds the tables of the circle to the database of a node, or brings them to their present version.
    ///
    /// - Throws: ``StorageError``.
    package init(_ node: NodeStore) throws(StorageError) {
        database = node.database
        try database.attach(.circle)
    }
}
