internal import BlindTokens
internal import Bytes
internal import CommandModel
internal import Concurrency
internal import ExitModel
internal import Failures
internal import Identity
internal import Platform
internal import TestSupport
internal import Testing
internal import Transport
internal import WebClient

@testable internal import ExitClient

@Suite("Connection driver", .timeLimit(.minutes(5))) struct VPNControllerTests {
    private static let report = "issuer-key-report.json"

    @Test func `a connection uses a token long after its issuance, over a connection of its own`() async throws {
        let scene = try ExitScene()
        try await scene.run(scene.controller()) { controller in
            controller.connect(to: "us")
            try await scene.finish(controller)
            #expect(controller.lease?.location.id == "us-east-0")
            let kept = try scene.vault().configuration()
            #expect(kept?.location.id == "us-east-0")
            controller.disconnect()
            try await controller.reach { $0 == .disconnected }
        }
        let sent = scene.sent.withLock { $0 }
        #expect(sent.map(\.path) == ["/exit", IssuerDirectory.path, "/token-request", RedemptionForm.path])
        try #require(sent.count == 4)
        #expect(sent[3].seconds - sent[2].seconds >= TokenWallet.delaySeconds.lowerBound)
        #expect(sent[2].authorization == "Bearer \(ExitScene.voucher)")
        #expect(sent[3].authorization?.hasPrefix("PrivateToken ") == true)
        #expect(sent[0].authorization == nil && sent[1].authorization == nil)
        #expect(sent.allSatisfy { $0.configuration.requestCount == 1 && $0.configuration.idleCount == 0 })
        #expect(sent.map(\.configuration.pins.count) == [0, 0, 0, 1])
        #expect(scene.tunnel.changes == [.start, .stop])
        #expect(try scene.vault().configuration() == nil)
    }

    @Test func `a person confirms the use of a new token`() async throws {
        let scene = try ExitScene()
        try await scene.run(scene.controller(asks: true)) { controller in
            controller.connect(to: nil)
            try await controller.reach { $0 == .connecting(.confirming) }
            #expect(scene.sent.withLock { $0.allSatisfy { $0.authorization == nil } })
            controller.confirm()
            try await controller.reach { $0 == .shaking }
        }
        #expect(scene.redemptions.count == 1)
    }

    @Test(arguments: [401, 409, 503, 0])
    func `a gateway that refuses is followed by the other one with another token`(status: Int) async throws {
        let scene = try ExitScene()
        scene.behaviour.withLock { $0.redemptions = [status] }
        try await scene.run(scene.controller(asks: true)) { controller in
            controller.connect(to: nil)
            try await controller.reach { $0 == .connecting(.confirming) }
            controller.confirm()
            try await controller.reach { $0 == .shaking }
        }
        #expect(scene.redemptions.map(\.host) == ["gateway0.example.org", "gateway1.example.org"])
        #expect(Set(scene.redemptions.map(\.authorization)).count == 2)
    }

    @Test func `a directory of another operator is refused`() async throws {
        let scene = try ExitScene()
        try await scene.run(scene.controller(operatorKey: Ed25519PrivateKey().publicKey)) { controller in
            controller.connect(to: nil)
            let failure = try await controller.failure()
            #expect(failure.failureCode.slug == "directory-refused")
        }
        #expect(scene.sent.withLock { $0.map(\.path) } == ["/exit"])
    }

    @Test func `descriptions that are stale leave no gateway`() async throws {
        let scene = try ExitScene()
        scene.behaviour.withLock { $0.age = 91 }
        try await scene.run(scene.controller()) { controller in
            controller.connect(to: nil)
            let failure = try await controller.failure()
            #expect(failure == .noGateway(location: nil))
        }
    }

    @Test func `a key of the issuer that differs over two paths is reported, and no token is requested`() async throws {
        let scene = try ExitScene()
        scene.behaviour.withLock { $0.issuerKey = 1 }
        try await scene.run(scene.controller()) { controller in
            controller.connect(to: nil)
            let failure = try await controller.failure()
            #expect(failure.failureCode.slug == "issuer-key-differs")
            #expect("\(failure)".hasSuffix("Both directories are in \(scene.directory.file(Self.report))"))
        }
        #expect(scene.sent.withLock { $0.allSatisfy { $0.authorization == nil } })
        let report = try JSONText.decode(IssuerKeyReport.self, from: scene.directory.bytes(Self.report))
        #expect(report.exit == ExitScene.exit && report.time == ExitScene.start)
        #expect(Set(report.views.map(\.path)).count == 2)
        let keys = try report.views.map { view in
            try IssuerDirectory(json: Base64URL.decode(view.directory)).key(at: report.time).keyId
        }
        #expect(Set(keys).count == 2)
    }

    @Test func `an issuer that refuses the voucher is reported`() async throws {
        let scene = try ExitScene()
        scene.behaviour.withLock { $0.issuerStatus = 401 }
        try await scene.run(scene.controller()) { controller in
            controller.connect(to: nil)
            let failure = try await controller.failure()
            #expect(failure.failureCode.slug == "issuer-refused")
        }
    }

    @Test(arguments: [(nil, "no-voucher"), (ExitScene.voucher(allowance: 0), "allowance-used")])
    func `a wallet that gets no token reports the reason`(voucher: String?, code: String) async throws {
        let scene = try ExitScene(voucher: voucher)
        try await scene.run(scene.controller()) { controller in
            controller.connect(to: nil)
            let failure = try await controller.failure()
            #expect(failure.failureCode.slug == code)
        }
        #expect(scene.sent.withLock { $0.allSatisfy { $0.authorization == nil } })
    }

    @Test func `a voucher that grants fewer tokens than the wallet has room for is used up`() async throws {
        let scene = try ExitScene()
        scene.behaviour.withLock { $0.remaining = 1 }
        try await scene.run(scene.controller()) { controller in
            controller.connect(to: nil)
            try await scene.finish(controller)
            #expect(controller.tokenCount == 0)
        }
        let requests = scene.sent.withLock { $0.count { $0.path == "/token-request" } }
        // The third one: the wallet's next batch can be due before the token is old enough.
        #expect((2...3) ~= requests && scene.redemptions.count == 1)
        #expect(scene.behaviour.withLock { $0.remaining } == 0)
    }

    @Test func `another voucher is used in the epoch of the former one, whose tokens stay`() async throws {
        let scene = try ExitScene(voucher: ExitScene.voucher(allowance: 4))
        scene.behaviour.withLock { $0.refusal = 0 }
        try await scene.run(scene.controller()) { controller in
            controller.connect(to: nil)
            let failure = try await controller.failure()
            #expect(failure.failureCode.slug == "allowance-used")
        }
        scene.behaviour.withLock { $0.refusal = nil }
        for (allowance, count) in [(3, 2), (1, 1)] {
            try scene.vault().store(voucher: ExitScene.voucher(allowance: UInt16(allowance)))
            try await scene.run(scene.controller()) { controller in
                controller.connect(to: nil)
                try await scene.finish(controller)
                #expect(controller.tokenCount == count)
            }
        }
        #expect(Set(scene.redemptions.map(\.authorization)).count == 2)
    }

    @Test(arguments: [0, -1, 4]) func `a refusal without fewer tokens that remain is not repeated`(remaining: Int)
        async throws
    {
        let scene = try ExitScene()
        scene.behaviour.withLock { $0.refusal = remaining }
        try await scene.run(scene.controller()) { controller in
            controller.connect(to: nil)
            let failure = try await controller.failure()
            #expect(failure.failureCode.slug == "allowance-used")
        }
        #expect(scene.sent.withLock { $0.count { $0.path == "/token-request" } } == 1)
    }

    @Test func `a report after the request to end has no state of the connection`() async throws {
        let scene = try ExitScene()
        let controller = try scene.controller()
        #expect(VPNStatusReport(controller, isEnding: true).state == "disconnected")
        try await scene.run(controller) { controller in
            controller.connect(to: nil)
            try await scene.finish(controller)
            #expect(VPNStatusReport(controller).state == "connected")
            let report = VPNStatusReport(controller, isEnding: true)
            #expect(report.state == "disconnecting" && report.step == nil)
        }
    }

    @Test func `a restart never uses a token again`() async throws {
        let scene = try ExitScene()
        for _ in 0..<3 {
            // The process ends while the gateway's answer is on its way.
            try await scene.run(scene.controller(asks: true)) { controller in
                controller.connect(to: nil)
                let state = try await controller.reach { $0 == .connecting(.confirming) || $0 == .shaking }
                guard state != .shaking else { return }
                controller.confirm()
                try await controller.reach { $0 == .shaking }
            }
        }
        #expect(scene.redemptions.count == 3)
        #expect(Set(scene.redemptions.map(\.authorization)).count == 3)
        #expect(scene.sent.withLock { $0.count { $0.path == "/token-request" } } == 1)
    }

    @Test func `the configuration of a process that crashed is removed at the next connection`() async throws {
        let scene = try ExitScene()
        try scene.vault().store(scene.sampleConfiguration())
        try await scene.run(scene.controller(asks: true)) { controller in
            controller.connect(to: nil)
            try await controller.reach { $0 != .disconnected && $0 != .connecting(.findingGateway) }
            let kept = try scene.vault().configuration()
            #expect(kept == nil)
        }
    }

    @Test func `a lease is renewed with another token while the tunnel stays`() async throws {
        let scene = try ExitScene()
        try await scene.run(scene.controller()) { controller in
            controller.connect(to: nil)
            try await scene.finish(controller)
            try await scene.passRenewal(of: controller)
        }
        #expect(scene.tunnel.changes.prefix(2) == [.start, .update])
        // The gateway renews the lease of a key at its addresses; the preshared key is another one.
        let forms = try scene.redemptions.prefix(2).map { try RedemptionForm(json: $0.body) }
        #expect(forms[0].clientPublicKey == forms[1].clientPublicKey)
        #expect(forms[0].encapsulationKey != forms[1].encapsulationKey)
        #expect(Set(scene.redemptions.map(\.authorization)).count == scene.redemptions.count)
    }

    @Test func `a tunnel that was made anew by a renewal is read again`() async throws {
        let scene = try ExitScene()
        try await scene.run(scene.controller()) { controller in
            controller.connect(to: nil)
            try await scene.finish(controller)
            scene.tunnel.endReading()
            // Without readings the last handshake becomes too old.
            try await scene.passRenewal(of: controller)
            #expect(controller.state == .reconnecting)
            while controller.state != .connected { try await scene.passDeadline(of: controller) }
            #expect(controller.traffic != nil)
        }
        #expect(scene.tunnel.changes.prefix(2) == [.start, .update])
    }

    @Test func `a client of a gateway that drains is renewed at another one, with keys of that tunnel`() async throws {
        let scene = try ExitScene()
        try await scene.run(scene.controller()) { controller in
            controller.connect(to: "us")
            try await scene.finish(controller)
            scene.behaviour.withLock { $0.draining = [0] }
            try await scene.passRenewal(of: controller)
            #expect(controller.lease?.location.id == "us-east-1")
        }
        let redemptions = scene.redemptions.prefix(2)
        #expect(redemptions.map(\.host) == ["gateway0.example.org", "gateway1.example.org"])
        #expect(scene.tunnel.changes.prefix(2) == [.start, .start])
        // Nothing that the two gateways see is the same.
        let forms = try redemptions.map { try RedemptionForm(json: $0.body) }
        #expect(forms[0].clientPublicKey != forms[1].clientPublicKey)
        #expect(forms[0].encapsulationKey != forms[1].encapsulationKey)
        #expect(Set(redemptions.map(\.authorization)).count == 2)
    }

    @Test func `a key of the issuer that differs at a renewal is reported, while older tokens are used`() async throws {
        let scene = try ExitScene()
        try await scene.run(scene.controller()) { controller in
            controller.connect(to: nil)
            try await scene.finish(controller)
            #expect(VPNStatusReport(controller).renewalFailure == nil)
            scene.behaviour.withLock { $0.issuerKey = 1 }
            try await scene.passRenewal(of: controller)
            #expect(controller.renewalFailure?.failureCode.slug == "issuer-key-differs")
            let lines = VPNStatusReport(controller).lines
            #expect(lines.contains { $0.hasPrefix("renewal: ") && $0.hasSuffix(scene.directory.file(Self.report)) })
        }
        let report = try JSONText.decode(IssuerKeyReport.self, from: scene.directory.bytes(Self.report))
        #expect(report.exit == ExitScene.exit)
    }

    @Test func `a request waits for the change of the tunnel before it`() async {
        let (operations, order, mayEnd) = (VPNOperations(), Locked<[String]>([]), Promise<Void>())
        operations.startNext {
            await mayEnd.waitIgnoringCancellation()
            order.withLock { $0.append("change") }
        }
        operations.start { order.withLock { $0.append("request") } }
        #expect(operations.idleNumber == nil)
        mayEnd.fulfil(())
        while operations.idleNumber == nil { await Task.yield() }
        #expect(order.withLock { $0 } == ["change", "request"] && operations.idleNumber == 2)
    }

    @Test func `a watch that was replaced or ended notes nothing`() async throws {
        let (operations, numbers) = (VPNOperations(), BoundedChannel<UInt64>())
        func watch() async throws -> UInt64 {
            operations.watch { _ = numbers.offer($0) }
            return try #require(try await numbers.next())
        }
        let first = try await watch()
        #expect(operations.note(from: first) {})
        let second = try await watch()
        #expect(!operations.note(from: first) { Issue.record("the first watch noted something") })
        #expect(operations.note(from: second) {})
        operations.endWatch()
        #expect(!operations.note(from: second) { Issue.record("the second watch noted something") })
    }

    @Test func `a wallet that cannot be stored ends the connection before a token is used`() async throws {
        let scene = try ExitScene(keys: FullKeyStorage())
        let controller = try scene.controller(asks: true)
        controller.connect(to: nil)
        await #expect(throws: VPNFailure.self) { try await controller.run() }
        #expect(controller.state.failure?.failureCode.slug == "exit-storage")
        #expect(scene.redemptions.isEmpty)
    }
}

/// A key storage that takes a voucher, and no key of a wallet.
private final class FullKeyStorage: KeyStorage {
    private let storage = InMemoryKeyStorage()

    var enforcesBiometrics: Bool { false }

    func store(_ key: SecretBytes, id: String, accessControl: AccessControl) throws(KeychainError) {
        guard !id.contains("wallet") else { throw .tooManyKeys(limit: 0) }
        try storage.store(key, id: id, accessControl: accessControl)
    }

    func retrieve(id: String) throws(KeychainError) -> SecretBytes? { try storage.retrieve(id: id) }
    func accessControl(id: String) throws(KeychainError) -> AccessControl? { try storage.accessControl(id: id) }
    func delete(id: String) throws(KeychainError) { try storage.delete(id: id) }
    func list() throws(KeychainError) -> [String] { try storage.list() }
    func exists(id: String) throws(KeychainError) -> Bool { try storage.exists(id: id) }
}
