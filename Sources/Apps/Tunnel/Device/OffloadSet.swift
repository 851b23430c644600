/// The offloads of a device, by the kernel's numbers (`TUN_F_…`).
package struct OffloadSet: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The device completes checksums; every other offload needs it.
    package static let checksum = Self(rawValue: 0x01)
    /// The kernel hands out super-packets of TCP over IPv4.
    package static let tcp4 = Self(rawValue: 0x02)
    /// The kernel hands out super-packets of TCP over IPv6.
    package static let tcp6 = Self(rawValue: 0x04)
    /// The kernel hands out super-packets of UDP over IPv4 and IPv6, since Linux 6.2.
    package static let udp = Self(rawValue: 0x20 | 0x40)

    package static let all: Self = [.checksum, .tcp4, .tcp6, .udp]

    /// Returns the largest set that `isAccepted` takes, which is called with growing sets.
    ///
    /// A refused offload does not affect the others. The kernel keeps the last accepted set.
    static func negotiate(_ wanted: Self, isAccepted: (Self) -> Bool) -> Self {
        guard wanted.contains(.checksum), isAccepted(.checksum) else { return [] }
        var accepted = Self.checksum
        for offload in [tcp4, tcp6, udp] where wanted.contains(offload) {
            if isAccepted(accepted.union(offload)) { accepted.formUnion(offload) }
        }
        return accepted
    }
}
