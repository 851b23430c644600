extension String {
    /// The text that `bytes` encode in UTF-8; nil for bytes that are no UTF-8.
    ///
    /// It is there for systems that are older than `String(validating:as:)`.
    public init?(utf8 bytes: some Collection<UInt8>) {
        let text = String(decoding: bytes, as: UTF8.self)
        // What is no UTF-8 was replaced.
        guard text.utf8.elementsEqual(bytes) else { return nil }
        self = text
    }
}
