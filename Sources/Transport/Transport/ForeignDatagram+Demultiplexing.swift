extension ForeignDatagram {
    /// Whether a datagram on the socket is not QUIC: every packet of ours has the fixed bit set, because greasing it is
    /// never advertised (RFC 9287), and STUN never has (RFC 8489, section 5).
    package static func isForeign(_ bytes: some Collection<UInt8>) -> Bool {
        guard let first = bytes.first else { return false }
        return first & 0x40 == 0
    }
}
