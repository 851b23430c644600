/// The I/O thread's time: it never goes backwards, and it goes on when the system's clock jumps back.
///
/// ngtcp2 1.x ends the process when time goes backwards. Standing still until the clock has caught up would be no better:
/// no timer would fire until then, and everything that waits for its turn to be sent would wait with it.
struct SteadyClock {
    private let read: @Sendable () -> UInt64
    private var lastReading: UInt64
    /// The time of the last reading, in nanoseconds.
    private(set) var now: UInt64

    /// Begins with what `read` says, in nanoseconds.
    init(reading read: @escaping @Sendable () -> UInt64) {
        self.read = read
        lastReading = read()
        now = lastReading
    }

    /// Reads the clock and returns the time.
    @discardableResult mutating func advance() -> UInt64 {
        let reading = read()
        if reading > lastReading { now += reading - lastReading }
        lastReading = reading
        return now
    }
}
