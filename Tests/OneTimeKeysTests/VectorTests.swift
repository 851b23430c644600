internal import Bytes
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import OneTimeKeys

/// Pools, messages and an exchange that a program in Python made; it shares no code with ours.
@Suite("Vectors of one-time keys") struct VectorTests {
    private struct File: Decodable {
        let pools: [Pool]
        let exchange: Exchange
    }

    private struct Pool: Decodable {
        let suite: UInt8
        let generation: UInt32
        let seed: String
        let depth: Int
        let leaves: [String]
        let names: [String]
        let public_pool_sha256: String
        let recipient: String
        let plaintext: String
        let message: String
    }

    private struct Exchange: Decodable {
        let initiator_private: String
        let responder_private: String
        let request: String
        let offer: String
        let acknowledgement: String
        let commit: String
        let binding: String
        let key_share: String
        let pool: String
        let safety_number: String
    }

    private static func file() throws -> File { try vectors(named: "OneTimeKeys/vectors.json") }

    @Test(arguments: OneTimeKeySuite.supported)
    func `a pool and a message to it are those of another program`(suite: OneTimeKeySuite) throws {
        let vector = try #require(try Self.file().pools.first { $0.suite == suite.rawValue })
        let seed = SecretBytes(copying: try Hex.decode(vector.seed))
        let tree = PuncturableTree(depth: vector.depth, seed: seed)
        for (index, leaf) in vector.leaves.enumerated() {
            #expect(tree.secret(ofLeaf: index)?.withBytes(Hex.encode) == leaf)
        }
        var (keys, publicKeys) = try KeyStore.generate(
            suite,
            generation: vector.generation,
            capacity: 1 << vector.depth,
            seed: seed
        )
        #expect(Hex.encode(publicKeys.digest) == vector.public_pool_sha256)
        let message = try SealedMessage(Hex.decode(vector.message))
        #expect(message.keyName.description == vector.names[1])
        for (index, name) in vector.names.enumerated() {
            let name = try #require(OneTimeKeyName(digits: Array(name.utf8)))
            #expect(keys.index(of: name) == index)
        }
        let recipient = try PeerId(rawRepresentation: Hex.decode(vector.recipient))
        #expect(try Hex.encode(keys.open(message, for: recipient)) == vector.plaintext)
        publicKeys.skip(to: 1)
        #expect(try publicKeys.takeKey().seal([], to: recipient).keyName == message.keyName)
    }

    @Test func `both sides accept the messages of another program's exchange`() throws {
        let vector = try Self.file().exchange
        let keys = try [vector.initiator_private, vector.responder_private]
            .map { Ed25519KeyPair(privateKey: try Ed25519PrivateKey(SecretBytes(copying: Hex.decode($0)))) }
        let peers = keys.map { PeerId(publicKey: $0.publicKey) }
        let request = try KeyExchangeMessage(Hex.decode(vector.request))
        #expect(Hex.encode(request.bytes) == vector.request)
        var transcript = Transcript(request: request, initiator: peers[0], responder: peers[1])
        guard case .offer(let offer) = try KeyExchangeMessage(Hex.decode(vector.offer)).body,
            case .acknowledgement(let acknowledgement) = try KeyExchangeMessage(Hex.decode(vector.acknowledgement)).body,
            case .commit(let commit) = try KeyExchangeMessage(Hex.decode(vector.commit)).body,
            case .keyShare(let share) = try KeyExchangeMessage(Hex.decode(vector.key_share)).body
        else {
            Issue.record("a message is of another kind")
            return
        }
        transcript.add(offer.unsignedBytes)
        #expect(keys[1].publicKey.isValidSignature(offer.signature.bytes, for: transcript.signedBytes(.offer)))
        transcript.add(acknowledgement.nonce)
        let acknowledged = transcript.signedBytes(.acknowledgement)
        #expect(keys[0].publicKey.isValidSignature(acknowledgement.signature.bytes, for: acknowledged))
        #expect(keys[1].publicKey.isValidSignature(commit.bytes, for: transcript.signedBytes(.commit)))
        #expect(Hex.encode(transcript.hash) == vector.binding)
        let binding = ExchangeBinding(bytes: transcript.hash)
        let signed = binding.signedBytes(of: share.signedBytes, by: peers[1])
        #expect(keys[1].publicKey.isValidSignature(share.signature.bytes, for: signed))
        let pool = try PublicKeyStore(Hex.decode(vector.pool))
        #expect(pool.digest == share.digest.bytes && pool.generation == share.generation)
        #expect(binding.safetyNumber(peers[0], peers[1]).digits == vector.safety_number)
    }
}
