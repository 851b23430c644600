internal import Bytes
internal import Concurrency
internal import Crypto
internal import HTTPAPI
package import Platform

/// The sessions of the node's user.
///
/// The command obtains a one-time secret from the node, and a browser exchanges it for a token that every later
/// request carries. A token contains its expiry time and is authenticated with the console's key, so the node stores no
/// sessions: tokens survive a restart, and a new key invalidates all of them. Programs may use the key itself as a
/// token.
package final class ConsoleSessions: Sendable {
    /// The token that a browser stores.
    package struct Session: Codable, Hashable, Sendable {
        package let token: String
        /// Seconds since 1970.
        package let expires: UInt64
    }

    /// The secret that a browser exchanges for a session.
    package struct SecretForm: Codable, Sendable {
        let secret: String
    }

    /// The lifetime of an unused secret.
    package static let secretLife = Duration.seconds(60)
    /// The lifetime of a token; a page that is in use renews it.
    package static let tokenLifeSeconds: UInt64 = 30 * 24 * 60 * 60
    /// The maximum number of unused secrets; the oldest one is dropped.
    private static let secretLimit = 8
    private static let secretByteCount = 32
    private static let idByteCount = 16
    private static let expiryByteCount = 8
    private static let label = Array("runar console session 1".utf8)
    private static let scheme = "bearer "

    private struct State {
        var key: [UInt8]
        /// The unused secrets and their expiry times.
        var secrets: [(bytes: [UInt8], until: Duration)] = []
    }

    /// The answers of lines, of each server of the console.
    let streams = OpenStreams()
    private let state: Locked<State>
    private let clocks: Clocks

    package init(key: String, clocks: Clocks = .system()) {
        state = Locked(State(key: Array(key.utf8)))
        self.clocks = clocks
    }

    /// Makes a secret that one browser can turn into a token.
    package func makeSecret() -> String {
        var random = SystemRandom()
        let bytes = random.bytes(count: Self.secretByteCount)
        let now = clocks.monotonic()
        state.withLock { state in
            state.secrets.removeAll { $0.until <= now }
            if state.secrets.count == Self.secretLimit { state.secrets.removeFirst() }
            state.secrets.append((bytes, now + Self.secretLife))
        }
        return Base64URL.encode(bytes)
    }

    /// Exchanges a secret for a token; nil if the secret is unknown, used or expired.
    package func exchange(_ secret: String) -> Session? {
        guard let bytes = try? Base64URL.decode(secret) else { return nil }  // malformed: not a secret
        let now = clocks.monotonic()
        // The key that the secret was made under: under a later one it would not hold.
        let key = state.withLock { state -> [UInt8]? in
            state.secrets.removeAll { $0.until <= now }
            guard let index = state.secrets.firstIndex(where: { ConstantTime.areEqual($0.bytes, bytes) }) else {
                return nil
            }
            state.secrets.remove(at: index)
            return state.key
        }
        return key.map { makeSession(signedWith: $0) }
    }

    /// Whether a secret still waits.
    package func isWaiting(for secret: String) -> Bool {
        let bytes = (try? Base64URL.decode(secret)) ?? []  // malformed: not a secret
        let now = clocks.monotonic()
        return state.withLock { $0.secrets.contains { $0.until > now && ConstantTime.areEqual($0.bytes, bytes) } }
    }

    /// A token that holds from now on.
    package func makeSession() -> Session { makeSession(signedWith: state.withLock { $0.key }) }

    private func makeSession(signedWith key: [UInt8]) -> Session {
        let expires = clocks.wallSeconds() + Self.tokenLifeSeconds
        var random = SystemRandom()
        var writer = ByteWriter(capacity: Self.idByteCount + Self.expiryByteCount)
        writer.write(random.bytes(count: Self.idByteCount))
        writer.write(expires)
        let code = Self.code(of: writer.bytes, key: key)
        return Session(token: Base64URL.encode(writer.bytes + code), expires: expires)
    }

    /// Replaces the key: invalidates all tokens and secrets, and ends the open streams.
    package func replaceKey(_ key: String) {
        state.withLock { $0 = State(key: Array(key.utf8)) }
        streams.endAll()
    }

    /// Whether an `Authorization` field carries the key or a valid token; always false while the key is empty.
    package func admits(_ authorization: String?) -> Bool {
        guard let authorization, authorization.lowercased().hasPrefix(Self.scheme) else { return false }
        let text = authorization.utf8.dropFirst(Self.scheme.utf8.count)
        let key = state.withLock { $0.key }
        guard !key.isEmpty else { return false }
        if ConstantTime.areEqual(text, key) { return true }
        let bytes = (try? Base64URL.decode(String(decoding: text, as: UTF8.self))) ?? []  // malformed: not a token
        let signedByteCount = Self.idByteCount + Self.expiryByteCount
        guard bytes.count == signedByteCount + SHA256.byteCount else { return false }
        let signed = Array(bytes.prefix(signedByteCount))
        guard ConstantTime.areEqual(bytes.dropFirst(signedByteCount), Self.code(of: signed, key: key)) else {
            return false
        }
        let expires = signed.suffix(Self.expiryByteCount).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return clocks.wallSeconds() < expires
    }

    private static func code(of bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: label + bytes, using: SymmetricKey(data: key)))
    }
}
