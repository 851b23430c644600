internal import Bytes
internal import Identity
internal import NanoTDF
internal import OneTimeKeys
internal import TestSupport
internal import Testing

@testable internal import Circle

@Suite("Letters between devices") struct LetterTests {
    private let sender = generatePeerKey()
    private let recipient = PeerId(publicKey: generatePeerKey().publicKey)
    private let content = [UInt8](repeating: 42, count: 1_000)

    private func letter() throws -> (letter: Letter, copy: [UInt8]) {
        let sealed = try SealedContent(content)
        let (copy, keys) = try sealed.copy()
        let letter = try Letter(
            .thought,
            content: (keys, sealed.digest),
            sentMilliseconds: 1_800_000_000_000,
            to: recipient,
            signedBy: sender.privateKey
        )
        return (letter, copy)
    }

    @Test func `a letter comes back as it was written, and opens its content`() throws {
        let (letter, copy) = try letter()
        let read = try Letter(letter.bytes, to: recipient, from: sender.publicKey)
        #expect(read == letter && read.kind == .thought && read.sender == PeerId(publicKey: sender.publicKey))
        let (keys, digest) = try #require(read.content)
        #expect(try SealedContent.open(copy, with: keys, digest: digest) == content)
    }

    @Test func `a letter is for one recipient and from one sender`() throws {
        let (letter, _) = try letter()
        let other = generatePeerKey()
        #expect(throws: CircleError.invalidSignature) {
            try Letter(letter.bytes, to: PeerId(publicKey: other.publicKey), from: sender.publicKey)
        }
        #expect(throws: CircleError.invalidSignature) {
            try Letter(letter.bytes, to: recipient, from: other.publicKey)
        }
    }

    @Test func `each changed byte of a letter or a copy is noticed`() throws {
        let (letter, copy) = try letter()
        let (keys, digest) = try #require(letter.content)
        for place in letter.bytes.indices {
            var bytes = letter.bytes
            bytes[place] ^= 1
            #expect(throws: CircleError.self) { try Letter(bytes, to: recipient, from: sender.publicKey) }
        }
        for place in stride(from: 0, to: copy.count, by: 37) {
            var bytes = copy
            bytes[place] ^= 1
            #expect(throws: CircleError.self) { try SealedContent.open(bytes, with: keys, digest: digest) }
        }
        #expect(throws: CircleError.self) { try SealedContent.open([], with: keys, digest: digest) }
    }

    @Test func `copies of one content have no bytes in common`() throws {
        let sealed = try SealedContent(content)
        let (one, other) = (try sealed.copy().bytes, try sealed.copy().bytes)
        // Two tags.
        #expect(one.count == other.count && one.count == content.count + 32)
        #expect(zip(one, other).count { $0 == $1 } < one.count / 32)
    }

    @Test func `an envelope shows neither its recipient nor its letter`() throws {
        let (letter, copy) = try letter()
        let keys = SealingKeyPair(SecretBytes(copying: [UInt8](repeating: 3, count: 32)))
        let envelope = Envelope(letter: recipient.bytes + letter.bytes, copy: copy)
        let sealed = try #require(envelope.seal(to: keys.publicKey, of: recipient))
        for part in [recipient.bytes, Array(letter.bytes.prefix(16)), Array(copy.prefix(16))] {
            #expect(!sealed.indices.contains { sealed[$0...].starts(with: part) })
        }
        #expect(try Envelope(sealed, with: keys, of: recipient) == envelope)
        #expect(throws: CircleError.self) { try Envelope(sealed, with: keys, of: letter.sender) }
        for place in stride(from: 0, to: sealed.count, by: 29) {
            var bytes = sealed
            bytes[place] ^= 1
            #expect(throws: CircleError.self) { try Envelope(bytes, with: keys, of: recipient) }
        }
    }

    @Test func `a receipt is as long as a short thought, and longer ones have few lengths`() {
        #expect(Set((1...1_024).map(Envelope.paddedByteCount)) == [1_024])
        let counts = (1...200_000).map(Envelope.paddedByteCount)
        #expect(zip(1..., counts).allSatisfy { $0 <= $1 && ($1 == 1_024 || $1 * 100 <= $0 * 112) })
        #expect(Set(counts).count < 200)
    }

    @Test func `receipts come back as they were written`() throws {
        let thoughts = [PublicID(hash: [1]), PublicID(hash: [2])]
        let receipt = try Receipt(.opened, of: thoughts)
        #expect(try Receipt(receipt.bytes) == receipt)
        let long = try Receipt(.delivered, of: (0...Receipt.thoughtLimit).map { _ in thoughts[0] })
        #expect(throws: CircleError.self) { try Receipt(long.bytes) }
    }

    @Test func `no letter and no receipt makes a decoder crash`() throws {
        let (letter, _) = try letter()
        neverCrash(on: [letter.bytes]) { bytes in _ = try Letter(bytes, to: recipient, from: sender.publicKey) }
        let receipt = try Receipt(.opened, of: [PublicID(hash: [1])])
        neverCrash(on: [receipt.bytes]) { bytes in _ = try Receipt(bytes) }
    }
}

@Suite("Routes of binary frames") struct ArkavoMessageRouterTests {
    private let device = PeerId(publicKey: generatePeerKey().publicKey)
    private let friend = PeerId(publicKey: generatePeerKey().publicKey)
    private let other = PeerId(publicKey: generatePeerKey().publicKey)

    @Test(arguments: OneTimeKeySuite.allCases.filter(\.isSupported))
    func `a message to a one-time key goes to the conversation with its peer`(suite: OneTimeKeySuite) throws {
        var (pool, keys) = try KeyStore.generate(suite, generation: 1, capacity: 4)
        let message = try keys.takeKey().seal([1, 2, 3], to: device)
        let router = ArkavoMessageRouter(of: device) { [pool, friend] in pool.contains($0) ? friend : nil }
        for source in [.connection(friend), .webSocket] as [ArkavoMessageRouter.Source] {
            guard case .conversation(friend, let found) = router.route(message.bytes, from: source) else {
                Issue.record("\(suite) \(source)")
                continue
            }
            #expect(found.bytes == message.bytes)
        }
        #expect(try pool.open(message, for: device) == [1, 2, 3])
        guard case .malformed = router.route(message.bytes, from: .connection(other)) else {
            Issue.record("a key of another peer is accepted")
            return
        }
        let empty = ArkavoMessageRouter(of: device) { _ in nil }
        guard case .unknownKey = empty.route(message.bytes, from: .webSocket) else {
            Issue.record("an unknown key is routed")
            return
        }
    }

    @Test func `a NanoTDF for a key access service, and any other frame, are recognised`() throws {
        let router = ArkavoMessageRouter(of: device) { _ in nil }
        let key = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        let locator = try ResourceLocator(.https, body: "kas.example")
        let file = try NanoTDFSealer(to: key.publicKey, keyAccess: locator, policy: .plain([1])).seal([7])
        #expect(file.bytes.starts(with: ArkavoMessageRouter.nanoTDFMagic))
        guard case .service = router.route(file.bytes, from: .webSocket) else {
            Issue.record("a NanoTDF is not recognised")
            return
        }
        guard case .malformed = router.route(Array(file.bytes.prefix(20)), from: .webSocket) else {
            Issue.record("a damaged NanoTDF is accepted")
            return
        }
        guard case .other([1, 2, 3]) = router.route([1, 2, 3], from: .webSocket),
            case .other([]) = router.route([], from: .webSocket)
        else {
            Issue.record("another frame is not handed on")
            return
        }
    }

    @Test func `no frame makes the router crash`() throws {
        var (pool, keys) = try KeyStore.generate(.p256, generation: 1, capacity: 4)
        let message = try keys.takeKey().seal([1, 2, 3], to: device)
        let router = ArkavoMessageRouter(of: device) { [pool, friend] in pool.contains($0) ? friend : nil }
        neverCrash(on: [message.bytes]) { bytes in _ = router.route(bytes, from: .webSocket) }
    }
}
