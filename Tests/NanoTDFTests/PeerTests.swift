import Bytes
import Foundation
import NanoTDF
import TestSupport
import Testing

@Suite("NanoTDF with otdf-python", .enabled(if: NanoTDFPeer.missing.isEmpty, "otdf-python is not installed"))
struct PeerTests {
    /// The scalar in the PEM form that both read.
    private func keys(on curve: EllipticCurve) throws -> [Samples.Made] {
        try Samples.made().filter { $0.curve == curve.rawValue }
    }

    @Test func `otdf-python reads our files on every curve with every cipher`() throws {
        var requests: [NanoTDFPeer.Request] = []
        var expected: [String] = []
        let identifiers = [[], [UInt8]("e1".utf8), [UInt8]("e1-of-us".utf8), [UInt8](repeating: 0x61, count: 32)]
        for curve in Samples.curves {
            let recipient = try #require(keys(on: curve).first)
            let publicKey = try recipient.key().publicKey
            for cipher in SymmetricCipher.allCases {
                for identifier in identifiers {
                    let plaintext = [UInt8]("\(curve), \(cipher), \(identifier.count)".utf8)
                    let sealer = try NanoTDFSealer(
                        to: publicKey,
                        keyAccess: Samples.locator(identifier: identifier),
                        policy: .plain([UInt8](#"{"uuid":"1","body":{"dataAttributes":[],"dissem":[]}}"#.utf8)),
                        cipher: cipher,
                        binding: .hash
                    )
                    let file = try sealer.seal(plaintext)
                    requests.append(.init(key: recipient.recipient_pem, nanotdf: Hex.encode(file.bytes)))
                    expected.append(Hex.encode(plaintext))
                }
            }
        }
        let answers = try NanoTDFPeer.perform(requests)
        #expect(answers.map { $0.plaintext ?? $0.error } == expected)
        #expect(answers.count == 72)
    }

    @Test func `files of otdf-python open on every curve`() throws {
        let counts = [0, 1, 15, 16, 17, 1_000, 70_000]
        var requests: [NanoTDFPeer.Request] = []
        var keys: [(key: NanoTDFPrivateKey, count: Int)] = []
        for curve in Samples.curves {
            let recipient = try #require(self.keys(on: curve).last).key()
            for count in counts {
                let plaintext = Hex.encode([UInt8](repeating: UInt8(count & 0xFF), count: count))
                let publicKey = try #require(recipient.publicKey.pemRepresentation)
                requests.append(.init(curve: "\(curve)", public: publicKey, plaintext: plaintext))
                keys.append((recipient, count))
            }
        }
        for ((key, count), answer) in zip(keys, try NanoTDFPeer.perform(requests)) {
            let file = try NanoTDF(Hex.decode(#require(answer.nanotdf, "\(answer.error ?? "")")))
            let opened = try NanoTDFOpener.open(file, with: key)
            #expect(opened.plaintext == [UInt8](repeating: UInt8(count & 0xFF), count: count))
            #expect(opened.dialect == .sdk)
            #expect(opened.binding == .hash)
            #expect(file.header.keyAccess.url == "https://kas.example.com")
            #expect(file.header.keyAccess.trimmedIdentifier == [UInt8]("e1".utf8))
        }
    }

    @Test func `otdf-python refuses a file that was changed`() throws {
        let recipient = try #require(keys(on: .secp256r1).first)
        var bytes = try Samples.sealed(to: recipient.key().publicKey, binding: .hash).bytes
        bytes[bytes.count - 1] ^= 1
        let answers = try NanoTDFPeer.perform([.init(key: recipient.recipient_pem, nanotdf: Hex.encode(bytes))])
        #expect(answers[0].plaintext == nil)
        #expect(answers[0].error != nil)
    }
}
