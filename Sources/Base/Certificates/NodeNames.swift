internal import Identity
internal import SwiftASN1
internal import X509

/// The one name that an issued certificate may carry: the PeerId of its key, as people type it.
///
/// It stands as the only common name of the subject and as the only alternative name, a DNS name of one label, so that
/// a TLS library that checks names checks the key. Lower case, 58 characters, a checksum inside.
enum NodeNames {
    /// The subject of a node.
    static func subject(of peer: PeerId) throws -> DistinguishedName {
        try DistinguishedName { CommonName(peer.text) }
    }

    /// The alternative names of a node.
    static func alternatives(of peer: PeerId) -> SubjectAlternativeNames {
        SubjectAlternativeNames([.dnsName(peer.text)])
    }

    /// Throws unless `subject` and the alternative names in `extensions` are those of `peer`, and nothing else.
    static func check(
        _ subject: DistinguishedName,
        _ extensions: Certificate.Extensions,
        of peer: PeerId
    ) throws(NodeCertificateError) {
        let alternatives: SubjectAlternativeNames?
        do {
            alternatives = try extensions.subjectAlternativeNames
        } catch {
            throw .malformed(reason: "\(error)")
        }
        guard commonName(of: subject) == peer.text, let alternatives, alternatives.count == 1,
            case .dnsName(peer.text)? = alternatives.first
        else { throw .wrongName(expected: peer.text) }
    }

    /// The only attribute of a name if it is a common name.
    private static func commonName(of name: DistinguishedName) -> String? {
        guard name.count == 1, let part = name.first, part.count == 1, let attribute = part.first,
            attribute.type == .RDNAttributeType.commonName
        else { return nil }
        return String(attribute.value)
    }
}
