internal import Bytes
internal import Identity
internal import Kademlia
internal import RunarNode

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

extension RequestHandler {
    func recordsView(of name: NetworkName?, _ whose: RecordsView.Whose, _ page: Page) throws -> RecordsView {
        let network = try resolve(name).networkId
        var page = page
        page.limit = min(page.limit ?? RecordsView.limit, RecordsView.limit)
        let own = node.peerId
        let heads = node.heldHeads(networkId: network)
        // What is said of a writer fits for all of its records or for none.
        let writers = Dictionary(grouping: heads.indices) { heads[$0].writer }
        var found: [Int] = []
        for (writer, records) in writers where whose == .held || writer == own {
            if page.matches([writer.text, watch?.label(of: writer)]) {
                found += records
            } else {
                found += records.filter { index in
                    let key = heads[index].key
                    return page.matches([String(validating: key, as: UTF8.self), Hex.encode(key)])
                }
            }
        }
        found.sort { one, other in
            heads[one].key == heads[other].key
                ? heads[one].writer < heads[other].writer
                : heads[one].key.lexicographicallyPrecedes(heads[other].key)
        }
        let records = page.cut(found).map { index in
            let head = heads[index]
            return RecordsView.Record(
                key: String(validating: head.key, as: UTF8.self),
                keyHex: Hex.encode(head.key),
                writer: head.writer.base64Encoded,
                writerText: head.writer.text,
                label: watch?.label(of: head.writer),
                isOwn: head.writer == own,
                version: head.version,
                expiration: head.expirySeconds,
                bytes: head.valueByteCount,
                isDeleted: head.isTombstone
            )
        }
        return RecordsView(networkId: network.base64Encoded, total: found.count, records: records)
    }
}
