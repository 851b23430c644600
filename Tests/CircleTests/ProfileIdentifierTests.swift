internal import Identity
internal import TestSupport
internal import Testing

@testable internal import Circle

/// The identifiers of the own profile: their forms, and their life across changes of the text.
@Suite("Identifiers of a profile", .timeLimit(.minutes(5))) struct ProfileIdentifierTests {
    private static let did = "did:key:zDnaerx9CtbPJ1q36T5Ln5wYt3MQYeGRG5ehnPAmxcf5mDZpv"

    @Test(arguments: [
        did, "did:plc:ewvi7nxzyoun6zhxrhs64oiz", "did:web:example.org", "did:web:example.org:people:ada",
        "did:web:example.org%3A8443", "did:webvh:Qm_1.2-3:example.org",
    ])
    func `a DID of any method is accepted as it is`(text: String) throws {
        #expect(try ProfileIdentifiers.did(text) == text)
    }

    @Test(arguments: [
        "did", "did:", "did:web", "did:web:", "did::a", "did:Web:a", "did:web:a:", "did:web:a/b", "did:web:a?b",
        "did:web:a#b", "did:web:a b", "did:web:é", "did:web:a%", "did:web:a%4", "did:web:a%4g", "DID:web:a", "web:a",
        "https://example.org", String(repeating: "x", count: 257), "did:web:" + String(repeating: "x", count: 300),
    ])
    func `a text of another form is no DID`(text: String) {
        #expect(throws: CircleError.self) { try ProfileIdentifiers.did(text) }
    }

    @Test(arguments: [
        "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK", did + "#key-1", String(did.dropLast()), "did:key:",
    ])
    func `a did:key that is not of a P-256 key is refused`(text: String) {
        #expect(throws: DIDKeyError.self) { try ProfileIdentifiers.did(text) }
    }

    @Test func `a handle has a domain and is written in lower case`() throws {
        #expect(try ProfileIdentifiers.handle("Alice.Arkavo.Social") == "alice.arkavo.social")
        #expect(try ProfileIdentifiers.handle("alice.localhost.test") == "alice.localhost.test")
        for text in ["alice", "alice.", "alice.local", "al ice.example.org", "@alice.arkavo.social", "alice.example"] {
            #expect(throws: (any Error).self, "\(text)") { try ProfileIdentifiers.handle(text) }
        }
    }

    @Test func `an absent or empty text is no identifier`() throws {
        for text in [nil, ""] {
            #expect(try ProfileIdentifiers.did(text) == nil)
            #expect(try ProfileIdentifiers.handle(text) == nil)
        }
    }

    @Test func `identifiers survive a change of the name until an empty text removes them`() async throws {
        try await withCircles("Ada") { devices, _ in
            let circle = devices[0].circle
            try await circle.setProfile(name: "Ada", did: Self.did, handle: "ada.arkavo.social")
            try await circle.setProfile(name: "Ada Lovelace", blurb: "counts")
            var profile = try #require(circle.account().profile)
            #expect(profile.did == Self.did && profile.handle == "ada.arkavo.social")
            #expect(profile.name == "Ada Lovelace" && profile.blurb == "counts")
            await #expect(throws: DIDKeyError.self) { try await circle.setProfile(name: "A", did: "did:key:z6Mk") }
            #expect(try circle.account().profile == profile)
            try await circle.setProfile(name: "Ada", did: "")
            profile = try #require(circle.account().profile)
            #expect(profile.did == nil && profile.handle == "ada.arkavo.social")
        }
    }
}
