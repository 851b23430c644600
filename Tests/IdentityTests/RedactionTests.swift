import Bytes
import Foundation
import Identity
import Testing

@Suite("Redaction") struct RedactionTests {
    private struct Holder {
        let key: Ed25519PrivateKey
        let pair: Ed25519KeyPair
        let phrase: RecoveryPhrase
        let node: SLIP0010.ExtendedKey
    }

    private static let secret = Array("this is a secret of 32 bytes....".utf8)

    private func holder() throws -> Holder {
        let key = try Ed25519PrivateKey(rawRepresentation: Self.secret)
        return Holder(
            key: key,
            pair: Ed25519KeyPair(privateKey: key),
            phrase: RecoveryPhrase(masterKey: key),
            node: SLIP0010.ExtendedKey(privateKey: key.secret, chainCode: key.secret)
        )
    }

    private func everyPrint(of value: some Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return ["\(value)", String(describing: value), String(reflecting: value), dumped]
    }

    @Test func `secrets print literally as redacted`() throws {
        let holder = try holder()
        #expect("\(holder.key)" == "Ed25519PrivateKey(redacted)")
        #expect(String(reflecting: holder.key) == "Ed25519PrivateKey(redacted)")
        #expect("\(holder.phrase)" == "RecoveryPhrase(redacted)")
        #expect("\(holder.node)" == "ExtendedKey(redacted)")
        #expect("\(holder.pair)".hasSuffix(", privateKey: redacted)"))
        #expect("\(holder.pair)".contains(holder.pair.publicKey.base64Encoded))
    }

    @Test func `no way of printing shows a secret`() throws {
        let holder = try holder()
        let forms = [
            String(decoding: Self.secret, as: UTF8.self), Hex.encode(Self.secret), Base64.encode(Self.secret),
            holder.phrase.words[0] + " " + holder.phrase.words[1], "116, 104, 105, 115",
        ]
        var prints = everyPrint(of: holder) + everyPrint(of: [holder.key]) + everyPrint(of: Optional(holder.pair))
        prints += everyPrint(of: holder.node) + everyPrint(of: holder.phrase) + everyPrint(of: holder.key.secret)
        for printed in prints {
            for form in forms { #expect(!printed.localizedCaseInsensitiveContains(form)) }
        }
        #expect(Mirror(reflecting: holder.key).children.isEmpty)
        #expect(Mirror(reflecting: holder.phrase).children.isEmpty)
        #expect(Mirror(reflecting: holder.node).children.isEmpty)
    }
}
