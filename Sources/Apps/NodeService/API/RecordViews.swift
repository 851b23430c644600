/// Records that this node holds, a page of them.
struct RecordsView: Encodable {
    /// One record, without its value.
    struct Record: Encodable {
        /// If it is a text.
        let key: String?
        let keyHex: String
        let writer: String
        let writerText: String
        let label: String?
        let isOwn: Bool
        package let version: UInt64
        package let expiration: UInt64
        package let bytes: Int
        let isDeleted: Bool
    }

    /// Whose records are wanted.
    enum Whose: String, CaseIterable {
        case own
        case held
    }

    /// The most in one answer.
    static let limit = 1000

    package let networkId: String
    /// How many match.
    let total: Int
    package let records: [Record]
}
