internal import Essentials
internal import Identity
internal import SwiftASN1
@_spi(FixedExpiryValidationTime) internal import X509

/// The rules for a chain of certificates from a leaf to a pinned root, at a time that the caller chooses.
///
/// The signed path is the one of RFC 5280, section 6, without revocation: names, signatures, dates, basic constraints,
/// key usage, name constraints and critical extensions. Beyond that the length is exact, and the leaf and the
/// intermediate certificates must have the extensions by which an authority marks their purpose.
package struct ChainPolicy: Sendable {
    /// The most bytes of a certificate of a chain; those of the App Store have about 1,100.
    package static let maximumCertificateByteCount = 8_192

    /// The roots that the operator trusts; no other certificate ends a chain.
    package let roots: RootCertificates
    /// The exact number of certificates of a chain, the root included; at least 2.
    package let length: Int
    /// The extensions that the leaf must have.
    package let leafExtensions: [ExtensionIdentifier]
    /// The extensions that each certificate between leaf and root must have.
    package let intermediateExtensions: [ExtensionIdentifier]

    /// Creates the rules for chains of exactly `length` certificates, the root included.
    package init(
        roots: RootCertificates,
        length: Int,
        leafExtensions: [ExtensionIdentifier] = [],
        intermediateExtensions: [ExtensionIdentifier] = []
    ) {
        precondition(length >= 2, "a chain of \(length) certificates has no issuer")
        self.roots = roots
        self.length = length
        self.leafExtensions = leafExtensions
        self.intermediateExtensions = intermediateExtensions
    }

    /// Verifies certificates in DER, the leaf first, at `seconds` since 1970, and returns the leaf.
    ///
    /// The last of them stands for the root and is not read: the pinned root whose key signed the one before takes its
    /// place.
    ///
    /// - Throws: ``ChainPolicyError`` with the first rule that the chain breaks.
    package func verify(_ chain: [[UInt8]], at seconds: UInt64) async throws(ChainPolicyError) -> VerifiedLeaf {
        let issued = try parse(chain)
        guard let leaf = issued.first, let last = issued.last else {
            throw .wrongLength(expected: length, found: chain.count)
        }
        for (index, pair) in zip(issued, issued.dropFirst()).enumerated() {
            guard pair.0.isIssued(by: pair.1) else { throw .notIssuedByNext(position: index + 1) }
        }
        let issuers = roots.certificates.filter { last.isIssued(by: $0) }
        // An authority may renew a root with one key, so that the former one is not decisive.
        guard let root = issuers.first(where: { $0.validity(at: seconds) == .valid }) ?? issuers.first else {
            throw .unknownRoot
        }
        let path = issued + [root]
        try checkDates(of: path, at: seconds)
        try checkExtensions(of: issued)
        try checkKeyUsage(of: path)
        try await verifyPath(path, at: seconds)
        return VerifiedLeaf(leaf)
    }

    /// Parses all certificates but the one in the root's place.
    private func parse(_ chain: [[UInt8]]) throws(ChainPolicyError) -> [Certificate] {
        guard chain.count == length else { throw .wrongLength(expected: length, found: chain.count) }
        var parsed: [Certificate] = []
        for bytes in chain.dropLast() {
            do {
                let bounded = try ParsedCertificate.bounded(bytes, limit: Self.maximumCertificateByteCount)
                parsed.append(try ParsedCertificate(bounded).certificate)
            } catch {
                throw .malformed(position: parsed.count + 1, reason: "\(error)")
            }
        }
        return parsed
    }

    private func checkDates(of path: [Certificate], at seconds: UInt64) throws(ChainPolicyError) {
        for (index, certificate) in path.enumerated() {
            switch certificate.validity(at: seconds) {
            case .valid: continue
            case .expired(let end): throw .expired(position: index + 1, endSeconds: end)
            case .notYetValid(let start): throw .notYetValid(position: index + 1, startSeconds: start)
            }
        }
    }

    private func checkExtensions(of issued: [Certificate]) throws(ChainPolicyError) {
        for (index, certificate) in issued.enumerated() {
            let found = Set(certificate.extensions.map { ExtensionIdentifier("\($0.oid)") })
            let required = index == 0 ? leafExtensions : intermediateExtensions
            for identifier in required where !found.contains(identifier) {
                throw .missingExtension(position: index + 1, identifier)
            }
        }
    }

    /// Checks the key usage (RFC 5280, section 4.2.1.3), which the library's policy does not.
    private func checkKeyUsage(of path: [Certificate]) throws(ChainPolicyError) {
        for (index, certificate) in path.enumerated() {
            let usage: KeyUsage?
            do {
                usage = try certificate.extensions.keyUsage
            } catch {
                throw .malformed(position: index + 1, reason: "\(error)")
            }
            guard let usage else { continue }
            guard index == 0 ? usage.digitalSignature : usage.keyCertSign else {
                throw .wrongKeyUsage(position: index + 1)
            }
        }
    }

    /// Verifies the path by the library's policy for RFC 5280, which finds the same chain once more.
    private func verifyPath(_ path: [Certificate], at seconds: UInt64) async throws(ChainPolicyError) {
        guard let leaf = path.first, let root = path.last else { return }
        var verifier = Verifier(rootCertificates: CertificateStore([root])) {
            RFC5280Policy(fixedExpiryValidationTime: UnixTime.date(seconds))
        }
        let intermediates = CertificateStore(path.dropFirst().dropLast())
        switch await verifier.validate(leaf: leaf, intermediates: intermediates) {
        case .validCertificate(let found):
            guard Array(found) == path else { throw .pathRefused(reason: "another path leads to the root") }
        case .couldNotValidate(let failures):
            // Without a failure of the policy, a critical extension is unknown.
            let reason = failures.first.map { "\($0.policyFailureReason)" }
            throw .pathRefused(reason: reason ?? "a critical extension is unknown")
        }
    }
}
