internal import Bytes
internal import Identity
internal import RegistrationModel
internal import TestSupport
internal import Testing

@testable internal import Registration

@Suite("Stored registrations") struct RegistrationSnapshotTests {
    /// A flow at each of its steps, with the step at which a later process continues.
    private static func flows() throws -> [(flow: RegistrationFlow, step: RegistrationSnapshot.Step)] {
        var dialogue = Dialogue(try Scene.plan())
        var flows = [(dialogue.flow, RegistrationSnapshot.Step.agreement)]
        func note(_ step: RegistrationSnapshot.Step) { flows.append((dialogue.flow, step)) }
        dialogue.accept()
        note(.handle)
        dialogue.choose(.submittedHandle("alice", displayName: "Alice Liddell"))
        note(.key)
        dialogue.answer(.didKey(try Scene.did()))
        note(.passkey)
        dialogue.answer(.creationOptions(Scene.creationOptions()))
        note(.passkey)
        dialogue.answer(.passkeyCreated(Scene.passkey))
        note(.passkey)
        dialogue.answer(.failed(.service(.timedOut)))
        note(.passkey)
        dialogue.answer(.resolved(try Scene.did().description))
        note(.passkey)
        dialogue.choose(.signIn(handle: nil))
        note(.signIn)
        dialogue.answer(.requestOptions(Scene.requestOptions()))
        dialogue.answer(.assertion(Scene.assertion))
        dialogue.answer(.signedIn(try Scene.signedIn()))
        note(.signIn)
        dialogue.answer(.tokenStored)
        note(.profile)
        dialogue.answer(.profileStored)
        note(.done)
        return flows
    }

    @Test func `each step is continued by a later process`() throws {
        for (flow, step) in try Self.flows() {
            let snapshot = try RegistrationSnapshot(encoded: flow.snapshot.encoded())
            #expect(snapshot == flow.snapshot && snapshot.step == step)
            let later = RegistrationFlow(plan: flow.plan, snapshot: snapshot)
            #expect(later.snapshot == snapshot, "\(step)")
            #expect(!later.isBusy && later.problem == nil)
        }
    }

    @Test func `a registration that was posted is confirmed before another one`() throws {
        var dialogue = Dialogue(try Scene.plan())
        try dialogue.post()
        try dialogue.restart()
        dialogue.choose(.reconnect)
        #expect(dialogue.action == .resolve(try Scene.account().handle))
    }

    @Test func `a token that was not stored is fetched again by a sign-in`() throws {
        var dialogue = Dialogue(try Scene.plan())
        try dialogue.post()
        dialogue.answer(.signedIn(try Scene.signedIn()))
        try dialogue.restart()
        dialogue.choose(.reconnect)
        #expect(dialogue.action == .fetchRequestOptions(try Handle("alice")))
    }

    @Test func `no stored registration has a secret`() throws {
        for (flow, _) in try Self.flows() {
            let text = String(decoding: try flow.snapshot.encoded(), as: UTF8.self)
            #expect(!text.contains("token"), "\(text)")
        }
        let signedIn = try Scene.signedIn()
        #expect("\(signedIn)".contains("SecretBytes(redacted)") && !"\(signedIn)".contains("token-1"))
        #expect("\(Scene.notice)".contains("SecretBytes(redacted)"))
    }

    @Test func `a longest registration fits`() throws {
        var snapshot = try Self.flows().last.map(\.flow.snapshot)
        let domain = (0..<3).map { _ in String(repeating: "a", count: 63) }.joined(separator: ".") + ".test"
        snapshot?.displayName = String(repeating: "\\", count: 128)
        snapshot?.localName = String(repeating: "\"", count: 128)
        snapshot?.handle = try Handle(String(repeating: "a", count: 18))
        snapshot?.account = ArkavoCredentials(
            handle: try QualifiedHandle(domain),
            did: try Scene.did(),
            userId: try Scene.account().userId
        )
        let version = String(repeating: "\"", count: RegistrationSnapshot.agreementVersionByteLimit)
        snapshot?.acceptance = Agreement.Acceptance(version: version, seconds: UnixTime.maximum)
        let bytes = try #require(snapshot).encoded()
        #expect(bytes.count <= RegistrationSnapshot.byteLimit, "\(bytes.count)")
        #expect(try RegistrationSnapshot(encoded: bytes) == snapshot)
    }

    @Test func `damaged, large and newer registrations are refused`() throws {
        let bytes = try Self.flows()[3].flow.snapshot.encoded()
        func problem(_ bytes: [UInt8]) -> RegistrationSnapshotError? {
            do throws(RegistrationSnapshotError) { _ = try RegistrationSnapshot(encoded: bytes) } catch { return error }
            return nil
        }
        func changed(_ old: String, _ new: String) -> [UInt8] {
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(text.contains(old), "\(text)")
            return Array(text.replacing(old, with: new).utf8)
        }
        #expect(problem(bytes) == nil)
        #expect(problem(changed("\"version\":1}", "\"version\":2}")) == .newerVersion(found: 2))
        #expect(problem(bytes + [UInt8](repeating: 32, count: 8_192)) == .tooLarge(found: bytes.count + 8_192))
        let nested = Array((String(repeating: "[", count: 4_000)).utf8)
        let damages = [
            [], nested, changed("\"handle\":\"alice\"", "\"handle\":\"Alice\""),
            changed("\"did\":\"did:key:", "\"did\":\"did:web:"),
            changed("\"passkey\"", "\"profile\""), changed("\"passkey\"", "\"other\""),
            changed("\"seconds\":100", "\"seconds\":-1"), changed("Alice Liddell", "\\u202e"),
            changed("\"localName\":\"Quiet", "\"localName\":\"\\u0007"),
        ]
        for damage in damages {
            #expect(problem(damage) == .malformed, "\(String(decoding: damage.prefix(400), as: UTF8.self))")
        }
    }

    @Test func `no bytes crash the reader`() throws {
        let inputs = try Self.flows().map { try $0.flow.snapshot.encoded() }
        let plan = try Scene.plan()
        neverCrash(on: inputs, rounds: 4_000) { bytes in
            let snapshot = try RegistrationSnapshot(encoded: bytes)
            var flow = RegistrationFlow(plan: plan, snapshot: snapshot)
            _ = flow.handle(.person(.reconnect), at: 1)
            _ = try RegistrationSnapshot(encoded: flow.snapshot.encoded())
        }
    }
}
