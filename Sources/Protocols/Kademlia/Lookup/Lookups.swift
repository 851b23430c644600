/// The lookups in flight, by number.
struct Lookups: Sendable {
    private var tasks: [UInt32: LookupTask] = [:]
    private var lastNumber: UInt32 = 0

    subscript(number: UInt32) -> LookupTask? {
        get { self.tasks[number] }
        _modify { yield &self.tasks[number] }
    }

    /// Adds a lookup and returns its number.
    mutating func add(_ task: LookupTask) -> UInt32 {
        repeat { self.lastNumber &+= 1 } while self.tasks[self.lastNumber] != nil
        self.tasks[self.lastNumber] = task
        return self.lastNumber
    }

    /// Removes and returns a lookup.
    @discardableResult
    mutating func remove(_ number: UInt32) -> LookupTask? { self.tasks.removeValue(forKey: number) }
}
