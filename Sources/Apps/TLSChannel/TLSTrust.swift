internal import CTLSShim

/// The authorities whose certificates a client accepts, shared by all its connections.
///
/// Immutable once made, hence `@unchecked Sendable`.
@safe
package final class TLSTrust: @unchecked Sendable {
    /// The origin of the authorities.
    package enum Source: Hashable, Sendable {
        /// The trust store of the system.
        case system
        /// The certificates of a text in PEM, and no others.
        case roots(pem: String)
    }

    /// The longest text of certificates that is parsed.
    package static let maximumTextByteCount = 1 << 20

    let handle: OpaquePointer

    /// Loads the authorities.
    ///
    /// - Throws: ``TLSError/badRoots(reason:)`` if none is found, or one is malformed.
    package init(_ source: Source) throws(TLSError) {
        var why = TLSText()
        let handle: OpaquePointer?
        switch source {
        case .system:
            unsafe handle = unsafe ts_trust_new(nil, 0, &why.characters, why.characters.count)
        case .roots(let pem):
            let bytes = Array(pem.utf8)
            guard bytes.count <= Self.maximumTextByteCount else {
                throw .badRoots(reason: "they have \(bytes.count) bytes; at most \(Self.maximumTextByteCount) are read")
            }
            unsafe handle = unsafe ts_trust_new(bytes, bytes.count, &why.characters, why.characters.count)
        }
        guard let handle = unsafe handle else { throw .badRoots(reason: why.text) }
        unsafe self.handle = unsafe handle
    }

    deinit { unsafe ts_trust_free(handle) }
}
