internal import Identity
internal import RegistrationModel
internal import TestSupport
internal import Testing

@testable internal import IdentityServer

@Suite("Ceremonies of commands, a value") struct CommandCeremonyTests {
    /// The value in a reference: an expectation cannot change a value.
    private final class Ceremonies {
        var value = CommandCeremonies()
        var random = SplitMix64(seed: 1)

        var count: Int { value.count }

        func begin(from address: IPAddress?, at now: Duration) -> (ceremony: CommandCeremony, secret: String)? {
            value.begin(.authenticate(handle: nil), from: address, at: now, using: &random)
        }

        func waiting(_ id: String, at now: Duration) -> CommandCeremony? { value.waiting(id, at: now) }

        func poll(_ id: String, secret: String, at now: Duration) -> CommandCeremony.State? {
            value.poll(id, secret: secret, at: now)
        }

        func end(_ id: String, as state: CommandCeremony.State, at now: Duration) -> Bool {
            value.end(id, as: state, at: now)
        }

        func cancel(_ id: String, secret: String, at now: Duration) -> Bool {
            value.cancel(id, secret: secret, at: now)
        }
    }

    private let ceremonies = Ceremonies()

    private func address(_ low: Int) -> IPAddress { .v4(0x0A00_0000 + UInt32(low)) }

    private func begin(
        from low: Int = 1,
        at now: Duration = .zero
    ) throws -> (ceremony: CommandCeremony, secret: String) {
        try #require(ceremonies.begin(from: address(low), at: now))
    }

    private func name(_ state: CommandCeremony.State?) -> String? {
        switch state {
        case .waiting: "waiting"
        case .done: "done"
        case .failed(let code, _): code
        case nil: nil
        }
    }

    private let failure = CommandCeremony.State.failed(code: "failed-so", message: "it failed so")

    @Test func `a ceremony waits, and its page finds it by its id`() throws {
        let (ceremony, secret) = try begin()
        #expect(ceremonies.waiting(ceremony.id, at: .zero)?.number == ceremony.number)
        #expect(ceremonies.waiting("another", at: .zero) == nil)
        #expect(name(ceremonies.poll(ceremony.id, secret: secret, at: .zero)) == "waiting")
        #expect(name(ceremonies.poll(ceremony.id, secret: secret, at: .zero)) == "waiting")
        #expect(ceremonies.count == 1)
    }

    @Test func `ids, secrets and numbers of ceremonies differ`() throws {
        var (ids, secrets, numbers) = (Set<String>(), Set<String>(), Set<String>())
        for low in 0..<200 {
            let (ceremony, secret) = try begin(from: low)
            ids.insert(ceremony.id)
            secrets.insert(secret)
            numbers.insert(ceremony.number)
            #expect(ceremony.number.utf8.count == 6)
            #expect(ceremony.number.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
            #expect(ceremony.id.utf8.count == 22)
            #expect(secret.utf8.count == 43)
        }
        #expect(ids.count == 200)
        #expect(secrets.count == 200)
        #expect(numbers.count > 190)
    }

    @Test func `a ceremony expires after ten minutes`() throws {
        let (ceremony, secret) = try begin()
        let (other, _) = try begin(at: .seconds(1))
        let last = CommandCeremonies.life - .milliseconds(1)
        #expect(ceremonies.waiting(ceremony.id, at: last) != nil)
        #expect(ceremonies.waiting(ceremony.id, at: CommandCeremonies.life) == nil)
        #expect(ceremonies.poll(ceremony.id, secret: secret, at: CommandCeremonies.life) == nil)
        #expect(!ceremonies.end(ceremony.id, as: failure, at: CommandCeremonies.life))
        #expect(!ceremonies.cancel(ceremony.id, secret: secret, at: CommandCeremonies.life))
        #expect(ceremonies.waiting(other.id, at: CommandCeremonies.life) != nil)
        #expect(ceremonies.count == 1)
    }

    @Test func `an answer that is not fetched expires too`() throws {
        let (ceremony, secret) = try begin()
        let last = CommandCeremonies.life - .seconds(1)
        #expect(ceremonies.end(ceremony.id, as: failure, at: last))
        #expect(ceremonies.poll(ceremony.id, secret: secret, at: CommandCeremonies.life) == nil)
        #expect(ceremonies.count == 0)
    }

    @Test func `an end is returned once`() throws {
        let (ceremony, secret) = try begin()
        #expect(ceremonies.end(ceremony.id, as: failure, at: .zero))
        #expect(ceremonies.waiting(ceremony.id, at: .zero) == nil)
        #expect(name(ceremonies.poll(ceremony.id, secret: secret, at: .zero)) == "failed-so")
        #expect(ceremonies.poll(ceremony.id, secret: secret, at: .zero) == nil)
        #expect(ceremonies.count == 0)
    }

    @Test func `a ceremony ends once`() throws {
        let (ceremony, secret) = try begin()
        #expect(ceremonies.end(ceremony.id, as: failure, at: .zero))
        #expect(!ceremonies.end(ceremony.id, as: .failed(code: "later", message: ""), at: .zero))
        #expect(name(ceremonies.poll(ceremony.id, secret: secret, at: .zero)) == "failed-so")
        #expect(!ceremonies.end(ceremony.id, as: failure, at: .zero))
        #expect(!ceremonies.end("another", as: failure, at: .zero))
    }

    @Test func `another secret neither fetches nor cancels, and takes nothing away`() throws {
        let (ceremony, secret) = try begin()
        let (_, other) = try begin()
        #expect(ceremonies.end(ceremony.id, as: failure, at: .zero))
        for wrong in ["", ceremony.id, other, secret + "A", String(secret.dropLast())] {
            #expect(ceremonies.poll(ceremony.id, secret: wrong, at: .zero) == nil)
            #expect(!ceremonies.cancel(ceremony.id, secret: wrong, at: .zero))
        }
        #expect(name(ceremonies.poll(ceremony.id, secret: secret, at: .zero)) == "failed-so")
    }

    @Test func `a cancelled ceremony is removed`() throws {
        let (ceremony, secret) = try begin()
        #expect(ceremonies.cancel(ceremony.id, secret: secret, at: .zero))
        #expect(ceremonies.waiting(ceremony.id, at: .zero) == nil)
        #expect(ceremonies.poll(ceremony.id, secret: secret, at: .zero) == nil)
        #expect(!ceremonies.cancel(ceremony.id, secret: secret, at: .zero))
        #expect(ceremonies.count == 0)
    }

    @Test func `the ceremonies of one address are limited`() throws {
        var first: (ceremony: CommandCeremony, secret: String)?
        for _ in 0..<CommandCeremonies.limitPerAddress {
            let begun = try begin(at: .seconds(1))
            first = first ?? begun
        }
        #expect(ceremonies.begin(from: address(1), at: .seconds(1)) == nil)
        _ = try begin(from: 2, at: .seconds(1))
        let begun = try #require(first)
        #expect(ceremonies.cancel(begun.ceremony.id, secret: begun.secret, at: .seconds(1)))
        _ = try begin(at: .seconds(1))
        _ = try begin(at: CommandCeremonies.life + .seconds(1))
    }

    @Test func `the addresses of one IPv6 subscriber count as one`() throws {
        func address(_ high: UInt64, _ low: UInt64) -> IPAddress { .v6(high: high, low: low, scope: 0) }
        for low in 0..<UInt64(CommandCeremonies.limitPerAddress) {
            let begun = try #require(ceremonies.begin(from: address(0x2001_0DB8_0000_0001, low), at: .zero))
            #expect(begun.ceremony.address == address(0x2001_0DB8_0000_0001, low))
        }
        #expect(ceremonies.begin(from: address(0x2001_0DB8_0000_0001, 100), at: .zero) == nil)
        #expect(ceremonies.begin(from: address(0x2001_0DB8_0000_0002, 0), at: .zero) != nil)
    }

    @Test func `the ceremonies of all addresses are limited`() throws {
        for number in 0..<CommandCeremonies.limit { _ = try begin(from: number / CommandCeremonies.limitPerAddress) }
        #expect(ceremonies.count == CommandCeremonies.limit)
        #expect(ceremonies.begin(from: address(70_000), at: .zero) == nil)
        _ = try begin(from: 70_000, at: CommandCeremonies.life)
        #expect(ceremonies.count == 1)
    }
}
