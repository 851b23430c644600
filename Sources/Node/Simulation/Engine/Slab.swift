/// Values by small reusable numbers, for references in events.
struct Slab<Value> {
    private var values: [Value?] = []
    private var free: [UInt32] = []

    /// The number of values.
    var count: Int { values.count - free.count }

    mutating func insert(_ value: Value) -> UInt32 {
        guard let slot = free.popLast() else {
            values.append(value)
            return UInt32(values.count - 1)
        }
        values[Int(slot)] = value
        return slot
    }

    /// Takes a value out; its number is given to another.
    mutating func remove(_ slot: UInt32) -> Value? {
        var value: Value?
        swap(&value, &values[Int(slot)])
        if value != nil { free.append(slot) }
        return value
    }

    subscript(slot: UInt32) -> Value? {
        get { Int(slot) < values.count ? values[Int(slot)] : nil }
        _modify { yield &values[Int(slot)] }
    }

    /// The numbers in use, ascending.
    var slots: [UInt32] { values.indices.filter { values[$0] != nil }.map { UInt32($0) } }
}
