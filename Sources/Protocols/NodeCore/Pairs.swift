/// Values by key in insertion order, for a few keys.
///
/// It is a linear search in one allocation: for the one or two entries of a connection it takes less memory and is faster to
/// copy than a hash table.
struct Pairs<Key: Equatable & Sendable, Value: Sendable>: Sendable {
    private var elements: [(key: Key, value: Value)] = []

    var isEmpty: Bool { self.elements.isEmpty }
    var count: Int { self.elements.count }
    var keys: [Key] { self.elements.map(\.key) }

    subscript(key: Key) -> Value? {
        get { self.position(of: key).map { self.elements[$0].value } }
        _modify {
            let position = self.position(of: key)
            var value = position.map { self.elements[$0].value }
            defer { self.set(value, for: key, at: position) }
            yield &value
        }
    }

    @discardableResult
    mutating func removeValue(forKey key: Key) -> Value? {
        self.position(of: key).map { self.elements.remove(at: $0).value }
    }

    private mutating func set(_ value: Value?, for key: Key, at position: Int?) {
        switch (position, value) {
        case (let position?, let value?): self.elements[position].value = value
        case (let position?, nil): self.elements.remove(at: position)
        case (nil, let value?): self.elements.append((key, value))
        case (nil, nil): break
        }
    }

    private func position(of key: Key) -> Int? {
        for position in self.elements.indices where self.elements[position].key == key { return position }
        return nil
    }
}

extension Pairs: Sequence {
    func makeIterator() -> IndexingIterator<[(key: Key, value: Value)]> { self.elements.makeIterator() }
}
