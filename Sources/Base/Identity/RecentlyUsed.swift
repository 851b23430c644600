/// A dictionary of recently written entries, in two generations of `limit` entries each: eviction requires no scan.
package struct RecentlyUsed<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let limit: Int
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]

    package init(limit: Int) {
        self.limit = limit
    }

    /// The number of entries; one that is in both generations counts twice.
    package var count: Int { young.count + old.count }

    package subscript(key: Key) -> Value? {
        get { young[key] ?? old[key] }
        set {
            guard let newValue else {
                young[key] = nil
                old[key] = nil
                return
            }
            if young.count >= limit, young[key] == nil {
                old = young
                young = [:]
            }
            young[key] = newValue
        }
    }
}
