internal import Bytes
internal import CryptoPrimitives
internal import Identity

/// The codes and cookies of received handshake messages (the paper, sections 5.3, 5.4.4 and 5.4.7), for the local key.
struct CookieChecker: Sendable {
    private let firstKey: [UInt8]
    private let cookieKey: [UInt8]
    /// Changes after ``Constants/cookieLifetime``, and so do all cookies.
    private var secret: SecretBytes?
    private var secretMadeAt = Duration.zero

    init(local: X25519PublicKey) {
        firstKey = Self.firstKey(of: local)
        cookieKey = Self.cookieKey(of: local)
    }

    /// The key of the first code of messages to a peer.
    static func firstKey(of receiver: X25519PublicKey) -> [UInt8] {
        BLAKE2s.hash(Array("mac1----".utf8) + receiver.bytes)
    }

    /// The key with which a peer seals its cookies.
    static func cookieKey(of sender: X25519PublicKey) -> [UInt8] {
        BLAKE2s.hash(Array("cookie--".utf8) + sender.bytes)
    }

    /// Returns the code of `bytes`: BLAKE2s under a key, in 16 bytes.
    static func code(of bytes: some Collection<UInt8>, key: [UInt8]) -> [UInt8] {
        BLAKE2s.hash(bytes, outputByteCount: MessageCodes.byteCount, key: key)
    }

    /// Whether the first code of a message is that of the local key: its sender knows the local public key.
    func hasValidFirstCode(_ message: ArraySlice<UInt8>) -> Bool {
        let code = Self.code(of: message.dropLast(MessageCodes.bothByteCount), key: firstKey)
        return ConstantTime.areEqual(code, MessageCodes.first(of: message))
    }

    /// Whether the second code of a message is that of the source's cookie: its sender receives at the source.
    func hasValidSecondCode(_ message: ArraySlice<UInt8>, from source: SocketAddress, at now: Duration) -> Bool {
        guard !MessageCodes.lackSecond(message), let secret, now - secretMadeAt < Constants.cookieLifetime else {
            return false
        }
        let cookie = Self.cookie(for: source, secret)
        let code = Self.code(of: message.dropLast(MessageCodes.byteCount), key: cookie)
        return ConstantTime.areEqual(code, message.suffix(MessageCodes.byteCount))
    }

    /// Makes the reply that carries the source's cookie.
    mutating func reply(
        to message: ArraySlice<UInt8>,
        sender: UInt32,
        from source: SocketAddress,
        at now: Duration,
        using random: inout some RandomNumberGenerator
    ) -> CookieReplyMessage {
        let secret = currentSecret(at: now, using: &random)
        let nonce = Self.randomBytes(XChaChaPoly.nonceByteCount, using: &random)
        let sealed = XChaChaPoly.seal(
            Self.cookie(for: source, secret),
            key: cookieKey,
            nonce: nonce,
            authenticating: Array(MessageCodes.first(of: message))
        )
        return CookieReplyMessage(receiver: sender, nonce: nonce, sealedCookie: sealed)
    }

    private mutating func currentSecret(
        at now: Duration,
        using random: inout some RandomNumberGenerator
    ) -> SecretBytes {
        if let secret, now - secretMadeAt < Constants.cookieLifetime { return secret }
        var bytes = Self.randomBytes(BLAKE2s.maximumByteCount, using: &random)
        let made = SecretBytes(consuming: &bytes)
        secret = made
        secretMadeAt = now
        return made
    }

    private static func cookie(for source: SocketAddress, _ secret: SecretBytes) -> [UInt8] {
        let port = [UInt8(source.port >> 8), UInt8(source.port & 0xFF)]
        return secret.withBytes { key in code(of: source.bytes + port, key: key) }
    }

    private static func randomBytes(_ count: Int, using random: inout some RandomNumberGenerator) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }
}

/// The cookie that a loaded peer sent, and the code that its reply must name.
struct PeerCookie: Sendable {
    private var cookie: [UInt8] = []
    private var receivedAt = Duration.zero
    /// The first code of the last handshake message to the peer; empty before.
    private var lastFirstCode: [UInt8] = []

    /// Appends both codes to a handshake message for `receiver`.
    mutating func appendCodes(to message: inout [UInt8], for receiver: X25519PublicKey, at now: Duration) {
        lastFirstCode = CookieChecker.code(of: message, key: CookieChecker.firstKey(of: receiver))
        message += lastFirstCode
        if !cookie.isEmpty, now - receivedAt < Constants.cookieLifetime - Constants.cookieLatency {
            message += CookieChecker.code(of: message, key: cookie)
        } else {
            cookie = []
            message += repeatElement(0, count: MessageCodes.byteCount)
        }
    }

    /// Takes the cookie of a reply; returns false if the reply is not authentic, or not for the last message.
    mutating func receive(_ reply: CookieReplyMessage, from sender: X25519PublicKey, at now: Duration) -> Bool {
        guard !lastFirstCode.isEmpty,
            let cookie = XChaChaPoly.open(
                reply.sealedCookie,
                key: CookieChecker.cookieKey(of: sender),
                nonce: reply.nonce,
                authenticating: lastFirstCode
            )
        else { return false }
        self.cookie = cookie
        receivedAt = now
        return true
    }
}
