internal import Identity
internal import TestSupport
internal import Testing
internal import Traversal

@Suite("The STUN server") struct ServerTests {
    private let primary: SocketAddress
    private let other: SocketAddress
    private let client: SocketAddress
    private let id = STUNTransactionId(Array(21...32))

    init() throws {
        self.primary = try SocketAddress(parsing: "192.0.2.1:3478")
        self.other = try SocketAddress(parsing: "192.0.2.2:3479")
        self.client = try SocketAddress(parsing: "203.0.113.7:40000")
    }

    private func request(
        _ attributes: [STUNAttribute] = [],
        kind: STUNMessage.Class = .request,
        method: UInt16 = STUNMessage.binding,
        hasFingerprint: Bool = false
    ) throws -> [UInt8] {
        let message = STUNMessage(kind, method: method, transaction: try #require(self.id), attributes: attributes)
        return STUNPacket.encode(message, hasFingerprint: hasFingerprint)
    }

    private func reply(
        _ bytes: [UInt8],
        from source: SocketAddress? = nil,
        at place: SocketAddress? = nil,
        isAlone: Bool = false
    ) throws -> STUNServer.Reply? {
        var server = try STUNServer(primary: self.primary, other: isAlone ? nil : self.other)
        return server.reply(to: bytes, from: source ?? self.client, at: place ?? self.primary, now: .zero)
    }

    @Test func `a client learns the source address of its request`() throws {
        let reply = try #require(try self.reply(self.request()))
        let packet = try STUNPacket(reply.bytes)
        #expect(packet.message.kind == .success && packet.message.transaction == self.id && !packet.hasFingerprint)
        #expect(packet.message.mappedAddress == self.client)
        #expect(packet.message.otherAddress == self.other)
        #expect(reply.to == self.client && reply.from == self.primary)
        #expect(try STUNPacket(#require(try self.reply(self.request(hasFingerprint: true))).bytes).hasFingerprint)
        #expect(
            try STUNPacket(#require(try self.reply(self.request(), isAlone: true)).bytes).message.otherAddress == nil
        )
    }

    @Test func `a change request changes only the source of the answer`() throws {
        let server = try STUNServer(primary: self.primary, other: self.other)
        #expect(
            server.places.map(\.description) == [
                "192.0.2.1:3478", "192.0.2.1:3479", "192.0.2.2:3478", "192.0.2.2:3479",
            ]
        )
        for place in server.places {
            for change: STUNChange in [[], .port, .address, [.address, .port]] {
                let reply = try #require(try self.reply(self.request([.changeRequest(change)]), at: place))
                #expect((reply.from.ip != place.ip) == change.contains(.address))
                #expect((reply.from.port != place.port) == change.contains(.port))
                #expect(reply.to == self.client)
                let message = try STUNPacket(reply.bytes).message
                #expect(message.mappedAddress == self.client)
                let origin = message.attributes.compactMap { if case .responseOrigin(let at) = $0 { at } else { nil } }
                #expect(origin.isEmpty || origin == [reply.from])
                let opposite = try #require(message.otherAddress)
                #expect(opposite.ip != place.ip && opposite.port != place.port)
                #expect(server.places.contains(opposite))
            }
        }
    }

    @Test func `a server with one address reports that it cannot change it`() throws {
        let reply = try #require(try self.reply(self.request([.changeRequest(.port)]), isAlone: true))
        let message = try STUNPacket(reply.bytes).message
        #expect(message.kind == .failure && message.failure?.code == 420)
        #expect(message.attributes.contains(.unknownAttributes([0x0003])))
        #expect(
            try STUNPacket(#require(try self.reply(self.request([.changeRequest([])]), isAlone: true)).bytes)
                .message.kind == .success
        )
    }

    @Test func `unknown required attributes are refused by type, and optional ones are ignored`() throws {
        let optional = try self.request([.other(type: 0x8029, [1]), .software("x"), .username([1, 2])])
        #expect(try STUNPacket(#require(try self.reply(optional)).bytes).message.kind == .success)
        let odd = try self.request([.other(type: 0x0024, [0, 0, 0, 1]), .other(type: 0x0026, [])])
        let message = try STUNPacket(#require(try self.reply(odd)).bytes).message
        #expect(message.failure?.code == 420)
        #expect(message.attributes.contains(.unknownAttributes([0x0024, 0x0026])))
    }

    @Test func `an answer never goes to a port that the request names`() throws {
        let named = try self.request([.other(type: 0x0027, [0x00, 0x35, 0, 0])])
        let reply = try #require(try self.reply(named))
        #expect(reply.to == self.client)
        #expect(try STUNPacket(reply.bytes).message.kind == .success)
    }

    @Test func `only binding requests get an answer`() throws {
        #expect(try self.reply(self.request(kind: .success)) == nil)
        #expect(try self.reply(self.request(kind: .failure)) == nil)
        #expect(try self.reply(self.request(kind: .indication)) == nil)
        #expect(try self.reply(self.request(method: 3)) == nil)
        #expect(try self.reply([]) == nil)
        #expect(try self.reply(self.request(hasFingerprint: true).map { $0 ^ 1 }) == nil)
        for nowhere in ["0.0.0.0:1", "224.0.0.1:1", "255.255.255.255:1", "203.0.113.7:0"] {
            #expect(try self.reply(self.request(), from: SocketAddress(parsing: nowhere)) == nil, "\(nowhere)")
        }
    }

    @Test func `no answer is longer than three times its request`() throws {
        let wide = try SocketAddress(parsing: "[2001:db8::7]:40000")
        let places = (
            try SocketAddress(parsing: "[2001:db8::1]:3478"), try SocketAddress(parsing: "[2001:db8::2]:3479")
        )
        var server = try STUNServer(primary: places.0, other: places.1)
        var random = SplitMix64(seed: 5)
        var answered = 0
        for round in 0..<2_000 {
            let attributes: [STUNAttribute] = (0..<Int.random(in: 0...6, using: &random)).map { _ in
                switch Int.random(in: 0..<4, using: &random) {
                case 0: .other(type: UInt16.random(in: .min ... .max, using: &random), [])
                case 1: .changeRequest(STUNChange(rawValue: UInt32.random(in: 0...7, using: &random)))
                case 2: .software("x")
                default: .other(type: 0x0027, [0, 1, 0, 0])
                }
            }
            guard let bytes = try? self.request(attributes, hasFingerprint: round.isMultiple(of: 2)),  // made above
                let reply = server.reply(to: bytes, from: wide, at: places.0, now: .seconds(round))
            else { continue }
            answered += 1
            #expect(reply.bytes.count <= 3 * bytes.count, "\(attributes)")
        }
        #expect(answered > 1_000)
        // Even the shortest request gets its source address.
        let least = server.reply(to: try self.request(), from: wide, at: places.0, now: .seconds(9_999))
        #expect(try STUNPacket(#require(least).bytes).message.mappedAddress == wide)
    }

    @Test func `a forged source address gets no more than the limit of one source`() throws {
        var server = try STUNServer(primary: self.primary)
        let bindingRequest = try self.request([.software("a longer question than others")])
        var (asked, answered) = (0, 0)
        // 10 000 requests a second for 10 seconds, in the name of one machine.
        for step in 0..<100_000 {
            let now = Duration.microseconds(step * 100)
            var source = self.client
            source.port = UInt16(1_024 + step % 60_000)
            asked += bindingRequest.count
            answered += server.reply(to: bindingRequest, from: source, at: self.primary, now: now)?.bytes.count ?? 0
        }
        #expect(answered > 0 && answered <= 3 * asked)
        let most = (60 + 10 * 20) * 3 * bindingRequest.count
        #expect(answered <= most, "\(answered) bytes of at most \(most)")
    }

    @Test func `a flood from all sources is answered within the total limit and in bounded memory`() throws {
        let limits = STUNServer.Limits(
            perSource: RateLimit(perSecond: 1, atOnce: 2),
            total: RateLimit(perSecond: 100, atOnce: 200),
            sourceLimit: 64
        )
        var server = try STUNServer(primary: self.primary, limits: limits)
        let bindingRequest = try self.request()
        var answers = 0
        for step in 0..<20_000 {
            let source = SocketAddress(.v4(0x0B00_0000 + UInt32(step)), port: 5)
            let now = Duration.microseconds(step * 500)
            if server.reply(to: bindingRequest, from: source, at: self.primary, now: now) != nil { answers += 1 }
        }
        #expect((1_000...1_200).contains(answers), "\(answers) answers in 10 seconds")
        #expect(server.rememberedSources <= 64)
    }

    @Test func `a flooding source takes no answers from others`() throws {
        var server = try STUNServer(primary: self.primary)
        let bindingRequest = try self.request()
        var answers = 0
        for step in 0..<10_000 {
            let now = Duration.microseconds(step * 100)
            _ = server.reply(to: bindingRequest, from: self.client, at: self.primary, now: now)
            guard step.isMultiple(of: 1_000) else { continue }
            let honest = SocketAddress(.v4(0x0A00_0001), port: 5)
            if server.reply(to: bindingRequest, from: honest, at: self.primary, now: now) != nil { answers += 1 }
        }
        #expect(answers == 10)
    }

    @Test func `all addresses of one IPv6 subscriber are one source`() throws {
        let place = try SocketAddress(parsing: "[2001:db8::1]:3478")
        var server = try STUNServer(
            primary: place,
            limits: STUNServer.Limits(perSource: RateLimit(perSecond: 1, atOnce: 3))
        )
        let bindingRequest = try self.request()
        func answers(_ high: UInt64) -> Int {
            (0..<100).count { low in
                let source = SocketAddress(.v6(high: high, low: UInt64(low) + 1, scope: 0), port: 5)
                return server.reply(to: bindingRequest, from: source, at: place, now: .zero) != nil
            }
        }
        #expect(answers(0x2001_0DB8_0001_0000) == 3)
        #expect(answers(0x2001_0DB8_0001_0001) == 3)
    }

    @Test func `two places that cannot distinguish a NAT's filters are refused`() throws {
        func problem(_ one: String, _ two: String) throws -> STUNServer.Misplacement? {
            let (primary, other) = (try SocketAddress(parsing: one), try SocketAddress(parsing: two))
            do throws(STUNServer.Misplacement) {
                _ = try STUNServer(primary: primary, other: other)
                return nil
            } catch {
                return error
            }
        }
        #expect(try problem("192.0.2.1:1", "192.0.2.1:2") == .sameAddress)
        #expect(try problem("192.0.2.1:1", "192.0.2.2:1") == .samePort)
        #expect(try problem("192.0.2.1:1", "[2001:db8::1]:2") == .differentFamilies)
        #expect(try problem("0.0.0.0:1", "192.0.2.2:2") == .unspecified)
        #expect(try problem("192.0.2.1:1", "192.0.2.2:2") == nil)
    }

    @Test func `no bytes crash the server`() throws {
        var server = try STUNServer(primary: self.primary, other: self.other)
        let inputs = [
            try self.request([.changeRequest([.address, .port]), .software("x")], hasFingerprint: true),
            try self.request([.other(type: 1, []), .username([1])]),
        ]
        var now = Duration.zero
        neverCrash(on: inputs, rounds: 10_000) { bytes in
            now += .seconds(1)
            let reply = server.reply(to: bytes, from: self.client, at: self.primary, now: now)
            #expect((reply?.bytes.count ?? 0) <= 3 * bytes.count)
        }
    }
}
