#if canImport(AuthenticationServices)
package import AuthenticationServices
internal import Concurrency
internal import Dispatch
internal import Foundation
internal import LocalAuthentication
package import WebAuthn

/// The passkeys of Apple systems (ASAuthorizationPlatformPublicKeyCredentialProvider).
///
/// The app names the identity server in its associated domains (`webcredentials:`), and the server names the app in
/// `apple-app-site-association`; otherwise the system refuses. This file was never compiled: it follows Apple's documentation.
@MainActor package final class SystemPasskeys: NSObject, PasskeyAuthenticator {
    private struct Dialog {
        let controller: ASAuthorizationController
        let end: Promise<Result<ASAuthorization, PasskeyError>>
    }

    private let anchor: @MainActor () -> ASPresentationAnchor
    private var dialog: Dialog?

    /// Shows dialogs over the window that `anchor` returns.
    package init(anchor: @escaping @MainActor () -> ASPresentationAnchor) {
        self.anchor = anchor
    }

    package func create(_ options: CredentialCreationOptions) async throws(PasskeyError) -> RegistrationResponse {
        let provider = ASAuthorizationPlatformPublicKeyCredentialProvider(relyingPartyIdentifier: options.rp.id)
        let request = provider.createCredentialRegistrationRequest(
            challenge: Data(options.challenge),
            name: options.user.name,
            userID: Data(options.user.id)
        )
        request.displayName = options.user.displayName
        request.userVerificationPreference = .init(rawValue: options.authenticatorSelection.userVerification.rawValue)
        request.attestationPreference = .init(rawValue: options.attestation.rawValue)
        if #available(iOS 17.4, macOS 14.4, *) {
            request.excludedCredentials = options.excludeCredentials.map(Self.descriptor)
        }
        let authorization = try await run(request)
        guard let passkey = authorization.credential as? ASAuthorizationPlatformPublicKeyCredentialRegistration,
            let attestation = passkey.rawAttestationObject
        else { throw .failed("the system returned another kind of credential") }
        return RegistrationResponse(
            rawId: [UInt8](passkey.credentialID),
            clientDataJSON: [UInt8](passkey.rawClientDataJSON),
            attestationObject: [UInt8](attestation),
            transports: ["internal", "hybrid"],
            isDiscoverable: true
        )
    }

    package func get(_ options: CredentialRequestOptions) async throws(PasskeyError) -> AuthenticationResponse {
        let provider = ASAuthorizationPlatformPublicKeyCredentialProvider(relyingPartyIdentifier: options.rpId)
        let request = provider.createCredentialAssertionRequest(challenge: Data(options.challenge))
        request.allowedCredentials = options.allowCredentials.map(Self.descriptor)
        request.userVerificationPreference = .init(rawValue: options.userVerification.rawValue)
        let authorization = try await run(request)
        guard let assertion = authorization.credential as? ASAuthorizationPlatformPublicKeyCredentialAssertion,
            let authenticatorData = assertion.rawAuthenticatorData, let signature = assertion.signature
        else { throw .failed("the system returned another kind of credential") }
        return AuthenticationResponse(
            rawId: [UInt8](assertion.credentialID),
            clientDataJSON: [UInt8](assertion.rawClientDataJSON),
            authenticatorData: [UInt8](authenticatorData),
            signature: [UInt8](signature),
            userHandle: assertion.userID.map { [UInt8]($0) }
        )
    }

    package nonisolated func cancel() {
        DispatchQueue.main.async {
            MainActor.assumeIsolated { self.dialog?.controller.cancel() }
        }
    }

    private static func descriptor(
        _ credential: CredentialDescriptor
    ) -> ASAuthorizationPlatformPublicKeyCredentialDescriptor {
        ASAuthorizationPlatformPublicKeyCredentialDescriptor(credentialID: Data(credential.id))
    }

    /// Shows the dialog of a request, and returns when it is closed.
    private func run(_ request: ASAuthorizationRequest) async throws(PasskeyError) -> ASAuthorization {
        // Without a passcode the system offers no passkeys, with an error that does not name the reason.
        guard unsafe LAContext().canEvaluatePolicy(.deviceOwnerAuthentication, error: nil) else { throw .notVerified }
        guard dialog == nil else { throw .failed("another passkey dialog is open") }
        let controller = ASAuthorizationController(authorizationRequests: [request])
        let dialog = Dialog(controller: controller, end: Promise())
        self.dialog = dialog
        controller.delegate = self
        controller.presentationContextProvider = self
        controller.performRequests()
        let result = await dialog.end.waitIgnoringCancellation()
        self.dialog = nil
        return try result.get()
    }
}

extension SystemPasskeys: ASAuthorizationControllerDelegate {
    package func authorizationController(
        controller: ASAuthorizationController,
        didCompleteWithAuthorization authorization: ASAuthorization
    ) {
        dialog?.end.fulfil(.success(authorization))
    }

    package func authorizationController(
        controller: ASAuthorizationController,
        didCompleteWithError error: any Error
    ) {
        dialog?.end.fulfil(.failure(Self.passkeyError(error)))
    }

    /// The number of `ASAuthorizationError.matchedExcludedCredential`, which older systems lack.
    private static let matchedExcludedCredential = 1_006

    private static func passkeyError(_ error: any Error) -> PasskeyError {
        guard let error = error as? ASAuthorizationError else { return .failed(error.localizedDescription) }
        if error.errorCode == matchedExcludedCredential { return .alreadyExists }
        return switch error.code {
        case .canceled: .cancelled
        case .notHandled: .unsupported
        default: .failed(error.localizedDescription)
        }
    }
}

extension SystemPasskeys: ASAuthorizationControllerPresentationContextProviding {
    package func presentationAnchor(for controller: ASAuthorizationController) -> ASPresentationAnchor { anchor() }
}
#endif
