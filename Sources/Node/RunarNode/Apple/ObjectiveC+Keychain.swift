#if canImport(ObjectiveC)
public import Foundation

/// A person's and a device's keys for Objective-C, which sees them as `RunarKeychain`; ``keychain`` is the one of
/// Swift, with everything else.
///
/// Public keys are padded base64. Completion handlers are called on no queue in particular, with what was asked for or
/// an error of the domain `Runar`; only where a call says so can there be neither.
@objc(RunarKeychain) public final class ObjectiveCKeychain: NSObject, Sendable {
    /// Takes a text, or why there is none.
    public typealias TextReply = @Sendable (String?, (any Error)?) -> Void
    /// Takes bytes, or why there are none.
    public typealias DataReply = @Sendable (Data?, (any Error)?) -> Void
    /// Takes why something failed, or nil.
    public typealias Reply = @Sendable ((any Error)?) -> Void

    /// The keychain of Swift.
    public let keychain: RunarKeychain

    /// Opens the keys of a service, and makes their place the first time; a node has its ``ObjectiveCNode/keychain``.
    @objc public init(config: ObjectiveCKeychainConfig) throws {
        do {
            self.keychain = try RunarKeychain(config: config.config)
        } catch {
            throw RunarError(error)
        }
    }

    init(_ keychain: RunarKeychain) {
        self.keychain = keychain
    }

    // MARK: The person

    /// Makes the person's root key and tells its public half; back it up then.
    @objc public func initializeUserRootKey(completion: @escaping TextReply) {
        self.run(completion, orElse: nil) { try await $0.initializeUserRootKey() }
    }

    /// Tells the public half of the root key.
    @objc public func getUserRootPublicKey(completion: @escaping TextReply) {
        self.run(completion, orElse: nil) { try await $0.getUserRootPublicKey() }
    }

    /// Makes the key of a persona from the root key, and tells its public half; the same one each time.
    @objc public func deriveProfileKey(_ profileId: String, completion: @escaping TextReply) {
        self.run(completion, orElse: nil) { try await $0.deriveProfileKey(profileId) }
    }

    /// Tells the public half of a persona's key: neither text nor error if it was not derived on this device.
    @objc public func getProfilePublicKey(_ profileId: String, completion: @escaping TextReply) {
        self.run(completion, orElse: nil) { try await $0.getProfilePublicKey(profileId) }
    }

    // MARK: Networks

    /// Derives the key of the next network of the root key, and tells the network's id.
    @objc public func generateNetworkKey(completion: @escaping TextReply) {
        self.run(completion, orElse: nil) { try await $0.generateNetworkKey() }
    }

    /// Takes the key of a network that another device sealed to this one.
    @objc public func installNetworkKey(_ networkKeyMessage: Data, completion: @escaping Reply) {
        self.run(completion) { try await $0.installNetworkKey(networkKeyMessage) }
    }

    /// Tells the public key of a network: neither text nor error if this device cannot sign for it.
    @objc public func getNetworkPublicKey(_ networkId: String, completion: @escaping TextReply) {
        self.run(completion, orElse: nil) { try await $0.getNetworkPublicKey(networkId) }
    }

    // MARK: Certificates

    /// Asks for a certificate of this device; the same request until it is answered.
    @objc public func createCertificateRequest(completion: @escaping DataReply) {
        self.run(completion, orElse: nil) { try await $0.createCertificateRequest() }
    }

    /// Takes the certificate that this device asked for.
    @objc public func installCertificate(_ certificateMessage: Data, completion: @escaping Reply) {
        self.run(completion) { try await $0.installCertificate(certificateMessage) }
    }

    /// Tells how this device stands; `CertificateStatusNone` beside an error means nothing.
    @objc public func getCertificateStatus(
        completion: @escaping @Sendable (ObjectiveCCertificateStatus, (any Error)?) -> Void
    ) {
        self.run(completion, orElse: .none) { ObjectiveCCertificateStatus(try await $0.getCertificateStatus()) }
    }

    // MARK: Biometrics

    /// Enables or disables the system's prompt for a finger or a face at each use of a key of the person.
    @objc public func enableBiometricAuth(_ enabled: Bool, completion: @escaping Reply) {
        self.run(completion) { try await $0.enableBiometricAuth(enabled) }
    }

    /// Asks for a finger or a face now; tells whether one was asked for, which it is not while nothing is guarded.
    @objc public func requireBiometricAuth(completion: @escaping @Sendable (Bool, (any Error)?) -> Void) {
        self.run(completion, orElse: false) { try await $0.requireBiometricAuth() }
    }

    private func run(_ completion: @escaping Reply, _ body: @escaping @Sendable (RunarKeychain) async throws -> Void) {
        self.run({ _, error in completion(error) }, orElse: (), body)
    }

    /// Tells what `body` returns, or `nothing` and why it failed.
    private func run<Value: Sendable>(
        _ completion: @escaping @Sendable (Value, (any Error)?) -> Void,
        orElse nothing: Value,
        _ body: @escaping @Sendable (RunarKeychain) async throws -> Value
    ) {
        Task { [keychain] in
            do {
                completion(try await body(keychain), nil)
            } catch {
                completion(nothing, RunarError(error))
            }
        }
    }
}

/// The status of a device's certificate, for Objective-C: ``RunarNode/CertificateStatus``.
@objc(CertificateStatus) public enum ObjectiveCCertificateStatus: Int, CaseIterable, Sendable {
    /// It has no certificate and has not asked for one.
    case none = 0
    /// It has asked, and no answer was installed.
    case pending = 1
    /// It has a certificate for its key that is in force.
    case valid = 2
    /// It has a certificate that has ended, is for an earlier key, or comes from another authority than its root key.
    case invalid = 3

    init(_ status: CertificateStatus) {
        self =
            switch status {
            case .none: .none
            case .pending: .pending
            case .valid: .valid
            case .invalid: .invalid
            }
    }
}
#endif
