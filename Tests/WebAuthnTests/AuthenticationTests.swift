internal import Bytes
internal import Testing
internal import WebAuthn

@testable internal import AuthenticatorSupport

@Suite("Authentication with a passkey") struct AuthenticationTests {
    private let challenge = Sample.challenge
    private let server = Sample.server

    private func verify(
        _ authenticator: SoftwareAuthenticator,
        by server: RelyingParty = Sample.server,
        for record: CredentialRecord? = nil
    ) throws -> AssertionResult {
        let record = try record ?? authenticator.record()
        return try server.verify(authenticator.authenticate(challenge), challenge: challenge, for: record)
    }

    @Test(arguments: COSEAlgorithm.allCases)
    func `a credential that was registered signs in`(algorithm: COSEAlgorithm) throws {
        var authenticator = try SoftwareAuthenticator(algorithm)
        let new = try server.verify(authenticator.register(challenge), challenge: challenge)
        let record = new.record(userHandle: [7, 7, 7])
        #expect(try record == authenticator.record(signCount: 1))
        authenticator.signCount = 2
        let result = try verify(authenticator, for: record)
        #expect(result.signCount == 2)
        #expect(result.isBackupEligible && result.isBackedUp && result.isUserVerified)
        authenticator.signCount = 3
        authenticator.flags.remove(.backedUp)
        let next = try verify(authenticator, for: record.updated(by: result))
        #expect(next.signCount == 3)
        #expect(!next.isBackedUp)
    }

    @Test func `a credential type other than public-key is refused`() throws {
        let response = try JSONForms.changed(SoftwareAuthenticator().authenticate(challenge)) { $0["type"] = "x" }
        #expect(throws: WebAuthnError.wrongCredentialType("x")) {
            try server.verify(response, challenge: challenge, for: SoftwareAuthenticator().record())
        }
    }

    @Test func `an id that is not the text of rawId is refused`() throws {
        let response = try JSONForms.changed(SoftwareAuthenticator().authenticate(challenge)) { $0["id"] = "AAAA" }
        #expect(throws: WebAuthnError.credentialIdMismatch) {
            try server.verify(response, challenge: challenge, for: SoftwareAuthenticator().record())
        }
    }

    @Test func `a credential that the options do not list is refused`() throws {
        let authenticator = try SoftwareAuthenticator()
        let (response, record) = (try authenticator.authenticate(challenge), try authenticator.record())
        #expect(throws: WebAuthnError.credentialNotAllowed) {
            try server.verify(response, challenge: challenge, for: record, allowedIds: [[1], [2]])
        }
        let allowed = [[1], authenticator.credentialId]
        #expect(try server.verify(response, challenge: challenge, for: record, allowedIds: allowed).signCount == 1)
    }

    @Test func `the record of another credential is refused`() throws {
        var authenticator = try SoftwareAuthenticator()
        let record = try authenticator.record()
        authenticator.credentialId = [4]
        #expect(throws: WebAuthnError.credentialNotAllowed) { try verify(authenticator, for: record) }
    }

    @Test func `another user is refused`() throws {
        var authenticator = try SoftwareAuthenticator()
        let record = try authenticator.record()
        authenticator.userHandle = [8]
        #expect(throws: WebAuthnError.userHandleMismatch) { try verify(authenticator, for: record) }
    }

    @Test func `a missing user is refused only if the server has not identified one`() throws {
        var authenticator = try SoftwareAuthenticator()
        authenticator.userHandle = nil
        #expect(try verify(authenticator).signCount == 1)
        #expect(throws: WebAuthnError.userHandleMissing) {
            try server.verify(
                authenticator.authenticate(challenge),
                challenge: challenge,
                for: authenticator.record(),
                requiresUserHandle: true
            )
        }
    }

    @Test func `client data that are not JSON are refused`() throws {
        let authenticator = try SoftwareAuthenticator()
        let response = try JSONForms.changedResponse(authenticator.authenticate(challenge)) {
            $0["clientDataJSON"] = Base64URL.encode([0xFF])
        }
        #expect(throws: WebAuthnError.malformed(of: "the client data", reason: "it is not UTF-8")) {
            try server.verify(response, challenge: challenge, for: authenticator.record())
        }
    }

    @Test func `the response to a registration is refused`() throws {
        var authenticator = try SoftwareAuthenticator()
        authenticator.clientDataMembers["type"] = .text("webauthn.create")
        #expect(throws: WebAuthnError.wrongCeremony(expected: "webauthn.get", found: "webauthn.create")) {
            try verify(authenticator)
        }
    }

    @Test func `another challenge is refused`() throws {
        let authenticator = try SoftwareAuthenticator()
        #expect(throws: WebAuthnError.wrongChallenge) {
            try server.verify(
                authenticator.authenticate([UInt8](repeating: 1, count: 16)),
                challenge: challenge,
                for: authenticator.record()
            )
        }
    }

    @Test func `another origin, a frame and an unexpected outermost page are refused`() throws {
        var authenticator = try SoftwareAuthenticator()
        authenticator.origin = "https://example.com"
        #expect(throws: WebAuthnError.originNotAllowed("https://example.com")) { try verify(authenticator) }
        authenticator.origin = "https://example.org"
        authenticator.clientDataMembers["crossOrigin"] = .boolean(true)
        #expect(throws: WebAuthnError.crossOriginNotAllowed) { try verify(authenticator) }
        authenticator.clientDataMembers["crossOrigin"] = nil
        authenticator.clientDataMembers["topOrigin"] = .text("https://a.example")
        #expect(throws: WebAuthnError.topOriginNotAllowed("https://a.example")) { try verify(authenticator) }
    }

    @Test func `another relying party is refused`() throws {
        var authenticator = try SoftwareAuthenticator()
        authenticator.relyingPartyId = "example.com"
        #expect(throws: WebAuthnError.wrongRelyingParty) { try verify(authenticator) }
    }

    @Test func `an absent person is refused`() throws {
        var authenticator = try SoftwareAuthenticator()
        authenticator.flags.remove(.userPresent)
        #expect(throws: WebAuthnError.userNotPresent) { try verify(authenticator) }
    }

    @Test func `an unverified person is refused unless the server does not require it`() throws {
        var authenticator = try SoftwareAuthenticator()
        authenticator.flags.remove(.userVerified)
        #expect(throws: WebAuthnError.userNotVerified) { try verify(authenticator) }
        var server = server
        server.requiresUserVerification = false
        #expect(try !verify(authenticator, by: server).isUserVerified)
    }

    @Test func `a backup of a credential that cannot be backed up is refused`() throws {
        var authenticator = try SoftwareAuthenticator()
        authenticator.flags.remove(.backupEligible)
        #expect(throws: WebAuthnError.backedUpButNotEligible) { try verify(authenticator) }
    }

    @Test func `a changed backup eligibility is refused, and an upgrade is allowed by choice`() throws {
        var authenticator = try SoftwareAuthenticator()
        let eligible = try authenticator.record()
        authenticator.flags.subtract([.backupEligible, .backedUp])
        let notEligible = try authenticator.record()
        var lenient = server
        lenient.allowsBackupEligibilityUpgrade = true
        for server in [server, lenient] {
            #expect(throws: WebAuthnError.backupEligibilityChanged(isEligible: false)) {
                try verify(authenticator, by: server, for: eligible)
            }
        }
        authenticator.flags.insert(.backupEligible)
        #expect(throws: WebAuthnError.backupEligibilityChanged(isEligible: true)) {
            try verify(authenticator, for: notEligible)
        }
        #expect(try verify(authenticator, by: lenient, for: notEligible).isBackupEligible)
    }

    @Test(arguments: COSEAlgorithm.allCases)
    func `a signature over other bytes is refused`(algorithm: COSEAlgorithm) throws {
        let authenticator = try SoftwareAuthenticator(algorithm)
        let valid = try authenticator.authenticate(challenge)
        for signature in [try authenticator.key.signature(for: [1]), [], [UInt8](valid.signature.dropLast())] {
            let response = AuthenticationResponse(
                rawId: valid.rawId,
                clientDataJSON: valid.clientDataJSON,
                authenticatorData: valid.authenticatorData,
                signature: signature,
                userHandle: nil
            )
            #expect(throws: WebAuthnError.badSignature) {
                try server.verify(response, challenge: challenge, for: authenticator.record())
            }
        }
    }

    @Test func `a signature by another key is refused`() throws {
        let (one, two) = (try SoftwareAuthenticator(), try SoftwareAuthenticator())
        #expect(throws: WebAuthnError.badSignature) { try verify(one, for: two.record()) }
    }

    @Test func `a record without a key in COSE is refused`() throws {
        let record = try SoftwareAuthenticator().record()
        let broken = CredentialRecord(
            id: record.id,
            userHandle: record.userHandle,
            publicKey: [0xA0],
            signCount: 0,
            isBackupEligible: true,
            isBackedUp: true
        )
        let error = #expect(throws: WebAuthnError.self) { try verify(SoftwareAuthenticator(), for: broken) }
        guard case .malformed("the public key of the passkey", _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(arguments: [(UInt32(5), UInt32(5)), (5, 4), (5, 0), (.max, 0), (.max, .max)])
    func `a counter that does not increase is refused`(stored: UInt32, received: UInt32) throws {
        var authenticator = try SoftwareAuthenticator()
        authenticator.signCount = received
        #expect(throws: WebAuthnError.counterDidNotIncrease(stored: stored, received: received)) {
            try verify(authenticator, for: authenticator.record(signCount: stored))
        }
    }

    @Test(arguments: [(UInt32(0), UInt32(0)), (0, 1), (1, 2), (1, .max)])
    func `a counter that increases, or is always 0, is accepted`(stored: UInt32, received: UInt32) throws {
        var authenticator = try SoftwareAuthenticator()
        authenticator.signCount = received
        #expect(try verify(authenticator, for: authenticator.record(signCount: stored)).signCount == received)
    }

    @Test func `outputs of extensions are read and ignored`() throws {
        var authenticator = try SoftwareAuthenticator()
        authenticator.extensions = .map([.text("uvm"): .array([.array([.integer(2), .integer(4), .integer(2)])])])
        #expect(try verify(authenticator).signCount == 1)
    }
}
