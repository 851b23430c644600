/// The changes that a proxy makes to the datagrams that pass it, in each direction.
struct Impairment: Sendable, CustomStringConvertible {
    /// The impairment in words, for the name of a test.
    var description: String
    /// The share of datagrams that are dropped.
    var loss = 0.0
    /// The share of datagrams that are sent twice.
    var duplication = 0.0
    /// The share of datagrams that are held back until a few later ones have passed.
    var reordering = 0.0
    /// The share of datagrams in which one bit is turned.
    var corruption = 0.0
    /// Longer datagrams are dropped.
    var maximumByteCount = Int.max
    /// The number of bytes that pass before longer datagrams are dropped.
    var maximumBeginsAt = 0
    /// The proxy takes a new port towards the server each time that many more bytes have passed.
    var rebindingByteCount = Int.max
    /// The number of bytes that are transferred.
    var transferByteCount = 100_000_000
    /// The number of bytes that are sent back afterwards.
    var answerByteCount = 8_000_000
}

/// The counts of a proxy's actions so far.
struct ProxyCounts: Sendable, Equatable {
    var forwarded = 0
    var lost = 0
    var duplicated = 0
    var reordered = 0
    var corrupted = 0
    var tooLong = 0
    var rebindings = 0
    /// The bytes that passed, in both directions.
    var byteCount = 0
}
