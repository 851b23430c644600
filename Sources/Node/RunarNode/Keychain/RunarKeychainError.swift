public import Failures

/// Why a call of the ``RunarKeychain`` was refused; nothing was changed then.
///
/// A refusal of the storage itself is a ``KeychainError``, and a text that cannot be read an ``IdentityError``.
public enum RunarKeychainError: Error, Hashable, Sendable {
    /// There is a root key already; another one would orphan its networks.
    case rootKeyExists
    /// This device holds no root key.
    case noRootKey
    /// The networks of this root key were not counted here, so no index is surely free; ``RunarNode/keychain`` knows
    /// those that the node made.
    case networkIndexUnknown
    /// This device does not hold the network's key.
    case noNetworkKey(NetworkId)
    /// The message is for another device.
    case notForThisDevice
    /// A certificate that this device did not ask for.
    case notAskedFor
    /// The certificate is from another authority than this device's root key, or than its present certificate.
    case foreignAuthority
    /// The certificate has ended, or begins later.
    case notInForce
    /// The certificate, or the request for one, is not as it must be; with the reason.
    case badCertificate(String)
}

extension RunarKeychainError: CodedError, CustomStringConvertible {
    /// The failure in words, with what to do.
    public var description: String {
        switch self {
        case .rootKeyExists:
            "this device has a root key already, which owns networks: use it, or begin in another storage"
        case .noRootKey: "this device holds no root key: do this on the device that does, or bring the key here first"
        case .networkIndexUnknown:
            "this storage alone does not list the networks of the root key: use the node's keychain, or make the"
                + " network with an index that none of them has"
        case .noNetworkKey(let network): "this device does not hold the key of network \(network.short)"
        case .notForThisDevice: "this was made for another device: give it there, or ask again from this one"
        case .notAskedFor: "this device has not asked for a certificate: make a request here first"
        case .foreignAuthority:
            "the certificate is not from the authority of this device's root key, or of the certificate that it has: a device"
                + " belongs to one person"
        case .notInForce:
            "the certificate has expired, or this device's clock is wrong: check the date, or ask for a new one"
        case .badCertificate(let reason): reason
        }
    }

    package var failureCode: FailureCode {
        switch self {
        case .rootKeyExists: FailureCode("exists", .keychain, .cannotCreate)
        case .noRootKey: FailureCode("no-root-key", .keychain, .notPermitted)
        case .networkIndexUnknown: FailureCode("index-needed", .keychain, .usage)
        case .noNetworkKey: FailureCode("not-the-owner", .keychain, .notPermitted)
        case .notForThisDevice: FailureCode("other-device", .keychain, .data)
        case .notAskedFor: FailureCode("not-asked", .keychain, .data)
        case .foreignAuthority: FailureCode("foreign-authority", .keychain, .notPermitted)
        case .notInForce: FailureCode("not-in-force", .keychain, .data)
        case .badCertificate: FailureCode("bad-certificate", .keychain, .data)
        }
    }
}
