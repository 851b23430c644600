internal import HTTPAPI
internal import Identity
internal import IdentityStore
internal import NanoTDF
internal import Platform
internal import RegistrationModel
internal import TestSupport
internal import Testing

@testable internal import AuthenticatorSupport
@testable internal import IdentityServer

@Suite("Sessions and tokens of the identity server") struct SessionTests {
    /// The code of the refusal of a token; nil if it is accepted.
    private func code(_ token: String, at scene: Scene) async -> String? {
        await refusal { _ = try await scene.service.signedIn(token) }?.code
    }

    @Test func `a refresh keeps the session, and its token works`() async throws {
        let scene = try Scene()
        let person = try await scene.register("alice")
        let first = try #require(person.signedIn)
        scene.wait(3600)
        let second = try await scene.service.refresh(try await scene.user(person), from: Scene.client)
        #expect(second.session == first.session)
        #expect(second.userId == first.userId)
        #expect(second.token != first.token)
        #expect(second.expires == first.expires + 3600)
        #expect(try await scene.service.signedIn(second.token).session == first.session)
        #expect(try await scene.store.sessions(of: first.userId, at: scene.now).count == 1)
    }

    @Test func `an ended session is refused everywhere`() async throws {
        let scene = try Scene()
        let person = try await scene.register("alice")
        let token = try #require(person.signedIn).token
        let user = try await scene.user(person)
        let newer = try await scene.service.refresh(user, from: Scene.client).token
        try await scene.service.revoke(user, everywhere: false, from: Scene.client)
        #expect(await code(token, at: scene) == "session-ended")
        #expect(await code(newer, at: scene) == "session-ended")
        // A request that had passed the check before.
        await #expect(throws: IdentityStoreError.sessionRevoked) {
            try await scene.service.refresh(user, from: Scene.client)
        }
    }

    @Test func `the end of one session leaves the others`() async throws {
        let scene = try Scene()
        var person = try await scene.register("alice")
        let other = try await scene.signIn(&person)
        try await scene.service.revoke(try await scene.user(person), everywhere: false, from: Scene.client)
        #expect(await code(other.token, at: scene) == nil)
    }

    @Test func `all sessions of an account end at once, and none of another one`() async throws {
        let scene = try Scene()
        var alice = try await scene.register("alice")
        let bob = try await scene.register("bob")
        var tokens = [try #require(alice.signedIn).token]
        for _ in 0..<3 { tokens.append(try await scene.signIn(&alice).token) }
        try await scene.service.revoke(try await scene.user(alice), everywhere: true, from: Scene.client)
        for token in tokens { #expect(await code(token, at: scene) == "session-ended") }
        #expect(await code(try #require(bob.signedIn).token, at: scene) == nil)
        #expect(await code(try await scene.signIn(&alice).token, at: scene) == nil)
    }

    @Test func `a session without a refresh ends, and a refresh prolongs it`() async throws {
        let scene = try Scene([.tokenLife: ["30m"], .sessionLife: ["1h"]])
        let (alice, bob) = (try await scene.register("alice"), try await scene.register("bob"))
        scene.wait(1800)
        let renewed = try await scene.service.refresh(try await scene.user(alice), from: Scene.client)
        let late = try await scene.service.refresh(try await scene.user(bob), from: Scene.client)
        scene.wait(1800)
        let again = try await scene.service.refresh(
            try await scene.service.signedIn(renewed.token),
            from: Scene.client
        )
        scene.wait(1800)
        #expect(await code(again.token, at: scene) == nil)
        #expect(await code(late.token, at: scene) == "identity-token-expired")
        let bobId = try #require(bob.signedIn).userId
        #expect(try await scene.store.sessions(of: bobId, at: scene.now).isEmpty)
    }

    @Test func `a session ends although its token is in the grace time`() async throws {
        let scene = try Scene([.tokenLife: ["1h"], .sessionLife: ["1h"]])
        let token = try #require(try await scene.register("alice").signedIn).token
        scene.wait(3599)
        #expect(await code(token, at: scene) == nil)
        scene.wait(1)
        #expect(await code(token, at: scene) == "session-ended")
    }

    @Test func `the report of an account counts its passkeys and sessions`() async throws {
        let scene = try Scene()
        var person = try await scene.register("alice")
        _ = try await scene.signIn(&person)
        let report = try await scene.service.account(try await scene.user(person))
        #expect(report.handle.text == "alice.example.social")
        #expect(report.did == person.did)
        #expect(report.passkeys == 1)
        #expect(report.sessions == 2)
    }

    // MARK: Tokens

    /// Seals a token for the session of a person, with one value changed.
    private func seal(
        _ person: Person,
        _ scene: Scene,
        signer: NanoTDFPrivateKey? = nil,
        issuer: String = Scene.origin,
        audience: String = Scene.origin,
        issued: UInt64? = nil,
        userId: UserId? = nil,
        session: UniqueId?
    ) throws -> String {
        let report = try #require(person.signedIn)
        var random = SystemRandom()
        let token = try IdentityToken(
            userId: userId ?? report.userId,
            flags: [.profile, .webAuthn],
            scopes: ["openid", "profile"],
            tokenId: UniqueId(using: &random),
            issued: issued ?? scene.now,
            expires: (issued ?? scene.now) + 600,
            audience: audience,
            sessionId: session,
            did: report.did
        )
        let sealer = try IdentityTokenSealer(
            signingKey: signer ?? scene.keys.signing,
            recipient: scene.keys.recipient.publicKey,
            issuer: issuer
        )
        return try sealer.seal(token)
    }

    @Test func `a token with another creator, issuer, audience or time is refused`() async throws {
        let scene = try Scene()
        let person = try await scene.register("alice")
        let session = try #require(person.signedIn).session
        let good = try seal(person, scene, session: session)
        #expect(await code(good, at: scene) == nil)
        let forger = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        let now = scene.now
        let wrong = [
            try seal(person, scene, signer: forger, session: session),
            try seal(person, scene, issuer: "https://issuer.example.org", session: session),
            try seal(person, scene, audience: "https://kas.example.org", session: session),
            try seal(person, scene, issued: now + 61, session: session),
        ]
        for token in wrong { #expect(await code(token, at: scene) == "bad-identity-token") }
        let old = try seal(person, scene, issued: now - 661, session: session)
        #expect(await code(old, at: scene) == "identity-token-expired")
        await #expect(throws: IdentityTokenError.wrongIssuer) { try await scene.service.signedIn(wrong[1]) }
        await #expect(throws: IdentityTokenError.invalidAudience) { try await scene.service.signedIn(wrong[2]) }
        await #expect(throws: IdentityTokenError.notYetValid) { try await scene.service.signedIn(wrong[3]) }
    }

    @Test func `a token without a session, or with the session of another account, is refused`() async throws {
        let scene = try Scene()
        let (alice, bob) = (try await scene.register("alice"), try await scene.register("bob"))
        var random = SystemRandom()
        let bobSession = try #require(bob.signedIn).session
        let wrong = [
            try seal(alice, scene, session: nil),
            try seal(alice, scene, session: UniqueId(using: &random)),
            try seal(alice, scene, session: bobSession),
            try seal(alice, scene, userId: UserId(using: &random), session: #require(alice.signedIn).session),
        ]
        for token in wrong { #expect(await code(token, at: scene) == "session-ended") }
    }

    @Test func `a token of another server is refused`() async throws {
        let (scene, other) = (try Scene(), try Scene())
        let token = try #require(try await other.register("alice").signedIn).token
        _ = try await scene.register("alice")
        #expect(await code(token, at: scene) == "bad-identity-token")
    }

    @Test func `a token with a changed character is refused`() async throws {
        let scene = try Scene()
        let token = try #require(try await scene.register("alice").signedIn).token
        var random = SplitMix64(seed: 2)
        for _ in 0..<40 {
            var bytes = Array(token.utf8)
            let index = Int.random(in: bytes.indices.dropLast(), using: &random)
            bytes[index] = bytes[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(await code(String(decoding: bytes, as: UTF8.self), at: scene) == "bad-identity-token")
        }
        for text in ["", ".", "eyJhbGciOiJub25lIn0.e30.", String(repeating: "A", count: 100_000)] {
            #expect(await code(text, at: scene) == "bad-identity-token")
        }
    }

    @Test func `a token expires after its life and a minute`() async throws {
        let scene = try Scene([.tokenLife: ["10m"]])
        let report = try #require(try await scene.register("alice").signedIn)
        #expect(report.expires == scene.now + 600)
        scene.wait(660)
        #expect(await code(report.token, at: scene) == nil)
        scene.wait(1)
        #expect(await code(report.token, at: scene) == "identity-token-expired")
    }

    // MARK: Rotation

    @Test func `tokens of the previous key are good until the end of the overlap`() async throws {
        let home = try TemporaryDirectory()
        let files = TokenKeyFiles(
            TokenKeyFiles.Paths(signing: nil, encoding: nil, decoding: nil),
            in: try DataDirectory(at: home.path)
        )
        let scene = try Scene(keys: try files.load(at: 1_900_000_000))
        var person = try await scene.register("alice")
        let old = try #require(person.signedIn).token
        let until = scene.now + 1000
        try files.rotate(at: scene.now, untilSeconds: until)
        // A server that has not read the files yet.
        #expect(await code(old, at: scene) == nil)
        let rotated = try files.load(at: scene.now)
        #expect(rotated.previous?.key == scene.keys.signing.publicKey)
        #expect(rotated.previous?.untilSeconds == until)
        #expect(rotated.signing.publicKey != scene.keys.signing.publicKey)
        #expect(rotated.recipient.publicKey == scene.keys.recipient.publicKey)
        try scene.service.replaceKeys(rotated)
        #expect(scene.service.tokens.issuerKeys.map(\.publicKey).first == rotated.signing.publicKey)
        let new = try await scene.signIn(&person).token
        #expect(await code(old, at: scene) == nil)
        #expect(await code(new, at: scene) == nil)
        scene.wait(1000)
        #expect(await code(old, at: scene) == nil)
        scene.wait(1)
        #expect(await code(old, at: scene) == "bad-identity-token")
        #expect(await code(new, at: scene) == nil)
        #expect(try files.load(at: scene.now).previous == nil)
        try scene.service.replaceKeys(try files.load(at: scene.now))
        #expect(await code(new, at: scene) == nil)
        #expect(scene.service.tokens.issuerKeys.count == 1)
    }

    @Test func `a signing key that was replaced without an overlap signs nothing more`() async throws {
        let scene = try Scene()
        let person = try await scene.register("alice")
        let token = try #require(person.signedIn).token
        let keys = TokenKeys(
            signing: try NanoTDFPrivateKey(generatedOn: .secp256r1),
            previous: nil,
            recipient: scene.keys.recipient
        )
        try scene.service.replaceKeys(keys)
        #expect(await code(token, at: scene) == "bad-identity-token")
    }
}
