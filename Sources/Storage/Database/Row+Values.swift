package import GRDB

/// A column that does not hold what this program writes there.
package struct MalformedColumn: Error, CustomStringConvertible {
    let name: String

    package init(name: String) { self.name = name }

    package var description: String { "the column \(name) holds something unexpected" }
}

extension Row {
    /// The value of a column: a ``ColumnValue``, or a type that is coded as one, like an enumeration of words.
    ///
    /// - Throws: ``MalformedColumn`` for NULL, for another value, and without the column.
    package func value<Value>(_ name: String, as type: Value.Type = Value.self) throws -> Value {
        guard let value = ColumnDecoder.value(type, of: try stored(name)) else { throw MalformedColumn(name: name) }
        return value
    }

    /// The value of a column, or nil for NULL.
    ///
    /// - Throws: ``MalformedColumn`` for another value, and without the column.
    package func optional<Value>(_ name: String, as type: Value.Type = Value.self) throws -> Value? {
        try stored(name).isNull ? nil : value(name, as: type)
    }

    /// The value as it is stored: GRDB's subscripts trap on one of another type.
    func stored(_ name: String) throws -> DatabaseValue {
        guard hasColumn(name) else { throw MalformedColumn(name: name) }
        return self[name]
    }
}

extension Database {
    /// Runs one statement with the values of its parameters; it is compiled once for each text.
    package func run(_ sql: String, _ values: (any ColumnValue)?...) throws {
        try cachedStatement(sql: sql).execute(arguments: StatementArguments(columns: values))
    }

    /// Whether a query has a row.
    package func hasRow(_ sql: String, _ values: (any ColumnValue)?...) throws -> Bool {
        try row(sql, values) != nil
    }

    /// The only column of the first row of a query; nil without a row, and for NULL.
    package func value<Value: ColumnValue>(
        _ sql: String,
        _ values: (any ColumnValue)?...,
        as type: Value.Type = Value.self
    ) throws -> Value? {
        try row(sql, values).flatMap { row in
            try row.optional(row.columnNames.first ?? "", as: type)
        }
    }

    /// The only column of the rows of a query.
    package func values<Value: ColumnValue>(
        _ sql: String,
        _ values: (any ColumnValue)?...,
        as type: Value.Type = Value.self
    ) throws -> [Value] {
        try rows(sql, values).map { row in try row.value(row.columnNames.first ?? "", as: type) }
    }

    /// The rows of a query, which is compiled once for each text.
    package func rows(_ sql: String, _ values: [(any ColumnValue)?]) throws -> [Row] {
        try Row.fetchAll(cachedStatement(sql: sql), arguments: StatementArguments(columns: values))
    }

    private func row(_ sql: String, _ values: [(any ColumnValue)?]) throws -> Row? {
        try Row.fetchOne(cachedStatement(sql: sql), arguments: StatementArguments(columns: values))
    }
}

extension StatementArguments {
    /// The values of parameters in order.
    init(columns: [(any ColumnValue)?]) { self.init(columns.map { $0?.column ?? .null }) }
}
