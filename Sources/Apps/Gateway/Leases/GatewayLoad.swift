/// The load of a gateway in percent, from its clients and its throughput.
struct GatewayLoad: Hashable, Sendable {
    /// The leases and the most of them.
    var leaseCount = 0
    let leaseLimit: Int
    /// The bytes a second since the last measurement, and those at which the load is 100.
    var throughput: UInt64 = 0
    let capacity: UInt64

    init(leaseLimit: Int, capacity: UInt64) {
        self.leaseLimit = leaseLimit
        self.capacity = capacity
    }

    /// From 0 to 100: the larger of the two shares, rounded up, so that 0 is an idle gateway.
    var percent: Int {
        max(
            Self.percent(UInt64(clamping: leaseCount), of: UInt64(clamping: leaseLimit)),
            Self.percent(throughput, of: capacity)
        )
    }

    private static func percent(_ part: UInt64, of whole: UInt64) -> Int {
        guard whole > 0 else { return 100 }
        let share = min(part, whole).multipliedFullWidth(by: 100)
        let (quotient, remainder) = whole.dividingFullWidth(share)
        return Int(clamping: quotient) + (remainder > 0 ? 1 : 0)
    }
}
