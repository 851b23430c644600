internal import Bytes
internal import CQUICShim
internal import Certificates
internal import Identity
internal import Transport

/// The local certificate and the verification of peers, shared by all connections of an endpoint.
///
/// Immutable once made, hence `@unchecked Sendable`.
@safe
final class TLSContext: @unchecked Sendable {
    let raw: OpaquePointer

    init(_ configuration: QUICConfiguration) throws(TransportError) {
        let credentials: Credentials
        if let given = configuration.seams.credentials {
            credentials = given
        } else {
            credentials = try Self.credentials(for: configuration.identity)
        }
        let name = Array(configuration.seams.applicationProtocol.utf8)
        let priority = unsafe configuration.seams.priority ?? String(cString: rq_tls_default_priority())
        var why = [CChar](repeating: 0, count: 128)
        // One run of bytes that all the pieces point into.
        let all = credentials.certificates.flatMap { $0 } + name
        let raw = unsafe all.withUnsafeBufferPointer { bytes in
            var offset = 0
            func piece(_ count: Int) -> rq_bytes {
                defer { offset += count }
                return unsafe rq_bytes(base: bytes.baseAddress.map { unsafe $0 + offset }, length: count)
            }
            let certificates = unsafe credentials.certificates.map { unsafe piece($0.count) }
            let alpn = unsafe piece(name.count)
            return unsafe credentials.privateKey.withUnsafeBytes { secret in
                let base = unsafe secret.baseAddress?.assumingMemoryBound(to: UInt8.self)
                let key = unsafe rq_bytes(base: base, length: secret.count)
                return unsafe rq_tls_new(certificates, certificates.count, key, alpn, priority, &why, why.count)
            }
        }
        guard let raw = unsafe raw else {
            let text = String(decoding: why.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            throw .initializationFailed("TLS refused our certificate: \(text)")
        }
        unsafe self.raw = unsafe raw
    }

    deinit {
        unsafe rq_tls_free(raw)
    }

    private static func credentials(for identity: Ed25519PrivateKey) throws(TransportError) -> Credentials {
        do {
            let made = try NodeCertificate.selfSigned(for: identity)
            return Credentials(certificates: [made.certificateDER], privateKey: made.privateKeyDER)
        } catch {
            throw .initializationFailed("no certificate could be made for the peer key: \(error)")
        }
    }
}
