internal import Bytes
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import NodeCore

@Suite("Frames") struct FrameTests {
    /// One frame of each kind.
    private func samples() throws -> [Frame] {
        let net = CoreNetwork()
        let peer = PeerId(publicKey: generatePeerKey().publicKey)
        let token = try net.token(for: peer)
        let verdicts = [Frame.Verdict(index: 0, refusal: nil), Frame.Verdict(index: 2, refusal: .tokenExpired)]
        let offers = [Frame.Offer(index: 4, token: token), Frame.Offer(index: 6, token: token)]
        var metadata = NetworkMetadata(networkId: net.network(), name: "home", adminPublicKey: net.owner.publicKey)
        try metadata.sign(with: net.networkKey())
        return [
            .hello(Frame.Hello(instance: try .filled(7), tokens: offers)),
            .hello(Frame.Hello(instance: try .filled(7), tokens: [])),
            .helloReply(Frame.HelloReply(instance: try .filled(8), proofs: offers, refusals: verdicts)),
            .helloAcknowledgement(verdicts),
            .join(proof: Array(0..<32)),
            .joinGrant(token, metadata: try metadata.binary()),
            .joinRefusal(.invitationUsed),
            .admissionEnd(index: 3, .leftNetwork),
            .revocation(try net.revocation(of: peer)),
            .revocationDigest(index: 1, count: 70_000, digest: Array(0..<32)),
            .revocationsKnown(index: 1, fingerprints: [1, .max, 0]),
            .revocations(index: 1, [try net.revocation(of: peer), try net.revocation(of: peer, network: 1)]),
            .memberSecret(index: 1, try net.secret(1_700_000_000)),
            .memberSecretKnown(index: 2, SecretStamp(epoch: .max, mark: 1)),
            .renewalRequest(index: 3, token),
            .renewalGrant(index: 4, token),
            .dht(index: 5, Array(0..<100)),
            .events(index: 6, Array(0..<100)[...]),
            .events(index: 7, []),
        ]
    }

    @Test func `every kind of frame comes back as it went`() throws {
        for frame in try self.samples() { #expect(try Frame(frame.bytes) == frame) }
    }

    @Test func `behind its length every frame is the same`() throws {
        for frame in try self.samples() {
            var writer = ByteWriter()
            writer.writeVarintPrefixed(frame.bytes)
            #expect(frame.prefixedBytes == writer.bytes)
        }
    }

    @Test func `a frame that is too short or too long is refused`() throws {
        for frame in try self.samples() {
            let bytes = frame.bytes
            // The content of these is as long as the frame.
            if case .dht = frame { continue }
            if case .events = frame { continue }
            #expect(throws: FrameError.self) { try Frame(bytes + [0]) }
            if case .revocationsKnown = frame { continue }
            #expect(throws: FrameError.self) { try Frame(Array(bytes.dropLast())) }
        }
    }

    @Test func `damaged frames never crash`() throws {
        let inputs = try self.samples().map(\.bytes)
        neverCrash(on: inputs, rounds: 20_000) { _ = try Frame($0) }
    }

    // Takes seconds of processor time: each round is a new connection with two handshakes of signatures.
    @Test func `a core survives damaged frames of admitted and unadmitted peers`() throws {
        let inputs = try self.samples().map(\.bytes)
        var net = CoreNetwork()
        try net.addMember()
        let nonMember = try net.addNode()
        try net.addMember()
        neverCrash(on: inputs, rounds: 300) { bytes in
            net.bareLink(nonMember, 0)
            net.forge(bytes, from: nonMember, on: net.lastLink)
            net.connect(2, 0)
            if let id = net.nodes[2].links.keys.first { net.forge(bytes, from: 2, on: id) }
            net.deliver()
            net.advance(by: .seconds(6))
            net.nodes[0].effects = []
            net.nodes[2].effects = []
        }
    }

    @Test func `another version is refused naming both`() throws {
        var bytes = try Frame.showing([]).bytes
        bytes[1] = 1
        #expect(throws: FrameError.unsupportedVersion(found: 1, supported: 2)) { try Frame(bytes) }
    }

    @Test func `an unknown code says no more than not admitted`() throws {
        let frame = Frame.admissionEnd(index: 0, .shutdown)
        let bytes = Array(frame.bytes.dropLast(2)) + [0xFF, 0xFE]
        #expect(try Frame(bytes) == .admissionEnd(index: 0, .notAdmitted))
    }

    @Test func `headers come back as they went and unknown kinds are refused`() {
        for kind in [StreamHeader.Kind.hello, .message, .bulk, .request] {
            let header = StreamHeader(kind: kind, networkIndex: 200)
            #expect(StreamHeader(header.bytes) == header)
        }
        #expect(StreamHeader([4, 0]) == nil)
        #expect(StreamHeader([1]) == nil)
    }

    @Test func `an unadmitted peer gets one reason whatever is wrong`() {
        let problems: [TokenProblem] = [
            .malformed, .unknownNetwork, .expired(at: 1), .revoked, .wrongPeer, .wrongNetwork, .badSignature,
        ]
        for problem in problems {
            #expect(CloseCode(telling: problem, toGenuineHolder: false) == .notAdmitted)
        }
        #expect(CloseCode(telling: .badSignature, toGenuineHolder: true) == .notAdmitted)
    }

    @Test func `every code has words`() {
        for code in CloseCode.allCases { #expect(!code.explanation.isEmpty && code.explanation.utf8.count <= 256) }
    }
}
