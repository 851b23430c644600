internal import HTTPAPI
internal import Identity
internal import IdentityStore
internal import RegistrationModel
internal import Testing
internal import WebAuthn

@testable internal import AuthenticatorSupport
@testable internal import IdentityServer

@Suite("Limits of the identity server") struct LimitTests {
    private static let rates = RequestLimits.Rates(
        address: RateLimit(every: .seconds(1), atOnce: 3),
        handle: RateLimit(every: .seconds(1), atOnce: 5),
        registration: RateLimit(every: .seconds(10), atOnce: 2)
    )

    private func address(_ low: UInt32) -> IPAddress { .v4(0x0A00_0000 + low) }

    // MARK: The buckets

    @Test func `an address is limited, and earns its requests back`() {
        let limits = RequestLimits(Self.rates)
        func admit(_ seconds: Int) -> Bool { limits.admit(address(1), handle: nil, at: .seconds(seconds)) }
        #expect((0..<5).map { _ in admit(0) } == [true, true, true, false, false])
        #expect(limits.admit(address(2), handle: nil, at: .zero))
        #expect([admit(1), admit(1)] == [true, false])
        #expect((0..<4).map { _ in admit(100) } == [true, true, true, false])
    }

    @Test func `a handle is limited whatever the addresses`() {
        let limits = RequestLimits(Self.rates)
        let admitted = (0..<8).count { limits.admit(address(UInt32($0)), handle: [1], at: .zero) }
        #expect(admitted == 5)
        #expect(limits.admit(address(9), handle: [2], at: .zero))
    }

    @Test func `a refused request charges neither bucket`() {
        let limits = RequestLimits(Self.rates)
        for _ in 0..<3 { #expect(limits.admit(address(1), handle: nil, at: .zero)) }
        for _ in 0..<10 { #expect(!limits.admit(address(1), handle: [1], at: .zero)) }
        // The handle still has all of its five.
        let admitted = (10..<20).count { limits.admit(address($0), handle: [1], at: .zero) }
        #expect(admitted == 5)
        #expect(!limits.admit(address(30), handle: [1], at: .zero))
        for _ in 0..<3 { #expect(limits.admit(address(30), handle: nil, at: .zero)) }
    }

    @Test func `the addresses of one IPv6 network of 64 bits count together`() {
        let limits = RequestLimits(Self.rates)
        func admit(_ high: UInt64, _ low: UInt64) -> Bool {
            limits.admit(.v6(high: high, low: low, scope: 0), handle: nil, at: .zero)
        }
        #expect((0..<5).map { admit(0x2001_0DB8, $0 << 40) } == [true, true, true, false, false])
        #expect(admit(0x2001_0DB9, 0))
    }

    @Test func `an IPv4 address in the form of IPv6 counts as itself`() {
        let limits = RequestLimits(Self.rates)
        func mapped(_ word: UInt64) -> IPAddress { .v6(high: 0, low: 0xFFFF_0000_0000 | word, scope: 0) }
        for _ in 0..<3 { #expect(limits.admit(address(1), handle: nil, at: .zero)) }
        #expect(!limits.admit(mapped(0x0A00_0001), handle: nil, at: .zero))
        #expect(limits.admit(mapped(0x0A00_0002), handle: nil, at: .zero))
    }

    @Test func `registrations are counted apart`() {
        let limits = RequestLimits(Self.rates)
        func register(_ low: UInt32, _ seconds: Int = 0) -> Bool {
            limits.admitRegistration(address(low), at: .seconds(seconds))
        }
        #expect([register(1), register(1), register(1)] == [true, true, false])
        #expect(register(2))
        #expect(limits.admit(address(1), handle: nil, at: .zero))
        #expect([register(1, 10), register(1, 10)] == [true, false])
    }

    @Test func `without rates and without an address nothing is limited`() {
        let (unlimited, limits) = (RequestLimits(nil), RequestLimits(Self.rates))
        for _ in 0..<200 {
            #expect(unlimited.admit(address(1), handle: [1], at: .zero))
            #expect(unlimited.admitRegistration(address(1), at: .zero))
            #expect(limits.admit(nil, handle: nil, at: .zero))
            #expect(limits.admitRegistration(nil, at: .zero))
        }
    }

    // MARK: The use cases

    /// The number of admitted requests among 200.
    private func admitted(_ request: (Int) async throws -> Void) async -> Int {
        var count = 0
        for number in 0..<200 {
            let failure = await refusal { try await request(number) }
            if failure?.code != "too-many-requests" { count += 1 }
        }
        return count
    }

    @Test func `requests of one address are limited, those of others are not`() async throws {
        let scene = try Scene()
        let count = await admitted { number in
            let handle = try Handle("unknown-\(number)")
            _ = try await scene.service.beginAuthentication(handle, from: Scene.client)
        }
        #expect(count == 60)
        let other = AccountService.Client(address: address(77))
        _ = try await scene.service.beginAuthentication(nil, from: other)
        let failure = await refusal { _ = try await scene.service.beginAuthentication(nil, from: Scene.client) }
        #expect(failure?.status == 429)
        scene.wait(1)
        _ = try await scene.service.beginAuthentication(nil, from: Scene.client)
    }

    @Test func `beginnings of a handle from many addresses are limited`() async throws {
        let scene = try Scene()
        let count = await admitted { number in
            let client = AccountService.Client(address: address(UInt32(number)))
            _ = try await scene.service.beginAuthentication(try Handle("alice"), from: client)
        }
        #expect(count == 60)
    }

    @Test func `accounts of one address are limited`() async throws {
        let scene = try Scene()
        var codes: [String?] = []
        for number in 0..<22 {
            var person = try Person("person-\(number)")
            let form = try await scene.form(of: &person)
            codes.append(
                await refusal { _ = try await scene.service.finishRegistration(form, from: Scene.client) }?.code
            )
        }
        #expect(codes.prefix(20).allSatisfy { $0 == nil })
        #expect(codes.suffix(2) == ["too-many-requests", "too-many-requests"])
        #expect(try await scene.store.totals().accounts == 20)
    }

    @Test func `a refused registration leaves its challenge good`() async throws {
        let scene = try Scene()
        for number in 0..<20 { _ = try await scene.register("person-\(number)") }
        var person = try Person("alice")
        scene.wait(20)
        let form = try await scene.form(of: &person)
        await #expect(throws: IdentityServerError.tooManyRequests) {
            try await scene.service.finishRegistration(form, from: Scene.client)
        }
        scene.wait(60)
        _ = try await scene.service.finishRegistration(form, from: Scene.client)
    }

    @Test func `a deletion is never limited`() async throws {
        let scene = try Scene()
        var alice = try await scene.register("alice")
        let user = try await scene.user(alice)
        _ = await admitted { _ in _ = try await scene.service.beginAuthentication(alice.handle, from: Scene.client) }
        await #expect(throws: IdentityServerError.tooManyRequests) {
            try await scene.service.beginConfirmation(of: .add, user, from: Scene.client)
        }
        await #expect(throws: IdentityServerError.tooManyRequests) {
            try await scene.service.beginConfirmation(of: .remove, user, from: Scene.client)
        }
        let form = DeleteAccountForm(assertion: try await scene.confirm(.delete, &alice))
        try await scene.service.deleteAccount(form, user, from: Scene.client)
        #expect(try await scene.store.account(handle: alice.handle) == nil)
    }

    @Test func `the setting requestLimits switches the limits off`() async throws {
        let scene = try Scene([.requestLimits: ["off"]])
        let count = await admitted { _ in
            _ = try await scene.service.beginAuthentication(try Handle("alice"), from: Scene.client)
        }
        #expect(count == 200)
    }
}
