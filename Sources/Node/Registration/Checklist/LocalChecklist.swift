package import CircleModel
internal import Identity
package import Platform
internal import RegistrationModel

/// The five facts that a complete registration has on this device.
package struct LocalChecklist: Hashable, Sendable {
    /// A fact, in the order of the Arkavo guide.
    package enum Item: String, CaseIterable, Sendable, Codable {
        /// The account has a profile.
        case profile
        /// The key of the account's DID is stored, which only the device that registered has.
        case did
        /// The token is stored.
        case token
        /// The handle is stored.
        case handle
        /// The account has its three streams.
        case streams
    }

    /// A fact with its state.
    package struct Check: Hashable, Sendable, Codable {
        package let item: Item
        package let isPassed: Bool
        /// The value, or the next step if the check failed.
        package let detail: String
    }

    /// The checks in the order of ``Item``.
    package let checks: [Check]

    /// Whether all checks passed.
    package var isComplete: Bool { checks.allSatisfy(\.isPassed) }

    /// The checks for people, one a line.
    package var lines: [String] {
        checks.map { "\($0.isPassed ? "ok" : "missing")  \($0.item.rawValue): \($0.detail)" }
    }

    /// Reads the facts.
    ///
    /// - Throws: `KeychainError`.
    package init(account: Account, keychain: KeychainManager) throws(KeychainError) {
        self.init(
            profile: account.profile,
            streamCount: account.hasDefaultStreams ? DefaultStream.allCases.count : account.streams.count,
            did: try keychain.getDIDKey(),
            hasToken: try keychain.getAuthenticationToken() != nil,
            credentials: try keychain.getArkavoCredentials()
        )
    }

    init(profile: Profile?, streamCount: Int, did: DIDKey?, hasToken: Bool, credentials: ArkavoCredentials?) {
        let streams = DefaultStream.allCases.count
        let signIn = credentials == nil ? "register, or sign in" : "sign in"
        checks = Item.allCases.map { item in
            switch item {
            case .profile: Self.check(item, profile?.name, or: "register, or work offline to get a local profile")
            case .did: Self.check(did, for: credentials)
            case .token: Self.check(item, hasToken ? "stored" : nil, or: signIn)
            case .handle: Self.check(item, credentials?.handle.text, or: signIn)
            case .streams:
                Check(
                    item: item,
                    isPassed: streamCount >= streams,
                    detail: "\(streamCount) of \(streams)"
                )
            }
        }
    }

    /// Checks the key of a device; the key of an account's DID is never copied to another device.
    private static func check(_ did: DIDKey?, for credentials: ArkavoCredentials?) -> Check {
        guard let owner = credentials?.did, owner != did else {
            return check(.did, did?.description, or: "register: the registration makes the key")
        }
        return check(
            .did,
            nil,
            or: "the key of \(owner) stays on the device that registered: use that device to prove the DID"
        )
    }

    private static func check(_ item: Item, _ value: String?, or step: String) -> Check {
        Check(item: item, isPassed: value != nil, detail: value ?? step)
    }
}
