package import Circle
package import CircleModel
internal import Concurrency
internal import RegistrationModel

/// The profile, the account and the streams of this device's person.
package protocol AccountStore: Sendable {
    /// Returns the account; its profile is nil before one is set.
    func account() throws -> Account

    /// Sets the profile, and makes the streams that each person has.
    func setProfile(name: String, blurb: String?, did: String?, handle: String?) async throws
}

extension CircleManager: AccountStore {}

/// Makes and completes the objects of a person: the profile, the account, and three streams.
package final class PersistenceController: Sendable {
    private let accounts: any AccountStore
    private let mutex = AsyncMutex()

    /// Uses the circle of a node, which stores the objects.
    package init(_ accounts: any AccountStore) {
        self.accounts = accounts
    }

    /// Returns the account, after adding the streams that it lacks.
    ///
    /// Streams need a profile as their creator, so an account without a profile has none.
    ///
    /// - Throws: the errors of the store.
    package func getOrCreateAccount() async throws -> Account {
        try await mutex.withLock {
            let account = try accounts.account()
            guard let profile = account.profile, !account.hasDefaultStreams else { return account }
            try await accounts.setProfile(name: profile.name, blurb: profile.blurb, did: nil, handle: nil)
            return try accounts.account()
        }
    }

    /// Makes a profile with a generated name, unless the person has one.
    ///
    /// - Throws: the errors of the store.
    package func makeLocalProfile(name: String) async throws {
        try await mutex.withLock {
            guard try accounts.account().profile == nil else { return }
            try await accounts.setProfile(name: name, blurb: nil, did: nil, handle: nil)
        }
    }

    /// Puts the DID and the handle of an account on the profile, which is made if it is missing.
    ///
    /// A chosen name replaces the present one, and otherwise the handle replaces a generated one. Nothing is sent if the profile
    /// has the names already.
    ///
    /// - Throws: the errors of the store.
    package func setProfile(_ names: ProfileNames) async throws {
        try await mutex.withLock {
            let account = try accounts.account()
            let (present, handle) = (account.profile, names.account.handle.text)
            let kept = present.flatMap { $0.name == names.localName ? nil : $0.name }
            let name = names.displayName ?? kept ?? String(handle.prefix { $0 != "." })
            let did = names.account.did.description
            let isSet = present?.name == name && present?.did == did && present?.handle == handle
            guard !isSet || !account.hasDefaultStreams else { return }
            try await accounts.setProfile(name: name, blurb: present?.blurb, did: did, handle: handle)
        }
    }
}

extension Account {
    /// Whether the account has the streams that each person has.
    package var hasDefaultStreams: Bool {
        guard let profile else { return false }
        let ids = Set(streams.map(\.id))
        return DefaultStream.allCases.allSatisfy { ids.contains($0.id(of: profile.publicID)) }
    }
}
