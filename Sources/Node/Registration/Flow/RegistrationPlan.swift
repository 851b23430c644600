package import RegistrationModel

/// The facts that a registration flow begins with.
package struct RegistrationPlan: Hashable, Sendable {
    /// The aim of the person.
    package enum Purpose: Hashable, Sendable {
        /// A new account.
        case registration
        /// The account that the person has, with this handle, or nil for the one of the passkey that the person chooses.
        case signIn(Handle?)
    }

    /// The place of the passkey.
    package enum Means: Hashable, Sendable {
        /// This device.
        case device
        /// A page of the identity server, on this device or another one.
        case page
    }

    package var agreement: Agreement
    /// The domain of the operator, under which handles are given.
    package var domain: HandleDomain
    /// The domain for which passkeys are made; options for another one are refused.
    package var relyingPartyId: String
    package var purpose: Purpose
    package var means: Means

    package init(
        agreement: Agreement,
        domain: HandleDomain,
        relyingPartyId: String,
        purpose: Purpose = .registration,
        means: Means = .device
    ) {
        self.agreement = agreement
        self.domain = domain
        self.relyingPartyId = relyingPartyId
        self.purpose = purpose
        self.means = means
    }
}
