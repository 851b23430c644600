/// The I/O thread's time, which advances monotonically even if the system's clock jumps back.
///
/// ngtcp2 1.x ends the process if time goes backwards. Clamping the time until the clock has caught up would be no better:
/// no timer would fire until then, and all data that waits for a timer would be delayed.
struct SteadyClock {
    private let read: @Sendable () -> UInt64
    private var lastReading: UInt64
    /// The time of the last reading, in nanoseconds.
    private(set) var now: UInt64

    /// Starts with the result of `read`, in nanoseconds.
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
