internal import Identity

extension Lookup {
    enum State: UInt8, Sendable {
        /// Known by name.
        case heard
        /// Asked, and not late yet.
        case asked
        /// Late: somebody else is asked in its place.
        case slow
        /// So late that the search may end without it.
        case overdue
        /// It answered.
        case answered
        /// It cannot be reached or did not answer.
        case failed
    }

    struct Candidate: Sendable {
        var contact: Contact
        /// How many answers gave each of the contact's addresses, the most trusted ones first.
        var addressMentions: [UInt8]
        let distance: Distance
        let path: Int
        /// Steps from this node.
        var hops: Int
        /// The numbers of the first candidates that named it; none if it is of this node's own table.
        var introducers: [Int]
        /// The introducer whose trust a question to it uses up.
        var patron: Int?
        /// Its own number, by which others name it as their introducer.
        let number: Int
        /// How many answers named it, this node's table being one of them.
        var mentions: Int
        var isConnected: Bool
        var state: State
    }
}

extension Lookup.Candidate {
    /// Takes in what one more answer gives as addresses; returns whether one of them is new.
    mutating func hear(of addresses: [SocketAddress], limit: Int) -> Bool {
        var isNew = false
        for address in addresses {
            if let index = self.contact.addresses.firstIndex(of: address) {
                self.addressMentions[index] += self.addressMentions[index] < .max ? 1 : 0
                var place = index
                while place > 0, self.addressMentions[place - 1] < self.addressMentions[place] {
                    self.addressMentions.swapAt(place, place - 1)
                    self.contact.addresses.swapAt(place, place - 1)
                    place -= 1
                }
            } else if self.contact.addresses.count < limit {
                self.contact.addresses.append(address)
                self.addressMentions.append(1)
                isNew = true
            }
        }
        return isNew
    }
}

extension Lookup {
    /// The slots for questions under way, by path and kind.
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
                self.connected[path] -= 1
                return self.connected[path] >= 0
            }
            self.dialled[path] -= 1
            return self.dialled[path] >= 0
        }
    }
}
