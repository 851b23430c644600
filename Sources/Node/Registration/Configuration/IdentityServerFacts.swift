internal import Identity
package import RegistrationModel

/// The facts of an identity server that a registration begins with.
package struct IdentityServerFacts: Hashable, Sendable {
    /// The most bytes of the text of an agreement.
    package static let agreementByteLimit = 64 * 1024

    /// The name of the operator, for people.
    package let name: String
    /// The domain for which passkeys are made.
    package let relyingPartyId: String
    /// The domain under which handles are given.
    package let domain: HandleDomain
    package let agreement: Agreement

    /// Takes over the facts that a server states, as far as they are fit to show.
    ///
    /// - Throws: ``IdentityServiceError/malformedAnswer(reason:)``.
    package init(
        name: String,
        relyingPartyId: String,
        domain: HandleDomain,
        agreement: Agreement
    ) throws(IdentityServiceError) {
        let limit = RegistrationSnapshot.agreementVersionByteLimit
        guard agreement.text.utf8.count <= Self.agreementByteLimit, 1...limit ~= agreement.version.utf8.count,
            agreement.version.unicodeScalars.allSatisfy(PlainText.isPlain)
        else { throw .malformedAnswer(reason: "its agreement is too long") }
        self.name = PlainText.line(of: String(name.prefix(limit)))
        self.relyingPartyId = relyingPartyId
        self.domain = domain
        self.agreement = agreement
    }

    /// Returns the plan of a registration or a sign-in at the server.
    package func plan(
        _ purpose: RegistrationPlan.Purpose = .registration,
        _ means: RegistrationPlan.Means = .device
    ) -> RegistrationPlan {
        RegistrationPlan(
            agreement: agreement,
            domain: domain,
            relyingPartyId: relyingPartyId,
            purpose: purpose,
            means: means
        )
    }
}
