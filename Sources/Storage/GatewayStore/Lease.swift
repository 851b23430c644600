package import Bytes
internal import Database
internal import GRDB
package import Identity

/// The right of a client to use the tunnel until a time.
///
/// The keys are those of one connection, and erased with the lease.
package struct Lease: Sendable, Equatable {
    package let slot: LeaseSlot
    /// The X25519 key of the client's end of the tunnel.
    package let clientKey: Bytes32
    /// The preshared key, 32 bytes.
    package let presharedKey: SecretBytes
    /// The first second in which the lease has ended.
    package let ends: UInt64
    /// The bytes that the client sent and received, as far as they were recorded.
    package let byteCount: UInt64

    package init(
        slot: LeaseSlot,
        clientKey: Bytes32,
        presharedKey: SecretBytes,
        ends: UInt64,
        byteCount: UInt64 = 0
    ) {
        self.slot = slot
        self.clientKey = clientKey
        self.presharedKey = presharedKey
        self.ends = ends
        self.byteCount = byteCount
    }
}

extension Lease: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The slot and the end, without a key.
    package var description: String { "Lease(slot \(slot.number), ends \(ends), redacted)" }

    /// The slot and the end, without a key.
    package var debugDescription: String { description }

    /// A mirror without children.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension Lease {
    /// - Throws: ``MalformedColumn``.
    init(row: Row) throws {
        let number: Int = try row.value("slot")
        guard let slot = LeaseSlot(number) else { throw MalformedColumn(name: "slot") }
        var secret: [UInt8] = try row.value("preshared_key")
        try self.init(
            slot: slot,
            clientKey: row.value("client_key"),
            presharedKey: SecretBytes(consuming: &secret),
            ends: row.value("ends"),
            byteCount: row.value("byte_count")
        )
    }
}

/// The request for a lease, of a client that redeemed a token.
package struct LeaseRequest: Sendable {
    package let clientKey: Bytes32
    package let presharedKey: SecretBytes
    /// The first second in which the lease has ended.
    package let ends: UInt64
    /// The first second in which the lease has ended if the client has not connected before.
    package let unconfirmedEnds: UInt64

    package init(clientKey: Bytes32, presharedKey: SecretBytes, ends: UInt64, unconfirmedEnds: UInt64) {
        self.clientKey = clientKey
        self.presharedKey = presharedKey
        self.ends = ends
        self.unconfirmedEnds = min(unconfirmedEnds, ends)
    }
}
