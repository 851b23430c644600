import Bytes
import Foundation
import NanoTDF
import TestSupport
import Testing

@Suite("Keys of NanoTDF") struct KeyTests {
    @Test(arguments: Samples.curves)
    func `a public key survives both of its forms`(curve: EllipticCurve) throws {
        let key = try NanoTDFPrivateKey(generatedOn: curve)
        #expect(key.publicKey.compressedRepresentation.count == curve.publicKeyByteCount)
        #expect(NanoTDFPublicKey(compressed: key.publicKey.compressedRepresentation, on: curve) == key.publicKey)
        let pem = try #require(key.publicKey.pemRepresentation)
        #expect(try NanoTDFPublicKey(pemRepresentation: pem) == key.publicKey)
        #expect(try NanoTDFPublicKey(pemRepresentation: pem.replacing("\n", with: "\r\n")) == key.publicKey)
    }

    @Test(arguments: Samples.curves)
    func `a private key survives as its scalar`(curve: EllipticCurve) throws {
        let key = try NanoTDFPrivateKey(generatedOn: curve)
        let again = try NanoTDFPrivateKey(rawRepresentation: key.rawRepresentation, on: curve)
        #expect(again.publicKey == key.publicKey)
    }

    @Test(arguments: Samples.curves)
    func `bytes that are no scalar are refused`(curve: EllipticCurve) throws {
        let count = curve.publicKeyByteCount - 1
        for bytes in [
            [UInt8](repeating: 0, count: count), [UInt8](repeating: 0xFF, count: count),
            [UInt8](repeating: 1, count: count - 1), [UInt8](repeating: 1, count: count + 1), [],
        ] {
            #expect(throws: NanoTDFError.self) {
                try NanoTDFPrivateKey(rawRepresentation: SecretBytes(copying: bytes), on: curve)
            }
        }
    }

    @Test func `points that are not on the curve are refused`() throws {
        for curve in Samples.curves {
            let point = try NanoTDFPrivateKey(generatedOn: curve).publicKey.compressedRepresentation
            var refused = 0
            for change in UInt8(1)...128 {
                var bytes = point
                bytes[bytes.count - 1] ^= change
                if NanoTDFPublicKey(compressed: bytes, on: curve) == nil { refused += 1 }
            }
            // Half of all x-coordinates belong to no point: 32 of 128 would be chance once in 10^8 runs.
            #expect(32...96 ~= refused)
            #expect(NanoTDFPublicKey(compressed: [4] + point.dropFirst(), on: curve) == nil)
            #expect(NanoTDFPublicKey(compressed: [0] + point.dropFirst(), on: curve) == nil)
            #expect(NanoTDFPublicKey(compressed: [UInt8](point.dropLast()), on: curve) == nil)
            #expect(NanoTDFPublicKey(compressed: [], on: curve) == nil)
        }
    }

    /// A text that is no usable key, and a word of the error.
    struct Refused: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let text: String
        let asPrivate: String
        let asPublic: String
    }

    /// OpenSSL made the keys.
    static let refused = [
        Refused(testDescription: "nothing", text: "", asPrivate: "no PEM text", asPublic: "no PEM text"),
        Refused(
            testDescription: "a long text",
            text: String(repeating: "x", count: 20_000),
            asPrivate: "more than 16384 bytes",
            asPublic: "more than 16384 bytes"
        ),
        Refused(
            testDescription: "a public key",
            text: """
                -----BEGIN PUBLIC KEY-----
                MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEaJ+EY6kTQONHhHQU9e9npgE6tyNr
                IinHC3F5dO5062y7h6dUOj1Pgt9Dh5nTLH8qQhfYfKXHOQASgHHNWkEs0A==
                -----END PUBLIC KEY-----
                """,
            asPrivate: "it is a public key; give a private key",
            asPublic: "no public key on"
        ),
        Refused(
            testDescription: "an Ed25519 key",
            text: """
                -----BEGIN PRIVATE KEY-----
                MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpe3JpGXA7rAMcrn9g
                -----END PRIVATE KEY-----
                """,
            asPrivate: "no private key on",
            asPublic: "it is a private key; give a public key"
        ),
        Refused(
            testDescription: "an encrypted key",
            text: """
                -----BEGIN ENCRYPTED PRIVATE KEY-----
                MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAh=
                -----END ENCRYPTED PRIVATE KEY-----
                """,
            asPrivate: "encrypted",
            asPublic: "encrypted"
        ),
        Refused(
            testDescription: "a certificate",
            text: "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
            asPrivate: "certificate",
            asPublic: "certificate"
        ),
        Refused(
            testDescription: "a key that is encrypted in the old way",
            text: """
                -----BEGIN EC PRIVATE KEY-----
                Proc-Type: 4,ENCRYPTED
                DEK-Info: AES-256-CBC,1F1C

                AAAA
                -----END EC PRIVATE KEY-----
                """,
            asPrivate: "encrypted",
            asPublic: "encrypted"
        ),
        Refused(
            testDescription: "two keys",
            text: String(repeating: "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", count: 2),
            asPrivate: "2 keys",
            asPublic: "2 keys"
        ),
        Refused(
            testDescription: "a block that does not end",
            text: "-----BEGIN PRIVATE KEY-----\nAAAA\n",
            asPrivate: "no PEM text of a key",
            asPublic: "no PEM text of a key"
        ),
    ]

    @Test(arguments: refused)
    func `an unusable PEM text is refused with a hint`(sample: Refused) {
        let asPrivate = #expect(throws: NanoTDFError.self) { try NanoTDFPrivateKey(pemRepresentation: sample.text) }
        #expect(asPrivate?.description.contains(sample.asPrivate) == true)
        let asPublic = #expect(throws: NanoTDFError.self) { try NanoTDFPublicKey(pemRepresentation: sample.text) }
        #expect(asPublic?.description.contains(sample.asPublic) == true)
    }

    @Test func `parameters, attributes, wide lines and spaces around a key are ignored`() throws {
        let sample = try #require(try Samples.made().first)
        let lines = sample.recipient_pem.split(separator: "\n").map(String.init)
        let body = lines.dropFirst().dropLast().joined()
        let wide = [lines[0], String(body.prefix(76)), String(body.dropFirst(76)), lines[lines.count - 1]]
        let parameters = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
        let texts = [
            parameters + sample.recipient_pem, "Bag Attributes: <No Attributes>\n" + sample.recipient_pem,
            wide.joined(separator: "\n"), lines.map { "  \($0) \r\n" }.joined(), sample.recipient_pem + "\nsee above\n",
        ]
        for text in texts {
            #expect(try NanoTDFPrivateKey(pemRepresentation: text).publicKey == sample.key().publicKey, "\(text)")
        }
    }

    @Test func `a key on secp256k1 is refused by name`() {
        let text = """
            -----BEGIN PUBLIC KEY-----
            MFYwEAYHKoZIzj0CAQYFK4EEAAoDQgAEeb5mfvncu6xVoGKVzocLBwKb/NstzijZ
            WfKBWxb4F5hIOtp3JqPEZV2k+/wOEQio/Re0SKaFVBmcR9CP+xDUuA==
            -----END PUBLIC KEY-----
            """
        #expect(throws: NanoTDFError.unsupportedCurve(.secp256k1)) { try NanoTDFPublicKey(pemRepresentation: text) }
    }

    @Test func `damaged PEM texts never crash`() throws {
        let pem = try Samples.made().prefix(20).map(\.recipient_pem)
        neverCrash(onTexts: pem, rounds: 1_000) { text in
            _ = try NanoTDFPrivateKey(pemRepresentation: text)
        }
    }

    @Test func `a private key prints without its scalar`() throws {
        let key = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        #expect("\(key)" == "NanoTDFPrivateKey(secp256r1, redacted)")
        #expect(String(reflecting: key) == "NanoTDFPrivateKey(secp256r1, redacted)")
        var text = ""
        dump(key, to: &text)
        #expect(!text.contains("scalar"))
    }
}
