internal import Bytes
internal import Crypto
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import Traversal

/// The vectors were written by a program that shares no code with this one.
@Suite("Vectors of traversal") struct ReachVectorTests {
    private struct Vectors: Decodable {
        struct Named: Decodable {
            let name: String
            let bytes: String
        }

        struct Probe: Decodable {
            let sender: Int
            let source: String
            let transaction: String
            let request: String
            let answer: String
        }

        let call: String
        let key: String
        let target: String
        let caller: String
        let channel: String
        let addresses: [String]
        let messages: [Named]
        let malformed: [Named]
        let probes: [Probe]
    }

    private let vectors: Vectors
    private let call: PathKey

    init() throws {
        self.vectors = try TestSupport.vectors(named: "Traversal/reach.json")
        self.call = try #require(PathKey(Hex.decode(self.vectors.call + self.vectors.key)))
    }

    @Test func `messages say what they say elsewhere`() throws {
        let target = try PeerId(rawRepresentation: Hex.decode(self.vectors.target))
        let caller = try PeerId(rawRepresentation: Hex.decode(self.vectors.caller))
        let channel = ChannelId(try Hex.decode(self.vectors.channel).reduce(0) { $0 << 8 | UInt64($1) })
        let addresses = try self.vectors.addresses.map { try SocketAddress(parsing: $0) }
        let (id, key) = (self.call.id, self.call.key)
        func offer(_ mapping: MappingBehaviour, _ count: Int = 3) -> Reach.Offer {
            Reach.Offer(mapping: mapping, addresses: Array(addresses.prefix(count)))
        }
        func introduction(_ index: Int) -> Reach.Introduction {
            Reach.Introduction(observed: addresses[index], channel: channel)
        }
        let expected: [Reach.Message] = [
            .observed(addresses[1]), .observed(addresses[0]),
            .offer(id, target: target, key, offer(.endpointIndependent)),
            .offer(id, target: target, key, offer(.unknown, 0)),
            .forwardedOffer(id, from: caller, key, offer(.endpointDependent), introduction(1)),
            .forwardedOffer(id, from: caller, key, offer(.unknown, 1), Reach.Introduction(observed: nil, channel: nil)),
            .answer(id, offer(.endpointIndependent)), .decline(id, .busy),
            .forwardedAnswer(id, offer(.endpointIndependent), introduction(0)), .failed(id, .notConnected), .cancel(id),
        ]
        #expect(self.vectors.messages.count == expected.count)
        for (sample, message) in zip(self.vectors.messages, expected) {
            #expect(try Reach.Message(Hex.decode(sample.bytes)) == message, "\(sample.name)")
            #expect(Hex.encode(message.bytes) == sample.bytes, "\(sample.name)")
        }
    }

    @Test func `what is malformed elsewhere is refused here`() throws {
        for sample in self.vectors.malformed {
            #expect(throws: ReachMessageError.self, "\(sample.name)") { try Reach.Message(Hex.decode(sample.bytes)) }
        }
    }

    @Test func `probes are sealed in the same way, and answered in the same way`() throws {
        for probe in self.vectors.probes {
            let message = STUNMessage(
                .request,
                transaction: try #require(STUNTransactionId(Hex.decode(probe.transaction))),
                attributes: [.username(ProbeName(self.call.id, isFirst: probe.sender == 0).bytes)]
            )
            let request = STUNPacket.encode(message, key: SymmetricKey(data: self.call.key.bytes))
            #expect(Hex.encode(request) == probe.request)

            // A node with a connection of this key answers; the sender is the other side of it.
            var solo = try Solo()
            let source = try SocketAddress(parsing: probe.source)
            let link = Reach.Link(isDialler: probe.sender == 1, remote: source, pathKey: self.call)
            solo.feed(.connected(try solo.peer(), solo.network, link))
            solo.feed(.datagramReceived(request, from: source, port: nil))
            let answers = solo.effects.compactMap { effect -> String? in
                if case .host(.sendDatagram(let bytes, source, nil)) = effect { Hex.encode(bytes) } else { nil }
            }
            #expect(answers == [probe.answer])
        }
    }
}
