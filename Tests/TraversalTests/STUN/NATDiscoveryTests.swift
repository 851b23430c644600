internal import Identity
internal import TestSupport
internal import Testing
internal import Traversal

@Suite("Finding out the kind of a NAT") struct NATDiscoveryTests {
    private let primary = SocketAddress(.v4(0xC000_0201), port: 3_478)
    private let other = SocketAddress(.v4(0xC000_0202), port: 3_479)

    private func world(
        _ mapping: ModelNAT.Dependence?,
        _ filtering: ModelNAT.Dependence,
        isAlone: Bool = false
    ) throws -> ModelNAT {
        let server = try STUNServer(primary: self.primary, other: isAlone ? nil : self.other)
        return ModelNAT(mapping: mapping, filtering: filtering, server: server)
    }

    private func discovery(_ world: ModelNAT) -> NATDiscovery {
        var random = SplitMix64(seed: 3)
        return NATDiscovery(server: self.primary, own: [world.own], using: &random)
    }

    private func report(_ world: inout ModelNAT) -> NATReport? {
        var discovery = self.discovery(world)
        guard case .finish(let report)? = world.run(&discovery) else { return nil }
        return report
    }

    private static let mappings: [(ModelNAT.Dependence?, NATMapping)] = [
        (nil, .notTranslated), (.endpointIndependent, .endpointIndependent), (.addressDependent, .addressDependent),
        (.addressAndPortDependent, .addressAndPortDependent),
    ]
    private static let filterings: [(ModelNAT.Dependence, NATFiltering)] = [
        (.endpointIndependent, .endpointIndependent), (.addressDependent, .addressDependent),
        (.addressAndPortDependent, .addressAndPortDependent),
    ]

    @Test func `each of the twelve kinds has its name`() throws {
        for (mapping, expectedMapping) in Self.mappings {
            for (filtering, expectedFiltering) in Self.filterings {
                var world = try self.world(mapping, filtering)
                let report = try #require(self.report(&world))
                #expect(report.mapping == expectedMapping)
                #expect(report.filtering == expectedFiltering, "\(expectedMapping)")
                #expect(mapping == nil ? report.publicAddress == world.own : report.publicAddress.port == 30_000)
                #expect(world.now <= .seconds(10), "\(expectedMapping), \(expectedFiltering): \(world.now)")
            }
        }
    }

    @Test func `with a server of one address the filters stay unknown, and it says so`() throws {
        for (mapping, expected) in Self.mappings {
            var world = try self.world(mapping, .addressDependent, isAlone: true)
            let report = try #require(self.report(&world))
            #expect(report.filtering == .unknown(.noSecondAddress))
            #expect(report.mapping == (mapping == nil ? expected : .unknown(.noSecondAddress)))
            #expect(world.now == .zero)
        }
    }

    @Test func `a discovery of the address only sends one request`() throws {
        var world = try self.world(.endpointIndependent, .addressDependent)
        var random = SplitMix64(seed: 3)
        var discovery = NATDiscovery(server: self.primary, own: [], isClassifying: false, using: &random)
        let seen = SocketAddress(.v4(0xCB00_7109), port: 30_000)
        let report = NATReport(publicAddress: seen, mapping: .unknown(.notTested), filtering: .unknown(.notTested))
        #expect(world.run(&discovery) == .finish(report))
        #expect(world.now == .zero)
    }

    @Test func `a second address that is never heard proves nothing`() throws {
        for (mapping, expected) in Self.mappings {
            var world = try self.world(mapping, .addressDependent)
            world.isSecondAlive = false
            let report = try #require(self.report(&world))
            #expect(report.filtering == .unknown(.secondAddressSilent))
            #expect(report.mapping == (mapping == nil ? expected : .unknown(.secondAddressSilent)))
        }
    }

    @Test func `without any answer it fails, in ten seconds`() throws {
        var world = try self.world(.endpointIndependent, .addressDependent)
        var random = SplitMix64(seed: 3)
        let nobody = SocketAddress(.v4(0xC000_0209), port: 3_478)
        var discovery = NATDiscovery(server: nobody, own: [], using: &random)
        #expect(world.run(&discovery) == .fail(.noAnswer))
        #expect(world.now <= .seconds(10))
    }

    @Test func `a server that invents its second address is taken for one that has none`() throws {
        for invented in ["192.0.2.1:3479", "192.0.2.2:3478", "0.0.0.0:3479", "[2001:db8::1]:3479", "224.0.0.1:3479"] {
            var discovery = self.discovery(try self.world(nil, .addressDependent))
            var effects: [NATDiscovery.Effect] = []
            discovery.handle(.started, at: .zero, into: &effects)
            guard case .send(let bytes, _)? = effects.first else { throw CancellationError() }
            let seen = SocketAddress(.v4(0xCB00_7109), port: 9)
            let answer = STUNMessage(
                .success,
                transaction: try STUNPacket(bytes).message.transaction,
                attributes: [.xorMappedAddress(seen), .otherAddress(try SocketAddress(parsing: invented))]
            )
            effects = []
            discovery.handle(
                .datagramReceived(STUNPacket.encode(answer), from: self.primary),
                at: .zero,
                into: &effects
            )
            let doubt = NATDoubt.noSecondAddress
            let report = NATReport(publicAddress: seen, mapping: .unknown(doubt), filtering: .unknown(doubt))
            #expect(effects == [.finish(report)], "\(invented)")
        }
    }
}
