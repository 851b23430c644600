internal import Bytes
internal import Failures

/// The random number of a WebAuthn ceremony, which carries its purpose and expiry (WebAuthn Level 3, section 13.4.3).
///
/// The server stores nothing when it issues one: a MAC authenticates the fields, so that the answer proves them. The key
/// lives as long as the process; a restart ends the ceremonies in progress. The binding is a MAC of the ceremony's context,
/// such as the handle, which is compared apart from the rest: a refusal must not reveal whether the handle has an account.
///
/// | Field | Bytes |
/// |---|---|
/// | purpose | 1 |
/// | expiry in seconds of the process's monotonic clock, big-endian | 8 |
/// | random | 16 |
/// | binding: HMAC-SHA256 of the context, truncated | 16 |
/// | HMAC-SHA256 of the fields above, truncated | 16 |
struct Challenge: Hashable, Sendable {
    /// The ceremony that a challenge is for.
    enum Purpose: UInt8, Hashable, Sendable, CaseIterable {
        /// Creates an account with its first passkey.
        case register = 1
        /// Signs a named account in.
        case authenticate = 2
        /// Signs in the account of the passkey that the person chooses.
        case discover = 3
        /// Confirms that a passkey may be added.
        case confirmAdding = 4
        /// Confirms that a passkey may be removed.
        case confirmRemoving = 5
        /// Confirms that the account may be deleted.
        case confirmDeletion = 6
        /// Creates a further passkey.
        case addPasskey = 7
    }

    static let byteCount = 57
    static let nonceByteCount = 16
    static let tagByteCount = 16

    let purpose: Purpose
    let expirySeconds: UInt64
    let nonce: [UInt8]
    let binding: [UInt8]
    let tag: [UInt8]

    /// Makes a challenge; `sign` returns the tag of the other fields.
    init(
        purpose: Purpose,
        expirySeconds: UInt64,
        nonce: [UInt8],
        binding: [UInt8],
        sign: ([UInt8]) -> [UInt8]
    ) {
        self.purpose = purpose
        self.expirySeconds = expirySeconds
        self.nonce = nonce
        self.binding = binding
        tag = sign(Self.unsignedBytes(purpose, expirySeconds, nonce, binding))
    }

    /// Reads a challenge.
    ///
    /// - Throws: ``ChallengeError/foreign``.
    init(_ bytes: [UInt8]) throws(ChallengeError) {
        guard bytes.count == Self.byteCount, let purpose = Purpose(rawValue: bytes[0]) else { throw .foreign }
        self.purpose = purpose
        expirySeconds = bytes[1..<9].reduce(0) { $0 << 8 | UInt64($1) }
        nonce = Array(bytes[9..<25])
        binding = Array(bytes[25..<41])
        tag = Array(bytes.suffix(Self.tagByteCount))
    }

    var bytes: [UInt8] { unsignedBytes + tag }

    var unsignedBytes: [UInt8] { Self.unsignedBytes(purpose, expirySeconds, nonce, binding) }

    private static func unsignedBytes(
        _ purpose: Purpose,
        _ expirySeconds: UInt64,
        _ nonce: [UInt8],
        _ binding: [UInt8]
    ) -> [UInt8] {
        var writer = ByteWriter(capacity: byteCount)
        writer.write(purpose.rawValue)
        writer.write(expirySeconds)
        writer.write(nonce)
        writer.write(binding)
        return writer.bytes
    }
}

/// The reason why a challenge is refused.
enum ChallengeError: Error, Hashable, Sendable {
    /// This process did not issue the challenge, or not for this ceremony.
    case foreign
    case expired
    /// A ceremony was completed with it.
    case used
}

extension ChallengeError: CodedError, CustomStringConvertible {
    /// The failure in words, with the next step.
    var description: String {
        switch self {
        case .foreign: "the challenge is not for this ceremony, or the server was restarted: begin again"
        case .expired: "the ceremony took longer than ten minutes: begin again"
        case .used: "the ceremony was completed before: begin another one"
        }
    }

    var failureCode: FailureCode {
        switch self {
        case .foreign: FailureCode("foreign-challenge", .refused, .notPermitted)
        case .expired: FailureCode("challenge-expired", .timedOut, .tryAgain, http: 403)
        case .used: FailureCode("challenge-used", .refused, .notPermitted)
        }
    }
}
