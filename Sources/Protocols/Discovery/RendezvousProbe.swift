internal import Bytes
internal import Crypto
internal import Identity

/// An announcement of a device that has a token but not yet the member secret, for the members to open.
///
/// A rendezvous probe is a tag and the announcement sealed to the network's rendezvous key. The tag is a keyed hash of the
/// encapsulated key under the rendezvous key, so that members recognise their own probes at the cost of one hash: a probe of
/// a non-member causes no key agreement. Every probe is sealed anew, so two probes cannot be linked.
enum RendezvousProbe {
    /// The length of every rendezvous probe.
    static let byteCount = tagByteCount + RendezvousKey.sealingByteCount + Announcement.byteCount
    private static let tagByteCount = 16
    private static let encapsulatedByteCount = 32
    private static let label = DomainLabel("runar/knock/v1")
    private static let tagLabel = DomainLabel("runar/knock-tag/v1")

    /// Makes a rendezvous probe; nil if nothing can be sealed to the key.
    static func seal(
        _ announcement: Announcement,
        to key: RendezvousKey,
        by seal: (_ message: [UInt8], RendezvousKey, _ info: [UInt8]) -> [UInt8]?
    ) -> [UInt8]? {
        guard let sealed = seal(announcement.bytes, key, info(of: announcement.token.networkId)),
            sealed.count == byteCount - tagByteCount
        else { return nil }
        return tag(of: sealed[..<encapsulatedByteCount], for: key) + sealed
    }

    /// Whether the tag matches the members' rendezvous key; opening the probe decides whether it is genuine.
    static func isAddressed(_ datagram: [UInt8], to key: RendezvousKey) -> Bool {
        guard datagram.count == byteCount else { return false }
        let encapsulated = datagram[tagByteCount..<tagByteCount + encapsulatedByteCount]
        return ConstantTime.areEqual(Array(datagram.prefix(tagByteCount)), tag(of: encapsulated, for: key))
    }

    /// The announcement's bytes in a rendezvous probe, or nil if it was not sealed to this key.
    static func open(_ datagram: [UInt8], of network: NetworkId, with key: RendezvousKeyPair) -> [UInt8]? {
        guard datagram.count == byteCount else { return nil }
        return key.open(datagram.dropFirst(tagByteCount), info: info(of: network))
    }

    private static func info(of network: NetworkId) -> [UInt8] { label.message(network.bytes) }

    private static func tag(of encapsulated: ArraySlice<UInt8>, for key: RendezvousKey) -> [UInt8] {
        let code = HMAC<SHA256>.authenticationCode(
            for: tagLabel.message(Array(encapsulated)),
            using: SymmetricKey(data: key.bytes)
        )
        return Array(code.prefix(tagByteCount))
    }
}
