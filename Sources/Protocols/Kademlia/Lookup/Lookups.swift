/// The lookups in flight, by number.
struct Lookups: Sendable {
    private var tasks: [UInt32: LookupTask] = [:]
    private var lastNumber: UInt32 = 0

    subscript(number: UInt32) -> LookupTask? {
        get { tasks[number] }
        _modify { yield &tasks[number] }
    }

    /// Adds a lookup and returns its number.
    mutating func add(_ task: LookupTask) -> UInt32 {
        repeat { lastNumber &+= 1 } while tasks[lastNumber] != nil
        tasks[lastNumber] = task
        return lastNumber
    }

    /// Removes and returns a lookup.
    @discardableResult
    mutating func remove(_ number: UInt32) -> LookupTask? { tasks.removeValue(forKey: number) }
}
