internal import Concurrency
internal import Console
internal import Platform
internal import Testing

/// Clocks that a test sets.
private struct Hands: Sendable {
    let monotonic = Locked(Duration.zero)
    let wall = Locked<UInt64>(1_700_000_000)

    var clocks: Clocks {
        Clocks(
            monotonic: { [monotonic] in monotonic.withLock { $0 } },
            wallSeconds: { [wall] in wall.withLock { $0 } }
        )
    }
}

@Suite("Sessions of the console") struct SessionTests {
    private let hands = Hands()
    private let key = String(repeating: "k", count: 64)

    private func makeSessions(key: String? = nil) -> ConsoleSessions {
        ConsoleSessions(key: key ?? self.key, clocks: hands.clocks)
    }

    @Test func `a secret is exchanged for a token once`() throws {
        let sessions = makeSessions()
        let secret = sessions.makeSecret()
        #expect(sessions.isWaiting(for: secret))
        let session = try #require(sessions.exchange(secret))
        #expect(session.expires == 1_700_000_000 + 30 * 24 * 3600)
        #expect(sessions.admits("Bearer \(session.token)") && sessions.admits("bearer \(session.token)"))
        #expect(sessions.exchange(secret) == nil && !sessions.isWaiting(for: secret))
    }

    @Test func `an unused secret expires after a minute`() {
        let sessions = makeSessions()
        let secret = sessions.makeSecret()
        hands.monotonic.withLock { $0 = .seconds(60) }
        #expect(!sessions.isWaiting(for: secret) && sessions.exchange(secret) == nil)
    }

    @Test func `only the newest eight secrets are valid`() {
        let sessions = makeSessions()
        let secrets = (0..<9).map { _ in sessions.makeSecret() }
        #expect(sessions.exchange(secrets[0]) == nil)
        #expect(secrets.dropFirst().allSatisfy { sessions.exchange($0) != nil })
    }

    @Test func `a token outlives the node and ends after thirty days`() {
        let token = "Bearer " + makeSessions().makeSession().token
        let later = makeSessions()
        #expect(later.admits(token))
        hands.wall.withLock { $0 += 30 * 24 * 3600 - 1 }
        #expect(later.admits(token))
        hands.wall.withLock { $0 += 1 }
        #expect(!later.admits(token))
    }

    @Test func `a new key ends all sessions`() {
        let sessions = makeSessions()
        let (token, secret) = (sessions.makeSession().token, sessions.makeSecret())
        sessions.replaceKey("another")
        #expect(!sessions.admits("Bearer \(token)") && !sessions.admits("Bearer \(key)"))
        #expect(sessions.exchange(secret) == nil && sessions.admits("Bearer another"))
        #expect(!makeSessions(key: "third").admits("Bearer \(token)"))
    }

    @Test func `a token with any change is refused`() {
        let sessions = makeSessions()
        let token = Array(sessions.makeSession().token.utf8)
        for index in token.indices {
            var forged = token
            forged[index] = forged[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(!sessions.admits("Bearer " + String(decoding: forged, as: UTF8.self)))
            #expect(!sessions.admits("Bearer " + String(decoding: token[..<index], as: UTF8.self)))
        }
        #expect(sessions.admits("Bearer " + String(decoding: token, as: UTF8.self)))
    }

    @Test(arguments: [nil, "", "abc", "Bearer", "Bearer ", "Bearer ab", "Bearer abcd", "Basic abc", "Bearer  abc"])
    func `nothing but the key or a token admits`(authorization: String?) {
        #expect(!makeSessions(key: "abc").admits(authorization))
        #expect(makeSessions(key: "abc").admits("Bearer abc"))
    }

    @Test func `an empty key opens nothing`() {
        let sessions = makeSessions(key: "")
        #expect(!sessions.admits("Bearer ") && !sessions.admits("Bearer \(sessions.makeSession().token)"))
    }

    @Test(arguments: ["", "a", "====", String(repeating: "A", count: 10_000)])
    func `an invalid secret is refused`(text: String) {
        #expect(makeSessions().exchange(text) == nil)
    }
}
