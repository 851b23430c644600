/// Seals a collection: messages of their own under the same header, as the SDKs of OpenTDF make them.
///
/// The key is agreed once, so that a key access service is asked once for all of them. Their order and number are not
/// protected; ``NanoTDFStreamSealer`` does that for the parts of one file.
public struct NanoTDFCollectionSealer: ~Copyable, Sendable {
    private let sealer: NanoTDFSealer
    private var counter = IVCounter()

    /// Takes the header over.
    public init(_ sealer: consuming NanoTDFSealer) {
        self.sealer = sealer
    }

    /// Seals the next message, under the next IV.
    ///
    /// The IVs count from 1, most significant byte first.
    ///
    /// - Throws: ``NanoTDFError/tooLarge(limit:found:)`` for a message above the format's limit, and
    ///   ``NanoTDFError/exhausted`` after 16,777,215 messages.
    public mutating func seal(_ plaintext: [UInt8]) throws(NanoTDFError) -> NanoTDF {
        try sealer.seal(plaintext, iv: counter.next())
    }
}

/// The IVs under one header, each of them once.
struct IVCounter: Sendable {
    private var last = 0

    mutating func next() throws(NanoTDFError) -> Int {
        guard last < 0xFF_FFFF else { throw .exhausted }
        last += 1
        return last
    }
}
