/// The DER of an attestation certificate, of which each field can be made wrong.
struct AttestationCertificateMaker {
    var version: UInt8 = 2
    var country: String? = "NO"
    var organization: String? = "Runar"
    var unit: String? = "Authenticator Attestation"
    var name: String? = "Test Attestation"
    /// Whether the basic constraints name an authority; nil leaves them out.
    var isAuthority: Bool? = false
    /// The content of the extension for the model; nil leaves it out.
    var modelExtension: [UInt8]?
    var isModelExtensionCritical = false

    /// Makes a certificate for the public key in SubjectPublicKeyInfo, signed by `sign` with ECDSA.
    func certificate(publicKey: [UInt8], sign: ([UInt8]) throws -> [UInt8]) rethrows -> [UInt8] {
        let algorithm = DER.sequence(DER.identifier([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02]))
        let validity = DER.sequence(DER.time("250101000000Z") + DER.time("490101000000Z"))
        let body = DER.sequence(
            (version == 0 ? [] : DER.tagged(0xA0, DER.integer([version])))
                + DER.integer([1]) + algorithm + subject + validity + subject + publicKey
                + (version == 2 ? extensions : [])
        )
        return DER.sequence(body + algorithm + DER.tagged(0x03, [0] + (try sign(body))))
    }

    private var subject: [UInt8] {
        let attributes: [(type: UInt8, value: String?, tag: UInt8)] = [
            (6, country, 0x13), (10, organization, 0x0C), (11, unit, 0x0C), (3, name, 0x0C),
        ]
        return DER.sequence(
            attributes.flatMap { type, value, tag in
                guard let value else { return [UInt8]() }
                let attribute = DER.identifier([0x55, 0x04, type]) + DER.tagged(tag, Array(value.utf8))
                return DER.tagged(0x31, DER.sequence(attribute))
            }
        )
    }

    private var extensions: [UInt8] {
        var list: [UInt8] = []
        if let isAuthority {
            let constraints = DER.sequence(isAuthority ? [0x01, 0x01, 0xFF] : [])
            list += DER.sequence(
                DER.identifier([0x55, 0x1D, 0x13]) + [0x01, 0x01, 0xFF] + DER.tagged(0x04, constraints)
            )
        }
        if let modelExtension {
            let identifier = DER.identifier([0x2B, 0x06, 0x01, 0x04, 0x01, 0x82, 0xE5, 0x1C, 0x01, 0x01, 0x04])
            let critical: [UInt8] = isModelExtensionCritical ? [0x01, 0x01, 0xFF] : []
            list += DER.sequence(identifier + critical + DER.tagged(0x04, modelExtension))
        }
        return list.isEmpty ? [] : DER.tagged(0xA3, DER.sequence(list))
    }
}

/// The few forms of DER that a certificate needs.
enum DER {
    static func tagged(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        let length: [UInt8] =
            switch count {
            case 0..<0x80: [UInt8(count)]
            case 0x80..<0x100: [0x81, UInt8(count)]
            default: [0x82, UInt8(count >> 8), UInt8(count & 0xFF)]
            }
        return [tag] + length + content
    }

    static func sequence(_ content: [UInt8]) -> [UInt8] { tagged(0x30, content) }
    static func integer(_ content: [UInt8]) -> [UInt8] { tagged(0x02, content) }
    static func identifier(_ content: [UInt8]) -> [UInt8] { tagged(0x06, content) }
    static func time(_ text: String) -> [UInt8] { tagged(0x17, Array(text.utf8)) }
    static func octets(_ content: [UInt8]) -> [UInt8] { tagged(0x04, content) }
}
