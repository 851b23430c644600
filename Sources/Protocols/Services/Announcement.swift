internal import Bytes

/// All services that a node offers in a network, as announced to the connected members.
package struct Announcement: Hashable, Sendable {
    /// The longest announcement, in bytes.
    package static let byteLimit = 512 * 1024

    /// Rises with every change, also over restarts.
    package var version: UInt64
    package var offers: [ServiceOffer]

    package init(version: UInt64, offers: [ServiceOffer]) {
        self.version = version
        self.offers = offers
    }

    /// The binary form.
    package var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 64 + offers.count * 64)
        writer.write(version)
        writer.write(UInt16(offers.count))
        for offer in offers { offer.write(to: &writer) }
        return writer.bytes
    }

    /// Reads the binary form.
    package init(_ bytes: some Collection<UInt8>) throws(WireError) {
        guard bytes.count <= Self.byteLimit else {
            throw .tooLong("an announcement", limit: Self.byteLimit, found: bytes.count)
        }
        self = try WireError.reading(bytes) { reader in
            let version = try reader.readUInt64()
            let count = Int(try reader.readUInt16())
            guard count <= ServiceOffer.countLimit else { throw WireError.malformed("\(count) services") }
            var offers: [ServiceOffer] = []
            for _ in 0..<count { offers.append(try ServiceOffer(reading: &reader)) }
            try Self.checkNames(of: offers)
            return Announcement(version: version, offers: offers)
        }
    }

    /// Whether these services can be announced together.
    ///
    /// - Throws: `WireError` with the rule that they break.
    package static func check(_ offers: [ServiceOffer]) throws(WireError) {
        guard offers.count <= ServiceOffer.countLimit else {
            throw .malformed("\(offers.count) services, at most \(ServiceOffer.countLimit) are allowed")
        }
        for offer in offers { try offer.check() }
        try checkNames(of: offers)
        let byteCount = Announcement(version: 0, offers: offers).bytes.count
        guard byteCount <= byteLimit else {
            throw .tooLong("the services of a node", limit: byteLimit, found: byteCount)
        }
    }

    private static func checkNames(of offers: [ServiceOffer]) throws(WireError) {
        guard Set(offers.map(\.path)).count == offers.count else { throw .malformed("a service is named twice") }
    }
}
