internal import Bytes
internal import Certificates

/// The verification of an attestation statement (Web Authentication Level 3, section 8).
struct AttestationVerifier {
    let object: AttestationObject
    let credential: AuthenticatorData.AttestedCredential
    /// The authenticator data and the hash of the client data.
    let signedBytes: [UInt8]

    /// The most certificates of a chain.
    private static let chainLimit = 8
    private static let organizationalUnit = "Authenticator Attestation"

    func verify() throws(WebAuthnError) -> AttestationKind {
        switch object.format {
        case "none":
            guard object.statement.isEmpty else { throw .invalidAttestation(reason: "its format none has fields") }
            return .none
        case "packed": return try verifyPacked()
        default: throw .attestationFormatNotSupported(object.format)
        }
    }

    /// Verifies the packed format (section 8.2).
    private func verifyPacked() throws(WebAuthnError) -> AttestationKind {
        var fields = object.statement
        guard let number = fields.removeValue(forKey: .text("alg"))?.integer,
            let signature = fields.removeValue(forKey: .text("sig"))?.bytes
        else { throw .invalidAttestation(reason: "alg or sig is missing or of another kind") }
        let chain = fields.removeValue(forKey: .text("x5c"))
        guard fields.isEmpty else { throw .invalidAttestation(reason: "it has unknown fields") }
        guard let chain else { return try verifySelf(algorithm: number, signature: signature) }
        let certificates = try Self.certificates(of: chain)
        try verify(signature, algorithm: number, by: certificates[0])
        return .certified(chain: certificates)
    }

    private func verifySelf(algorithm: Int64, signature: [UInt8]) throws(WebAuthnError) -> AttestationKind {
        guard algorithm == credential.publicKey.algorithm.rawValue else {
            throw .invalidAttestation(reason: "its algorithm is not the passkey's")
        }
        guard credential.publicKey.isValidSignature(signature, for: signedBytes) else {
            throw .invalidAttestation(reason: "its signature is not of the passkey's key")
        }
        return .selfSigned
    }

    private static func certificates(of chain: CBORItem) throws(WebAuthnError) -> [[UInt8]] {
        let certificates = chain.array?.compactMap(\.bytes) ?? []
        guard !certificates.isEmpty, certificates.count == chain.array?.count, certificates.count <= chainLimit else {
            throw .invalidAttestation(reason: "x5c is not a list of 1 to \(chainLimit) certificates")
        }
        return certificates
    }

    /// Verifies the signature, and the requirements on the certificate (section 8.2.1).
    private func verify(_ signature: [UInt8], algorithm: Int64, by leaf: [UInt8]) throws(WebAuthnError) {
        let certificate: AttestationCertificate
        do {
            certificate = try AttestationCertificate(der: leaf)
        } catch {
            throw .invalidAttestation(reason: "\(error)")
        }
        guard let algorithm = COSEAlgorithm(rawValue: algorithm) else {
            throw .invalidAttestation(reason: "its algorithm \(algorithm) is not supported")
        }
        guard certificate.isValidSignature(signature, for: signedBytes, by: algorithm.ofCertificate) else {
            throw .invalidAttestation(reason: "its signature is not of the certificate's key")
        }
        guard certificate.isVersion3 else { throw .invalidAttestation(reason: "the certificate is not of version 3") }
        try Self.checkSubject(of: certificate)
        guard certificate.isAuthority == false else {
            throw .invalidAttestation(reason: "the certificate does not state that it is no authority")
        }
        switch certificate.modelExtension {
        case .absent: return
        case .invalid: throw .invalidAttestation(reason: "the certificate's extension for the model is not valid")
        case .aaguid(let aaguid):
            guard aaguid == credential.aaguid else {
                throw .invalidAttestation(reason: "the certificate is for another model of authenticator")
            }
        }
    }

    private static func checkSubject(of certificate: AttestationCertificate) throws(WebAuthnError) {
        guard certificate.organizationalUnit == organizationalUnit else {
            throw .invalidAttestation(reason: "the certificate's unit is not \(organizationalUnit)")
        }
        guard let country = certificate.country, country.utf8.count == 2, let name = certificate.commonName,
            let organization = certificate.organization, !name.isEmpty, !organization.isEmpty
        else {
            throw .invalidAttestation(reason: "the certificate lacks a country code, an organization or a name")
        }
    }
}
