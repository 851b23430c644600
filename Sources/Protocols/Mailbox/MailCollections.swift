internal import Identity
internal import OrderedCollections

/// The owners that collect the mail which this node holds for them, each with the mail that it did not confirm yet.
struct MailCollections: Sendable {
    private struct Collection: Sendable {
        /// The mails that were sent or are being read, by their bytes.
        var outstanding: [MailId: Int] = [:]
        var byteCount = 0
        var isReading = false
    }

    private let limits: Mailbox.Limits
    private var collections: OrderedDictionary<PeerId, Collection> = [:]

    init(limits: Mailbox.Limits) { self.limits = limits }

    func contains(_ owner: PeerId) -> Bool { collections[owner] != nil }

    /// Begins with all mail of an owner, also with mail that was sent to it before.
    mutating func start(_ owner: PeerId) {
        // A page that is being read is sent, and its mails once more; the owner ignores duplicates.
        collections[owner] = Collection(isReading: collections[owner]?.isReading ?? false)
    }

    mutating func end(_ owner: PeerId) { collections.removeValue(forKey: owner) }

    /// Takes the mails to be sent next; empty while enough is outstanding, or when none is left.
    ///
    /// A collection ends when all its mail was confirmed.
    mutating func nextPage(for owner: PeerId, from ids: OrderedSet<MailId>, in holdings: Holdings) -> [MailId] {
        guard let collection = collections[owner], !collection.isReading else { return [] }
        // Half of it must be confirmed, so that pages are not small.
        guard collection.outstanding.count <= limits.collectionMails / 2 else { return [] }
        var page: [MailId] = []
        var byteCount = collection.byteCount
        for id in ids where collection.outstanding[id] == nil {
            guard let mail = holdings[id] else { continue }
            let isFirst = collection.outstanding.isEmpty && page.isEmpty
            guard isFirst || byteCount + mail.byteCount <= limits.collectionBytes else { break }
            guard collection.outstanding.count + page.count < limits.collectionMails else { break }
            page.append(id)
            byteCount += mail.byteCount
            collections[owner]?.outstanding[id] = mail.byteCount
        }
        collections[owner]?.byteCount = byteCount
        collections[owner]?.isReading = !page.isEmpty
        if page.isEmpty, collection.outstanding.isEmpty { end(owner) }
        return page
    }

    /// Notes that a page was read; returns whether the owner still collects.
    mutating func noteRead(for owner: PeerId) -> Bool {
        guard collections[owner]?.isReading == true else { return false }
        collections[owner]?.isReading = false
        return true
    }

    /// Notes that mails of an owner are no longer held.
    mutating func remove(_ ids: some Sequence<MailId>, of owner: PeerId) {
        for id in ids {
            guard let byteCount = collections[owner]?.outstanding.removeValue(forKey: id) else { continue }
            collections[owner]?.byteCount -= byteCount
        }
    }
}
