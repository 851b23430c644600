/// Records that this node holds, a page of them.
package struct RecordsView: Codable {
    /// One record, without its value.
    struct Record: Codable {
        /// If it is a text.
        let key: String?
        let keyHex: String
        let writer: String
        let writerText: String
        let label: String?
        let isOwn: Bool
        let version: UInt64
        let expiration: UInt64
        let bytes: Int
        let isDeleted: Bool
    }

    /// The selection of records by their writers.
    package enum Whose: String, Codable, CaseIterable, Sendable {
        case own
        case held
    }

    /// The most in one answer.
    static let limit = 1000

    let networkId: String
    /// The number of matches.
    let total: Int
    let records: [Record]
}
