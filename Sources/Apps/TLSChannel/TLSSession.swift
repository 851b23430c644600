internal import CTLSShim
package import Identity
internal import NIOCore

/// The TLS state of one connection, without a socket: it takes bytes of the peer, and bytes for the peer are taken out
/// with ``takePending(_:)``.
///
/// A server speaks TLS 1.3 (RFC 8446), a client also TLS 1.2 (RFC 5246). A client verifies the certificates of the
/// server within the handshake, before it sends a byte of the application.
@safe
package final class TLSSession {
    /// The name that a client wants to be proven.
    package enum PeerName: Hashable, Sendable {
        /// A host name in lower case, without a trailing dot.
        case host(String)
        case address(IPAddress)
    }

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
    /// The identity or the trust, which the session uses.
    private let owner: AnyObject
    let isClient: Bool

    /// Makes the session of a server.
    ///
    /// - Throws: ``TLSError`` if there is no memory.
    package init(server identity: TLSIdentity) throws(TLSError) {
        guard let handle = unsafe ts_session_new(identity.handle) else { throw Self.noMemory }
        unsafe self.handle = unsafe handle
        owner = identity
        isClient = false
    }

    /// Makes the session of a client for the server `name`, whose verified chain must have one of the pinned keys, if
    /// any.
    ///
    /// - Throws: ``TLSError`` if there is no memory.
    package init(client trust: TLSTrust, name: PeerName, pins: [KeyPin]) throws(TLSError) {
        let digests = pins.flatMap(\.digest)
        let handle: OpaquePointer?
        switch name {
        case .host(let host):
            unsafe handle = unsafe ts_session_new_client(trust.handle, host, nil, 0, digests, pins.count)
        case .address(let address):
            let bytes = address.unmapped.bytes
            unsafe handle = unsafe ts_session_new_client(trust.handle, nil, bytes, bytes.count, digests, pins.count)
        }
        guard let handle = unsafe handle else { throw Self.noMemory }
        unsafe self.handle = unsafe handle
        owner = trust
        isClient = true
    }

    deinit { unsafe ts_session_free(handle) }

    private static var noMemory: TLSError { .failed(reason: "there is no memory for a TLS connection") }

    /// The reason of the last failure.
    var error: TLSError {
        let seconds = unsafe ts_session_reason_seconds(handle)
        let time = seconds > 0 ? UInt64(seconds) : nil
        let text = unsafe String(cString: ts_session_error(handle))
        return switch unsafe ts_session_reason(handle) {
        case TS_REASON_ALERT: .refused(alert: text)
        case TS_REASON_VERSION: .noCommonVersion
        case TS_REASON_AUTHORITY: .unknownAuthority
        case TS_REASON_EXPIRED: .expired(endSeconds: time)
        case TS_REASON_NOT_YET_VALID: .notYetValid(startSeconds: time)
        case TS_REASON_NAME: .wrongName
        case TS_REASON_REVOKED: .revoked
        case TS_REASON_WEAK: .weakCertificate
        case TS_REASON_CERTIFICATE: .unfitCertificate
        case TS_REASON_PIN: .pinMismatch
        default: .failed(reason: text)
        }
    }

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
