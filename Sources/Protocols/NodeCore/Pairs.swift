/// Values by key in insertion order, for a few keys.
///
/// It is a linear search in one allocation: for the one or two entries of a connection it takes less memory and is faster to
/// copy than a hash table.
struct Pairs<Key: Equatable & Sendable, Value: Sendable>: Sendable {
    private var elements: [(key: Key, value: Value)] = []

    var isEmpty: Bool { elements.isEmpty }
    var count: Int { elements.count }
    var keys: [Key] { elements.map(\.key) }

    subscript(key: Key) -> Value? {
        get { position(of: key).map { elements[$0].value } }
        _modify {
            let position = self.position(of: key)
            var value = position.map { elements[$0].value }
            defer { self.set(value, for: key, at: position) }
            yield &value
        }
    }

    @discardableResult
    mutating func removeValue(forKey key: Key) -> Value? {
        position(of: key).map { elements.remove(at: $0).value }
    }

    private mutating func set(_ value: Value?, for key: Key, at position: Int?) {
        switch (position, value) {
        case (let position?, let value?): elements[position].value = value
        case (let position?, nil): elements.remove(at: position)
        case (nil, let value?): elements.append((key, value))
        case (nil, nil): break
        }
    }

    private func position(of key: Key) -> Int? {
        for position in elements.indices where elements[position].key == key { return position }
        return nil
    }
}

extension Pairs: Sequence {
    func makeIterator() -> IndexingIterator<[(key: Key, value: Value)]> { elements.makeIterator() }
}
