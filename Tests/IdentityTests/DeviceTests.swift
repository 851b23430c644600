internal import Bytes
internal import Identity
internal import TestSupport
internal import Testing

/// Requests, network keys and answers, against those that another implementation made.
@Suite("Devices") struct DeviceTests {
    private struct Vectors: Decodable {
        let device: String
        let wrapping_public: String
        let certificate_request: String
        let request: String
        let request_code: String
        let request_link: String
        let network: String
        let network_key_message: String
        let sender: String
        let authority: String
        let address: String
        let token: String
        let rendezvous: String
        let metadata: String
        let certificate_message: String
        let answer: String
        let answer_code: String
    }

    private let vectors: Vectors
    private let device: Ed25519PrivateKey
    private let network: Ed25519PrivateKey
    private let authority: Ed25519PrivateKey
    private let request: DeviceRequest
    private let answer: DeviceAnswer

    init() throws {
        vectors = try TestSupport.vectors(named: "Identity/devices.json")
        device = try Ed25519PrivateKey(rawRepresentation: Hex.decode(vectors.device))
        network = try Ed25519PrivateKey(rawRepresentation: Hex.decode(vectors.network))
        authority = try Ed25519PrivateKey(rawRepresentation: Hex.decode(vectors.authority))
        request = try DeviceRequest(binary: Hex.decode(vectors.request))
        answer = try DeviceAnswer(binary: Hex.decode(vectors.answer))
    }

    private func problem(_ error: IdentityError?) -> String {
        guard case .malformed(_, let reason)? = error else { return error.map { "\($0)" } ?? "none" }
        return reason
    }

    @Test func `the wrapping key equals that of another implementation`() throws {
        let pair = KeyDerivation.deriveWrappingKey(peerKey: device)
        #expect(Hex.encode(pair.publicKey.bytes) == vectors.wrapping_public)
        #expect(pair.publicKey.bytes != device.publicKey.bytes)
        #expect(!"\(pair)".contains(Hex.encode(device.rawRepresentation)))
    }

    @Test func `a request of another implementation is read, and ours is equal`() throws {
        let pkcs10 = try Hex.decode(vectors.certificate_request)
        #expect(request.peerId == PeerId(publicKey: device.publicKey))
        #expect(Hex.encode(request.wrappingKey.bytes) == vectors.wrapping_public)
        #expect(request.certificateRequest == pkcs10)
        #expect(request.code == vectors.request_code)
        #expect(request.link == vectors.request_link)
        #expect(Hex.encode(request.binary) == vectors.request)
        let ours = try DeviceRequest(for: device, certificateRequest: pkcs10)
        #expect(ours.binary.dropLast(64) == request.binary.dropLast(64))
        #expect(try DeviceRequest(binary: ours.binary) == ours)
        for text in [request.link, request.qrString, "  \(request.link)\n"] {
            #expect(try DeviceRequest(text: text) == request)
        }
        #expect(DeviceRequest.isText("see \(request.qrString)") && !DeviceRequest.isText("runar://join/x"))
    }

    @Test func `a request in which any bit is changed is refused`() throws {
        let binary = request.binary
        for index in binary.indices {
            var changed = binary
            changed[index] ^= 1
            #expect(throws: IdentityError.self, "byte \(index)") { try DeviceRequest(binary: changed) }
        }
    }

    @Test func `a wrapping key of small order is refused under a valid signature`() throws {
        var fields = Array(request.binary.dropFirst().dropLast(64))
        fields.replaceSubrange(32..<64, with: [UInt8](repeating: 0, count: 32))
        let label = Array("runar/device-request/v1".utf8)
        let signature = try device.sign([UInt8(label.count)] + label + fields)
        #expect(throws: IdentityError.invalidPublicKey(reason: "it is a point of small order")) {
            try DeviceRequest(binary: [1] + fields + signature)
        }
    }

    @Test func `a certificate request that no link holds is refused`() throws {
        #expect(throws: IdentityError.self) {
            try DeviceRequest(for: device, certificateRequest: [UInt8](repeating: 0, count: 351))
        }
        let longest = try DeviceRequest(for: device, certificateRequest: [UInt8](repeating: 0, count: 350))
        #expect(try DeviceRequest(text: longest.link) == longest)
    }

    @Test func `a network key opens on the device that it is sealed to, and is the network's`() throws {
        let message = try NetworkKeyMessage(binary: Hex.decode(vectors.network_key_message))
        #expect(message.networkId == NetworkId(publicKey: network.publicKey))
        #expect(try message.open(with: device) == network)
        let ours = try NetworkKeyMessage(sealing: network, to: request)
        #expect(ours.binary.count == NetworkKeyMessage.byteCount)
        #expect(try NetworkKeyMessage(binary: ours.binary).open(with: device) == network)
        #expect(try NetworkKeyMessage(sealing: network, to: request) != ours, "sealing twice gives the same bytes")
        #expect(ours.binary.firstRange(of: Array(network.rawRepresentation)) == nil)
    }

    @Test func `a network key opens on no other device and for no other network`() throws {
        let message = try NetworkKeyMessage(sealing: network, to: request)
        let other = Ed25519PrivateKey()
        #expect(throws: IdentityError.self) { try message.open(with: other) }
        var forOther = message.binary
        forOther.replaceSubrange(33..<65, with: PeerId(publicKey: other.publicKey).bytes)
        #expect(throws: IdentityError.self) { try NetworkKeyMessage(binary: forOther).open(with: other) }
        var ofOther = message.binary
        ofOther.replaceSubrange(1..<33, with: other.publicKey.bytes)
        #expect(throws: IdentityError.self) { try NetworkKeyMessage(binary: ofOther).open(with: device) }
        for index in 65..<message.binary.count {
            var changed = message.binary
            changed[index] ^= 1
            #expect(throws: IdentityError.self) { try NetworkKeyMessage(binary: changed).open(with: device) }
        }
    }

    @Test func `an answer of another implementation is read`() throws {
        #expect(Hex.encode(answer.sender.bytes) == vectors.sender)
        #expect(answer.authority == authority.publicKey)
        #expect(answer.addresses.map(\.description) == [vectors.address])
        #expect(Hex.encode(answer.certificateMessage) == vectors.certificate_message)
        let membership = try #require(answer.memberships.first)
        #expect(answer.memberships.count == 1)
        #expect(Hex.encode(membership.token.binary) == vectors.token)
        #expect(membership.token.rendezvous.map { Hex.encode($0.bytes) } == vectors.rendezvous)
        #expect(try Hex.encode(membership.metadata.binary()) == vectors.metadata)
        #expect(try membership.networkKey?.open(with: device) == network)
        #expect(try answer.code == vectors.answer_code)
        #expect(try Hex.encode(answer.binary) == vectors.answer)
        try answer.check(for: request, at: 0)
        let text = try answer.text
        let broken = text.enumerated().map { $0.offset % 70 == 69 ? "\($0.element)\n" : "\($0.element)" }.joined()
        #expect(try DeviceAnswer(text: broken) == answer)
    }

    @Test func `an answer counts for the request that it answers and for no other`() throws {
        let again = try DeviceRequest(for: device, certificateRequest: [1])
        let other = try DeviceRequest(for: Ed25519PrivateKey(), certificateRequest: [])
        for request in [again, other] {
            let error = #expect(throws: IdentityError.self) { try answer.check(for: request, at: 0) }
            #expect(problem(error) == "it answers another request, or was changed")
        }
    }

    @Test func `an answer in which any bit is changed is refused`() throws {
        let binary = try answer.binary
        for index in binary.indices {
            var changed = binary
            changed[index] ^= 1
            #expect(throws: IdentityError.self, "byte \(index)") {
                try DeviceAnswer(binary: changed).check(for: request, at: 0)
            }
        }
    }

    private func answer(_ memberships: [DeviceAnswer.Membership]) throws -> DeviceAnswer {
        try DeviceAnswer(
            to: request,
            from: PeerId(publicKey: network.publicKey),
            at: [],
            certificateMessage: [],
            memberships: memberships,
            signedBy: authority
        )
    }

    @Test func `tokens and keys of others, and expired ones, are refused in an answer`() throws {
        let membership = try #require(answer.memberships.first)
        let id = NetworkId(publicKey: network.publicKey)
        let other = Ed25519PrivateKey()
        func token(for key: Ed25519PrivateKey, until end: UInt64?) throws -> AccessToken {
            try AccessToken.create(
                peerId: PeerId(publicKey: key.publicKey),
                networkId: id,
                signer: network,
                expirationSeconds: end
            )
        }
        var foreign = NetworkMetadata(
            networkId: NetworkId(publicKey: other.publicKey),
            name: "Other",
            adminPublicKey: other.publicKey
        )
        try foreign.sign(with: other)
        let otherRequest = try DeviceRequest(for: other, certificateRequest: [])
        let cases: [(DeviceAnswer.Membership, String)] = [
            (
                .init(token: try token(for: other, until: nil), metadata: membership.metadata, networkKey: nil),
                "a token"
            ),
            (
                .init(token: try token(for: device, until: 10), metadata: membership.metadata, networkKey: nil),
                "a token"
            ),
            (.init(token: membership.token, metadata: foreign, networkKey: nil), "a network's text"),
            (
                .init(
                    token: membership.token,
                    metadata: membership.metadata,
                    networkKey: try NetworkKeyMessage(sealing: other, to: request)
                ), "a network key"
            ),
            (
                .init(
                    token: membership.token,
                    metadata: membership.metadata,
                    networkKey: try NetworkKeyMessage(sealing: network, to: otherRequest)
                ), "a network key"
            ),
        ]
        for (wrong, beginning) in cases {
            let error = #expect(throws: IdentityError.self) { try answer([wrong]).check(for: request, at: 1_000) }
            #expect(problem(error).hasPrefix(beginning), "\(problem(error))")
        }
    }

    @Test func `eight networks with keys fit an answer, nine do not`() throws {
        let membership = try #require(answer.memberships.first)
        let full = try answer([DeviceAnswer.Membership](repeating: membership, count: 8))
        #expect(try DeviceAnswer(text: full.text) == full)
        #expect(throws: IdentityError.self) {
            try answer([DeviceAnswer.Membership](repeating: membership, count: 9))
        }
    }

    @Test func `requests and answers are recognised and explained`() throws {
        let asked = try Artefact.parse(request.link).explanation(at: 1_000)
        #expect(asked.kind == "device-request" && asked.isValid)
        #expect(asked.fields.contains { $0.name == "code" && $0.value == .string(vectors.request_code) })
        let answered = try Artefact.parse(answer.text).explanation(at: 1_000)
        #expect(answered.kind == "device-answer" && answered.isValid)
        #expect(answered.fields.contains { $0.name == "code" && $0.value == .string(vectors.answer_code) })
    }

    @Test func `damaged requests, keys and answers never crash`() throws {
        neverCrash(on: [request.binary]) { _ = try DeviceRequest(binary: $0) }
        neverCrash(on: [try Hex.decode(vectors.network_key_message)]) { bytes in
            _ = try NetworkKeyMessage(binary: bytes).open(with: device)
        }
        neverCrash(on: [try answer.binary]) { try DeviceAnswer(binary: $0).check(for: request, at: 0) }
        neverCrash(onTexts: [try answer.text, request.link]) { _ = try Artefact.parse($0).explanation(at: 0) }
    }
}
