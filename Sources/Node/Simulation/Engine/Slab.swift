/// Values by small reusable numbers, for references in events.
struct Slab<Value> {
    private var values: [Value?] = []
    private var free: [UInt32] = []

    /// The number of values.
    var count: Int { self.values.count - self.free.count }

    mutating func insert(_ value: Value) -> UInt32 {
        guard let slot = self.free.popLast() else {
            self.values.append(value)
            return UInt32(self.values.count - 1)
        }
        self.values[Int(slot)] = value
        return slot
    }

    /// Takes a value out; its number is given to another.
    mutating func remove(_ slot: UInt32) -> Value? {
        var value: Value?
        swap(&value, &self.values[Int(slot)])
        if value != nil { self.free.append(slot) }
        return value
    }

    subscript(slot: UInt32) -> Value? {
        get { Int(slot) < self.values.count ? self.values[Int(slot)] : nil }
        _modify { yield &self.values[Int(slot)] }
    }

    /// The numbers in use, ascending.
    var slots: [UInt32] { self.values.indices.filter { self.values[$0] != nil }.map { UInt32($0) } }
}
