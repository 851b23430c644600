internal import Bytes
internal import Identity
internal import Platform
internal import RegistrationModel
internal import WebAuthn

extension RegistrationDriver.Parts {
    /// Performs an action, and returns its outcome or its failure.
    func outcome(of action: RegistrationFlow.Action) async -> RegistrationFlow.Outcome {
        do {
            return try await perform(action)
        } catch let error as IdentityServiceError {
            return .failed(.service(error))
        } catch let error as PasskeyError {
            return .failed(.passkey(error))
        } catch let error as KeychainError {
            return .failed(.keychain(error))
        } catch let problem as RegistrationProblem {
            return .failed(problem)
        } catch {
            // The profile is the only store with other errors.
            return .failed(.profile(reason: "\(error)"))
        }
    }

    private func perform(_ action: RegistrationFlow.Action) async throws -> RegistrationFlow.Outcome {
        switch action {
        case .provideDIDKey(let replaced):
            return .didKey(try did(replacing: replaced))
        case .fetchCreationOptions(let registrant):
            return .creationOptions(
                try await service.creationOptions(handle: registrant.handle, did: registrant.did)
            )
        case .createPasskey(let options):
            return .passkeyCreated(try await authenticator.create(options))
        case .register(let response, let registrant, let options):
            let (handle, did) = (registrant.handle, registrant.did)
            let proof = try proof(of: registrant, options)
            let form = RegisterForm(response: response, handle: handle, did: did, didProof: proof)
            return .signedIn(try await service.register(form))
        case .beginRegistration(let registrant, let options):
            let form = BeginCeremonyForm(
                purpose: .register,
                handle: registrant.handle,
                did: registrant.did,
                challenge: Base64URL.encode(options.challenge),
                didProof: try proof(of: registrant, options)
            )
            return .ceremonyBegan(try await service.beginCeremony(form))
        case .beginSignIn(let handle):
            let form = BeginCeremonyForm(purpose: .authenticate, handle: handle)
            return .ceremonyBegan(try await service.beginCeremony(form))
        case .poll(let ceremony):
            return .ceremonyProgressed(try await service.poll(ceremony))
        case .resolve(let handle):
            return .resolved(try await service.resolve(handle))
        case .fetchRequestOptions(let handle):
            return .requestOptions(try await service.requestOptions(handle: handle))
        case .getAssertion(let options):
            return .assertion(try await authenticator.get(options))
        case .authenticate(let response):
            return .signedIn(try await service.authenticate(response))
        case .store(let signedIn):
            try keychain.saveAuthenticationToken(signedIn.token, expires: signedIn.expires)
            try keychain.saveArkavoCredentials(signedIn.account)
            return .tokenStored
        case .setProfile(let names):
            try await persistence.setProfile(names)
            return .profileStored
        }
    }

    /// Returns the DID of this device, after replacing the key of `replaced` if that is still the stored one.
    private func did(replacing replaced: DIDKey?) throws -> DIDKey {
        if let replaced, try keychain.getDIDKey() == replaced { try keychain.deleteDIDKey() }
        return try keychain.getOrGenerateDIDKey()
    }

    private func proof(of registrant: Registrant, _ options: CredentialCreationOptions) throws -> DIDProof {
        guard try keychain.getDIDKey() == registrant.did else { throw RegistrationProblem.otherKey(registrant.did) }
        return try keychain.didProof(challenge: options.challenge, rpId: options.rp.id, handle: registrant.handle)
    }
}
