internal import Bytes
internal import CTLSShim
package import Certificates

/// The certificate chain and the key of a server, shared by all its connections.
///
/// Immutable once made, hence `@unchecked Sendable`.
@safe
package final class TLSIdentity: @unchecked Sendable {
    let handle: OpaquePointer

    /// Loads the chain and the key of its leaf.
    ///
    /// - Throws: ``TLSError/badCredentials(reason:)`` if GnuTLS refuses one of them.
    package init(_ chain: CertificateChain) throws(TLSError) {
        let bytes = chain.certificatesDER.flatMap { $0 }
        let lengths = chain.certificatesDER.map(\.count)
        var why = TLSText()
        let handle = unsafe chain.privateKeyDER.withUnsafeBytes { secret in
            let base = unsafe secret.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return unsafe ts_identity_new(
                bytes,
                lengths,
                lengths.count,
                base,
                secret.count,
                &why.characters,
                why.characters.count
            )
        }
        guard let handle = unsafe handle else { throw .badCredentials(reason: why.text) }
        unsafe self.handle = unsafe handle
    }

    deinit { unsafe ts_identity_free(handle) }
}

/// A text that the C shim writes.
struct TLSText {
    var characters = [CChar](repeating: 0, count: 128)

    /// The characters before the terminator.
    var text: String {
        String(decoding: characters.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
