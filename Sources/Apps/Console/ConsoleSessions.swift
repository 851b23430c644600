internal import Bytes
internal import Concurrency
internal import Crypto
package import Platform

/// Who has shown to be the person of this node.
///
/// The command shows it once, by a secret that the node made for it and that a browser turns into a token; the token
/// is what every request carries from then on. It says itself how long it holds and is signed with the key of the
/// console, so nothing has to be remembered: it outlives the node, and a new key ends all at once. The key itself is
/// taken as a token too, for programs.
package final class ConsoleSessions: Sendable {
    /// What a browser keeps.
    package struct Session: Codable, Hashable, Sendable {
        package let token: String
        /// Seconds since 1970.
        package let expires: UInt64
    }

    /// The secret that a browser exchanges for a session.
    package struct SecretForm: Codable, Sendable {
        let secret: String
    }

    /// How long a secret waits for the browser.
    package static let secretLife = Duration.seconds(60)
    /// How long a token holds; a page that is used renews it.
    package static let tokenLifeSeconds: UInt64 = 30 * 24 * 60 * 60
    /// Secrets that wait at a time: a person opens one page after another.
    private static let secretLimit = 8
    private static let secretByteCount = 32
    private static let idByteCount = 16
    private static let expiryByteCount = 8
    private static let label = Array("runar console session 1".utf8)
    private static let scheme = "bearer "

    private struct State {
        var key: [UInt8]
        /// Secrets that nobody has used, and until when they hold.
        var secrets: [(bytes: [UInt8], until: Duration)] = []
    }

    /// The answers that last, whichever server gives them.
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

    /// The token for a secret, which is used up by it; nil if there is no such secret any more.
    package func exchange(_ secret: String) -> Session? {
        guard let bytes = try? Base64URL.decode(secret) else { return nil }  // what is no text of ours is no secret
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
        let bytes = (try? Base64URL.decode(secret)) ?? []  // what is no text of ours is no secret
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

    /// Takes another key: no token and no secret of before holds any more, and what is open ends.
    package func replaceKey(_ key: String) {
        state.withLock { $0 = State(key: Array(key.utf8)) }
        streams.endAll()
    }

    /// Whether an `Authorization` field shows that it is the person; an empty key admits nobody.
    package func admits(_ authorization: String?) -> Bool {
        guard let authorization, authorization.lowercased().hasPrefix(Self.scheme) else { return false }
        let text = authorization.utf8.dropFirst(Self.scheme.utf8.count)
        let key = state.withLock { $0.key }
        guard !key.isEmpty else { return false }
        if ConstantTime.areEqual(text, key) { return true }
        let bytes = (try? Base64URL.decode(String(decoding: text, as: UTF8.self))) ?? []  // what is broken is no token
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
