internal import Bytes
internal import Crypto

/// The verified binding between a policy and the key of the payload.
public enum PolicyBinding: String, CaseIterable, Hashable, Sendable {
    /// ECDSA by the ephemeral key. A new policy needs a new key, and so a new payload.
    case ecdsa
    /// A MAC under the key of the payload. OpenTDFKit writes it; this library only reads it.
    case gmac
    /// A hash without a key. It shows accidents; anyone can replace the policy together with it.
    case hash

    /// Whether the policy is authenticated.
    public var isAuthenticated: Bool {
        switch self {
        case .ecdsa, .gmac: true
        case .hash: false
        }
    }

    static func make(
        _ mode: NanoTDFHeader.BindingMode,
        for policy: NanoTDFPolicy,
        by ephemeral: NanoTDFPrivateKey
    ) throws(NanoTDFError) -> [UInt8] {
        switch mode {
        case .ecdsa: try ephemeral.sign(policy.boundBytes)
        case .hash: hash(of: policy)
        }
    }

    /// Verifies the binding of `header` with the key of its payload.
    init(verifying header: NanoTDFHeader, with key: PayloadKey) throws(NanoTDFError) {
        if let binding = header.publicBinding {
            self = binding
        } else {
            guard header.bindingMode == .hash, try Self.hasGMAC(header, under: key) else { throw .invalidBinding }
            self = .gmac
        }
    }

    fileprivate static func hash(of policy: NanoTDFPolicy) -> [UInt8] {
        [UInt8](Array(SHA256.hash(data: policy.boundBytes)).suffix(NanoTDFHeader.hashByteCount))
    }

    /// OpenTDFKit authenticates the content with its length of two bytes.
    private static func hasGMAC(_ header: NanoTDFHeader, under key: PayloadKey) throws(NanoTDFError) -> Bool {
        switch header.policy {
        case .remote:
            return false
        case .plain(let content), .encrypted(let content), .encryptedWithKeyAccess(let content, _, _):
            var writer = ByteWriter(capacity: 2 + content.count)
            writer.write(UInt16(content.count))
            writer.write(content)
            let tag = try GCM.gmac(of: writer.bytes, under: key.key, byteCount: NanoTDFHeader.hashByteCount)
            return ConstantTime.areEqual(tag, header.binding)
        }
    }
}

extension NanoTDFHeader {
    /// The binding that anyone can verify, without the key of the recipient: ``PolicyBinding/ecdsa`` or
    /// ``PolicyBinding/hash``.
    ///
    /// Nil means an invalid signature, or 8 bytes that are no hash: a GMAC, or a changed policy.
    public var publicBinding: PolicyBinding? {
        switch bindingMode {
        case .ecdsa: ephemeralPublicKey.isValidSignature(binding, for: policy.boundBytes) ? .ecdsa : nil
        case .hash: ConstantTime.areEqual(binding, PolicyBinding.hash(of: policy)) ? .hash : nil
        }
    }
}
