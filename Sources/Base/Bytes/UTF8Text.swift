extension String {
    /// Decodes UTF-8; nil if `bytes` are not valid UTF-8.
    ///
    /// Replaces `String(validating:as:)`, which requires newer systems.
    public init?(utf8 bytes: some Collection<UInt8>) {
        let text = String(decoding: bytes, as: UTF8.self)
        // Decoding replaces invalid sequences, so the bytes differ.
        guard text.utf8.elementsEqual(bytes) else { return nil }
        self = text
    }
}
