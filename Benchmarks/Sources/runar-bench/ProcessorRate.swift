/// Operations for each second of processor time, from several slices of a measurement.
///
/// Two rates whose slices alternate see the same state of the machine, and other processes do not count.
struct ProcessorRate {
    private var seconds = 0.0
    private var count = 0

    /// Runs `body` with each number of `operations`.
    ///
    /// No other thread of the process may work meanwhile, because the time is that of the process.
    mutating func measure(_ operations: Range<Int>, _ body: (Int) throws -> Void) rethrows {
        let started = LoadClient.processorSeconds
        for number in operations { try body(number) }
        seconds += LoadClient.processorSeconds - started
        count += operations.count
    }

    var perSecond: Double { Double(count) / seconds }
    /// The time of one operation.
    var milliseconds: Double { seconds * 1_000 / Double(count) }
}
