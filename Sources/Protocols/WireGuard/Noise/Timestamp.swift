internal import Bytes

/// A TAI64N label: the 12 bytes of an initiation that only ever grow (the paper, section 5.1).
struct Timestamp: Hashable, Comparable, Sendable {
    static let byteCount = 12

    /// The label of 1970-01-01 00:00 TAI, as WireGuard counts it: UTC plus 10 seconds.
    private static let origin: UInt64 = 0x4000_0000_0000_000A
    /// The resolution in nanoseconds: coarse, so that a peer learns little about the clock.
    private static let granule: UInt64 = 1 << 24

    private let seconds: UInt64
    private let nanoseconds: UInt32

    /// The smallest label.
    static let none = Timestamp(seconds: 0, nanoseconds: 0)

    private init(seconds: UInt64, nanoseconds: UInt32) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// The label of a wall time, or of the next granule after `last` if the wall clock has not passed that.
    init(wall: Duration, after last: Timestamp) {
        let (wallSeconds, attoseconds) = wall.components
        let fraction = UInt64(max(attoseconds, 0) / 1_000_000_000)
        let label = Timestamp(
            seconds: Self.origin &+ UInt64(clamping: wallSeconds),
            nanoseconds: UInt32(fraction / Self.granule * Self.granule)
        )
        self = label > last ? label : last.next
    }

    /// Reads the 12 bytes of a label; any are valid.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        seconds = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        nanoseconds = bytes[8...].reduce(0) { $0 << 8 | UInt32($1) }
    }

    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: Self.byteCount)
        writer.write(seconds)
        writer.write(nanoseconds)
        return writer.bytes
    }

    private var next: Timestamp {
        let sum = UInt64(nanoseconds) + Self.granule
        return sum < 1_000_000_000
            ? Timestamp(seconds: seconds, nanoseconds: UInt32(sum))
            : Timestamp(seconds: seconds &+ 1, nanoseconds: 0)
    }

    static func < (left: Timestamp, right: Timestamp) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }
}
