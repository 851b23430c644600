internal import Bytes

extension [UInt8] {
    /// Appends bytes that may contain keys, and wipes the memory that the array outgrows.
    mutating func append(secret bytes: some Collection<UInt8>) {
        makeRoom(for: bytes.count)
        append(contentsOf: bytes)
    }

    /// Makes room for `count` more bytes, and wipes the memory that the array outgrows.
    mutating func makeRoom(for count: Int) {
        guard self.count + count > capacity else { return }
        var larger: [UInt8] = []
        // Doubling keeps the number of copies of each byte constant on average.
        larger.reserveCapacity(Swift.max(self.count + count, 2 * capacity))
        larger.append(contentsOf: self)
        wipe()
        swap(&self, &larger)
    }
}
