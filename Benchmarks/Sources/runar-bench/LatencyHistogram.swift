/// The latencies of a measurement in buckets, of which each is at most 1/32 wider than its smallest value.
struct LatencyHistogram {
    /// The buckets of one power of two.
    private static let bucketsPerOctave = 32
    private static let octaveBits = 5
    /// Up to 2^32 microseconds.
    private static let octaveCount = 28

    private var counts = [Int](repeating: 0, count: (octaveCount + 1) * bucketsPerOctave)
    private(set) var count = 0

    mutating func add(_ latency: Duration) {
        let microseconds = UInt64(max(latency.microseconds, 0))
        counts[min(Self.bucket(of: microseconds), counts.count - 1)] += 1
        count += 1
    }

    /// Returns the upper end of the bucket below which `part` of all latencies are, in milliseconds.
    func milliseconds(below part: Double) -> Double {
        let rank = Int((part * Double(count)).rounded(.up))
        var seen = 0
        for (bucket, number) in counts.enumerated() {
            seen += number
            if seen >= rank, seen > 0 { return Double(Self.end(of: bucket)) / 1_000 }
        }
        return 0
    }

    private static func bucket(of value: UInt64) -> Int {
        guard value >= UInt64(bucketsPerOctave) else { return Int(value) }
        let shift = UInt64.bitWidth - value.leadingZeroBitCount - octaveBits - 1
        return (shift + 1) * bucketsPerOctave + Int(value >> UInt64(shift)) - bucketsPerOctave
    }

    private static func end(of bucket: Int) -> UInt64 {
        guard bucket >= bucketsPerOctave else { return UInt64(bucket) + 1 }
        let shift = UInt64(bucket / bucketsPerOctave - 1)
        return UInt64(bucket % bucketsPerOctave + bucketsPerOctave + 1) << shift
    }
}
