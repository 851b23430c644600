internal import Bytes
internal import CircleModel
internal import Essentials
package import Failures
package import Identity
package import RegistrationModel

/// The stored form of a registration, with which a later process continues it.
///
/// It has no secret: keys and the token are in the key storage.
package struct RegistrationSnapshot: Hashable, Sendable, Codable {
    /// The version that this program writes, and the newest that it reads.
    package static let version = 1
    /// The most bytes of JSON: each text has a limit, and all of them together are below this one.
    package static let byteLimit = 8_192
    /// The most bytes of an agreement's version.
    package static let agreementVersionByteLimit = 128
    /// The deepest nesting of the JSON.
    private static let nestingLimit = 4

    /// The names of the steps.
    package enum Step: String, Hashable, Sendable, Codable {
        case agreement
        case handle
        case key
        case passkey
        case signIn = "sign-in"
        case profile
        case done
    }

    package var version: Int
    package var step: Step
    package var acceptance: Agreement.Acceptance?
    /// The name of the profile until the person has an account.
    package var localName: String
    package var handle: Handle?
    package var displayName: String?
    package var did: DIDKey?
    /// Whether the server may have an account that was not confirmed.
    package var isPosted: Bool
    /// The account, in the steps `profile` and `done`.
    package var account: ArkavoCredentials?

    package init(
        step: Step,
        acceptance: Agreement.Acceptance?,
        localName: String,
        handle: Handle?,
        displayName: String?,
        did: DIDKey?,
        isPosted: Bool,
        account: ArkavoCredentials?
    ) {
        version = Self.version
        self.step = step
        self.acceptance = acceptance
        self.localName = localName
        self.handle = handle
        self.displayName = displayName
        self.did = did
        self.isPosted = isPosted
        self.account = account
    }

    /// Reads JSON of at most ``byteLimit`` bytes.
    package init(encoded bytes: [UInt8]) throws(RegistrationSnapshotError) {
        guard bytes.count <= Self.byteLimit else { throw .tooLarge(found: bytes.count) }
        guard JSONNesting.isAtMost(Self.nestingLimit, in: bytes) else { throw .malformed }
        struct Head: Decodable { let version: Int }
        let head: Head
        do { head = try JSONDecoder().decode(Head.self, from: Data(bytes)) } catch { throw .malformed }
        guard 1...Self.version ~= head.version else { throw .newerVersion(found: head.version) }
        do { self = try JSONDecoder().decode(Self.self, from: Data(bytes)) } catch { throw .malformed }
        try check()
    }

    /// Returns the JSON.
    package func encoded() throws(RegistrationSnapshotError) -> [UInt8] {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return Array(try encoder.encode(self))
        } catch {
            throw .malformed
        }
    }

    /// Checks the texts, and that the step has all that it needs.
    private func check() throws(RegistrationSnapshotError) {
        for name in [localName] + (displayName.map { [$0] } ?? []) {
            do { try Profile(id: UUID(version8: []), name: name).check() } catch { throw .malformed }
        }
        if let acceptance {
            let isPlain = acceptance.version.unicodeScalars.allSatisfy(PlainText.isPlain)
            guard isPlain, acceptance.version.utf8.count <= Self.agreementVersionByteLimit,
                acceptance.seconds <= UnixTime.maximum
            else { throw .malformed }
        }
        let isComplete =
            switch step {
            case .agreement, .handle, .signIn: true
            case .key: handle != nil
            case .passkey: handle != nil && did != nil
            case .profile, .done: account != nil
            }
        guard isComplete, step == .agreement || acceptance != nil else { throw .malformed }
    }
}

/// Why a stored registration cannot be continued.
package enum RegistrationSnapshotError: Error, Hashable, Sendable {
    /// It has `found` bytes, and more than ``RegistrationSnapshot/byteLimit``; nothing of it was read.
    case tooLarge(found: Int)
    /// It is damaged, or of another program.
    case malformed
    /// A newer program wrote it.
    case newerVersion(found: Int)
}

extension RegistrationSnapshotError: CodedError, CustomStringConvertible {
    /// The failure in words, and the next step.
    package var description: String {
        switch self {
        case .tooLarge(let found):
            "the stored registration has \(found) bytes and is not read: delete it, and begin again with the same key"
        case .malformed: "the stored registration is damaged: delete it, and begin again with the same key"
        case .newerVersion(let found):
            "the stored registration has version \(found), and this program reads \(RegistrationSnapshot.version): "
                + "update the program"
        }
    }

    package var failureCode: FailureCode { FailureCode("bad-registration", .damaged, .data) }
}
