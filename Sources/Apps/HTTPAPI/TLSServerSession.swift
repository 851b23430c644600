internal import Bytes
internal import CTLSShim
internal import Certificates
internal import NIOCore

/// The reason why a TLS connection cannot be used.
struct TLSServerError: Error, CustomStringConvertible {
    let description: String
}

/// A certificate and its key, shared by all connections of a server.
///
/// Immutable once made, hence `@unchecked Sendable`.
@safe
final class TLSServerIdentity: @unchecked Sendable {
    fileprivate let handle: OpaquePointer

    /// Loads the certificate and its key.
    ///
    /// - Throws: ``HTTPServerError`` if GnuTLS refuses one of them.
    init(_ certificate: ServerCertificate) throws(HTTPServerError) {
        var why = [CChar](repeating: 0, count: 128)
        let (der, key) = (certificate.certificateDER, certificate.privateKeyDER)
        let handle = unsafe key.withUnsafeBytes { secret in
            let base = unsafe secret.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return unsafe ts_identity_new(der, der.count, base, secret.count, &why, why.count)
        }
        guard let handle = unsafe handle else {
            let text = String(decoding: why.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            throw .badCertificate(reason: text)
        }
        unsafe self.handle = unsafe handle
    }

    deinit { unsafe ts_identity_free(handle) }
}

/// The TLS 1.3 state of one connection (RFC 8446), without a socket: it takes bytes of the peer, and bytes for the peer are
/// taken out with ``takePending(_:)``.
@safe
final class TLSServerSession {
    /// The result of a step.
    enum Progress: Equatable {
        /// The handshake is complete, the bytes were encrypted, or the peer has sent close_notify.
        case done
        /// Bytes were decrypted; there may be more.
        case decrypted
        /// More bytes of the peer are needed.
        case waiting
        /// The connection cannot continue; an alert may be pending.
        case failed
    }

    /// The largest plaintext of a TLS record.
    private static let recordByteCount = 16 * 1024

    private let handle: OpaquePointer
    private let identity: TLSServerIdentity

    /// - Throws: ``TLSServerError`` if there is no memory.
    init(_ identity: TLSServerIdentity) throws(TLSServerError) {
        guard let handle = unsafe ts_session_new(identity.handle) else {
            throw TLSServerError(description: "there is no memory for a TLS connection")
        }
        unsafe self.handle = unsafe handle
        self.identity = identity
    }

    deinit { unsafe ts_session_free(handle) }

    /// The reason of the last failure.
    var error: TLSServerError { TLSServerError(description: unsafe String(cString: ts_session_error(handle))) }

    /// Adds bytes that were received.
    func receive(_ bytes: ByteBuffer) -> Progress {
        unsafe bytes.withUnsafeReadableBytes { raw in
            let base = unsafe raw.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return unsafe Self.progress(Int(ts_session_receive(handle, base, raw.count)))
        }
    }

    /// Advances the handshake.
    func handshake() -> Progress { unsafe Self.progress(Int(ts_session_handshake(handle))) }

    /// Appends the next decrypted bytes to `buffer`.
    func read(into buffer: inout ByteBuffer) -> Progress {
        var result = 0
        unsafe buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.recordByteCount) { raw in
            let base = unsafe raw.baseAddress?.assumingMemoryBound(to: UInt8.self)
            result = unsafe ts_session_read(handle, base, raw.count)
            return max(result, 0)
        }
        return result > 0 ? .decrypted : Self.progress(result)
    }

    /// Encrypts all of the bytes.
    func write(_ bytes: ByteBuffer) -> Progress {
        unsafe bytes.withUnsafeReadableBytes { raw in
            let base = unsafe raw.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return unsafe Self.progress(Int(ts_session_write(handle, base, raw.count)))
        }
    }

    /// Adds close_notify to the pending bytes.
    func close() { unsafe ts_session_close(handle) }

    /// Returns the bytes to be sent, or nil if there are none.
    func takePending(_ allocator: ByteBufferAllocator) -> ByteBuffer? {
        var count = 0
        let base = unsafe ts_session_pending(handle, &count)
        guard count > 0 else { return nil }
        var buffer = allocator.buffer(capacity: count)
        unsafe buffer.writeBytes(UnsafeRawBufferPointer(start: base, count: count))
        unsafe ts_session_clear_pending(handle)
        return buffer
    }

    private static func progress(_ result: Int) -> Progress {
        switch result {
        case Int(TS_OK): .done
        case Int(TS_AGAIN): .waiting
        default: .failed
        }
    }
}
