internal import Identity

extension Lookup {
    enum State: UInt8, Sendable {
        /// Known by name.
        case heard
        /// A query is pending, and not late yet.
        case pending
        /// Late: another candidate is queried in its place.
        case slow
        /// So late that the search may end without it.
        case overdue
        /// It answered.
        case answered
        /// It cannot be reached or did not answer.
        case failed

        var isBad: Bool { self == .overdue || self == .failed }
    }

    /// A candidate for the nearest members.
    ///
    /// It has only the fields that every step reads, because a step reads many candidates.
    struct Candidate: Sendable {
        let distance: Distance
        /// Its place among the acquaintances, by which others name it as their introducer.
        let number: Int32
        /// The introducer whose trust a query to it consumes.
        var patron: Int32?
        let path: UInt8
        /// Steps from this node.
        var hops: UInt8
        /// The number of answers that named it, this node's table being one of them.
        var mentions: UInt16
        /// Whether it is of this node's own table.
        let isOwn: Bool
        var isConnected: Bool
        var state: State

        /// Whether an introducer must vouch for it.
        var needsPatron: Bool { !isConnected && !isOwn }
    }

    /// The parts of a candidate that are not needed to order it.
    struct Acquaintance: Sendable {
        var contact: Contact
        /// The number of answers that gave each of the contact's addresses, the most trusted ones first.
        var addressMentions: [UInt8]
        /// The numbers of the first candidates that named it; none if it is of this node's own table.
        var introducers: [Int32]
        /// The results of the contacts that it named: queried, answered, failed.
        var waiting: Int32 = 0
        var good: Int32 = 0
        var bad: Int32 = 0

        /// The number of its contacts that may be tried, and fail: some on credit, and more for each that answered.
        var budget: Int32 { 4 + 3 * good }
        /// The number of its contacts that may be tried now.
        var trust: Int32 { budget - bad - waiting }
    }

    /// One of the nearest that a lookup ends with.
    struct Answerer: Sendable {
        let contact: Contact
        let distance: Distance
        let hops: Int
    }
}

extension Lookup.Acquaintance {
    /// Adds the addresses of one more answer; returns whether one of them is new.
    mutating func hear(of addresses: [SocketAddress], limit: Int) -> Bool {
        var isNew = false
        for address in addresses {
            if let index = contact.addresses.firstIndex(of: address) {
                addressMentions[index] += addressMentions[index] < .max ? 1 : 0
                var place = index
                while place > 0, addressMentions[place - 1] < addressMentions[place] {
                    addressMentions.swapAt(place, place - 1)
                    contact.addresses.swapAt(place, place - 1)
                    place -= 1
                }
            } else if contact.addresses.count < limit {
                contact.addresses.append(address)
                addressMentions.append(1)
                isNew = true
            }
        }
        return isNew
    }
}

extension Lookup {
    /// The slots for pending queries, by path and kind.
    struct Slots {
        private var connected: [Int]
        private var dialled: [Int]

        init(paths: Int, connected: Int, dialled: Int) {
            self.connected = [Int](repeating: connected, count: paths)
            self.dialled = [Int](repeating: dialled, count: paths)
        }

        @discardableResult
        mutating func take(path: Int, isConnected: Bool) -> Bool {
            if isConnected {
                connected[path] -= 1
                return connected[path] >= 0
            }
            dialled[path] -= 1
            return dialled[path] >= 0
        }
    }
}
