package import Identity

/// An address of an interface with the length of its network's prefix.
package struct InterfaceAddress: Hashable, Sendable, CustomStringConvertible {
    package let address: IPAddress
    package let prefixLength: Int

    /// An address, alone in its network without a length; nil if the length does not fit the family.
    package init?(_ address: IPAddress, prefixLength: Int? = nil) {
        let limit = address.isIPv6 ? 128 : 32
        guard (0...limit).contains(prefixLength ?? limit) else { return nil }
        self.address = address
        self.prefixLength = prefixLength ?? limit
    }

    /// Reads `192.0.2.1/24`, or an address alone; nil for other text.
    package init?(parsing text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let address = IPAddress(String(parts[0])) else { return nil }
        guard parts.count == 2 else {
            self.init(address)
            return
        }
        guard let length = Int(parts[1]), parts[1].utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        self.init(address, prefixLength: length)
    }

    package var description: String { "\(address)/\(prefixLength)" }
}
