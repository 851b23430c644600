internal import Bytes
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import NodeCore

@Suite("Vectors of admission") struct VectorTests {
    private struct Vectors: Decodable {
        struct Sample: Decodable {
            let name: String
            let wire: String
        }

        struct Refused: Decodable {
            let name: String
            let frame: String
        }

        let frames: [Sample]
        let refused: [Refused]
        let codes: [String: UInt64]
    }

    private let vectors: Vectors

    init() throws {
        self.vectors = try TestSupport.vectors(named: "NodeCore/admission.json")
    }

    @Test func `each frame is read and written byte by byte`() throws {
        #expect(self.vectors.frames.count >= 20)
        for sample in self.vectors.frames {
            let wire = try Hex.decode(sample.wire)
            var reader = ByteReader(wire)
            let bytes = try reader.readVarintPrefixedBytes(limit: Frame.byteLimit)
            try reader.finish()
            let frame = try Frame(bytes)
            var writer = ByteWriter()
            writer.writeVarintPrefixed(frame.bytes)
            #expect(writer.bytes == wire, "\(sample.name)")
        }
    }

    @Test func `the tokens and revocations in them are genuine`() throws {
        for sample in self.vectors.frames {
            var reader = ByteReader(try Hex.decode(sample.wire))
            switch try Frame(try reader.readVarintPrefixedBytes(limit: Frame.byteLimit)) {
            case .hello(let hello): #expect(hello.tokens.allSatisfy { $0.token.verifySignature() })
            case .helloReply(let reply): #expect(reply.proofs.allSatisfy { $0.token.verifySignature() })
            case .joinGrant(let token, let metadata):
                #expect(token.verifySignature())
                #expect(try NetworkMetadata(binary: metadata).verify())
            case .memberSecret(_, let secret): #expect(secret.verify())
            case .renewalRequest(_, let token), .renewalGrant(_, let token): #expect(token.verifySignature())
            case .revocation(let entry): #expect(entry.verify())
            case .revocations(_, let entries): #expect(entries.allSatisfy { $0.verify() })
            case .helloAcknowledgement, .join, .joinRefusal, .admissionEnd, .revocationDigest, .revocationsKnown,
                .memberSecretKnown, .dht, .events, .reach, .services, .mailbox:
                // These hold no signature of an owner.
                break
            }
        }
    }

    @Test func `what is malformed is refused`() throws {
        for sample in self.vectors.refused {
            let bytes = try Hex.decode(sample.frame)
            #expect(throws: FrameError.self, "\(sample.name)") { try Frame(bytes) }
        }
    }

    @Test func `the codes are those of the document`() throws {
        let text = try packageText(named: "docs/spec/admission.md")
        #expect(self.vectors.codes.count == CloseCode.allCases.count)
        for code in CloseCode.allCases {
            #expect(self.vectors.codes["\(code)"] == code.rawValue)
            let row = "| 0x\(String(code.rawValue, radix: 16, uppercase: true)) | \(code) |"
            #expect(text.contains(row), "\(row)")
        }
    }
}
