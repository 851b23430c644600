internal import Concurrency
package import GRDB

/// A row that is written to a table.
package protocol WrittenRow {
    /// The name of the table.
    static var table: String { get }
    /// The columns that identify a row: the table has at most one with the same values.
    static var key: [String] { get }
    /// The columns besides the key that an upsert leaves as they are.
    static var constants: [String] { get }

    /// The columns of the row with their values, always with the same names in the same order.
    func columns() throws -> [StoredColumn]
}

/// A row that is read from its table, too.
///
/// A type whose members are columns is `Codable` besides: its coding keys are the names of the columns, and reading and
/// writing follow from them. A model of another layer lists its columns in ``init(row:)`` and ``columns()``.
package protocol StoredRow: WrittenRow {
    /// Reads a row.
    ///
    /// - Throws: ``MalformedColumn``.
    init(row: Row) throws
}

/// The name of a column and its value in a row.
package typealias StoredColumn = (name: String, value: DatabaseValue)

extension WrittenRow {
    package static var constants: [String] { [] }
}

extension StoredRow where Self: Decodable {
    package init(row: Row) throws { try self.init(from: RowDecoder(row: row)) }
}

extension WrittenRow where Self: Encodable {
    package func columns() throws -> [StoredColumn] {
        let output = EncodedRow()
        try encode(to: RowEncoder(output: output, column: nil))
        if let refused = output.refused { throw MalformedColumn(name: refused) }
        return output.columns
    }
}

extension StoredRow {
    /// The rows of the table that `clause` selects and orders.
    package static func all(
        _ database: Database,
        _ clause: String = "",
        _ values: (any ColumnValue)?...
    ) throws -> [Self] {
        try rows(database, clause, values).map { try Self(row: $0) }
    }

    /// The first row of the table that `clause` selects, or nil.
    package static func first(
        _ database: Database,
        _ clause: String = "",
        _ values: (any ColumnValue)?...
    ) throws -> Self? {
        try rows(database, clause + " LIMIT 1", values).first.map { try Self(row: $0) }
    }

    private static func rows(_ database: Database, _ clause: String, _ values: [(any ColumnValue)?]) throws -> [Row] {
        let sql = "SELECT * FROM \(table) \(clause)"
        return try database.rows(sql, values)
    }
}

extension WrittenRow {
    /// Inserts the row; returns false, and changes nothing, if the table has one with its key.
    @discardableResult
    package func insert(_ database: Database) throws -> Bool {
        try run(.insert, database)
        return database.changesCount > 0
    }

    /// Inserts the row in place of the one with its key.
    package func upsert(_ database: Database) throws { try run(.upsert, database) }

    private func run(_ kind: RowStatement.Kind, _ database: Database) throws {
        let columns = try columns()
        let sql = RowStatement(type: ObjectIdentifier(Self.self), kind: kind).sql {
            kind.sql(table: Self.table, columns.map(\.name), key: Self.key, constants: Self.constants)
        }
        try database.cachedStatement(sql: sql).execute(arguments: StatementArguments(columns.map(\.value)))
    }
}

/// A statement that follows from a type of rows.
private struct RowStatement: Hashable {
    /// The statements that write a row.
    enum Kind: Hashable {
        case insert
        case upsert

        func sql(table: String, _ columns: [String], key: [String], constants: [String]) -> String {
            let parameters = columns.map { _ in "?" }.joined(separator: ", ")
            let values = "INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(parameters))"
            guard self == .upsert else { return "INSERT OR IGNORE \(values)" }
            let changes = columns.filter { !key.contains($0) && !constants.contains($0) }
                .map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
            return "INSERT \(values) ON CONFLICT (\(key.joined(separator: ", "))) DO UPDATE SET \(changes)"
        }
    }

    private static let texts = Locked<[RowStatement: String]>([:])

    let type: ObjectIdentifier
    let kind: Kind

    /// The text of the statement, which is made once.
    func sql(_ make: () -> String) -> String {
        Self.texts.withLock { texts in
            if let text = texts[self] { return text }
            let text = make()
            texts[self] = text
            return text
        }
    }
}
