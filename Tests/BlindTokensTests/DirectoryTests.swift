internal import Bytes
internal import TestSupport
internal import Testing

@testable internal import BlindTokens

@Suite("Issuer directory") struct DirectoryTests {
    private static let address = "https://issuer.example/token-request"

    private func key(_ index: Int, notBefore: UInt64? = nil) throws -> IssuerDirectory.Key {
        IssuerDirectory.Key(try Samples.issuer(index).publicKey, notBefore: notBefore)
    }

    /// A key whose id ends like the one of `key`: exponents are tried until one does.
    private func double(of key: TokenPublicKey) throws -> TokenPublicKey {
        for exponent in stride(from: 3, to: 20_000, by: 2) where exponent > 255 {
            let other = try TokenPublicKey(
                modulus: key.modulus,
                exponent: [UInt8(exponent >> 8), UInt8(exponent & 0xFF)]
            )
            if other.keyId.truncated == key.keyId.truncated { return other }
        }
        throw BlindTokenError.noUsableKey
    }

    @Test func `a directory has the form of RFC 9578`() throws {
        let directory = try IssuerDirectory(issuerRequestURI: Self.address, keys: [key(0), key(1, notBefore: 7)])
        let keys = try (0..<2).map {
            Base64URL.encode(try Samples.issuer($0).publicKey.subjectPublicKeyInfo, padded: true)
        }
        let text = """
            {"issuer-request-uri":"https://issuer.example/token-request","token-keys":[\
            {"token-type":2,"token-key":"\(keys[0])"},{"token-type":2,"token-key":"\(keys[1])","not-before":7}]}
            """
        #expect(String(decoding: directory.json, as: UTF8.self) == text)
        #expect(try IssuerDirectory(json: directory.json) == directory)
    }

    @Test func `keys of other types and unknown fields are ignored`() throws {
        let text = Base64URL.encode(try Samples.issuer().publicKey.subjectPublicKeyInfo, padded: true)
        let json = """
            {"token-keys":[{"token-type":1,"token-key":"?"},{"x":[{}],"token-key":"\(text)","token-type":2}],
             "issuer-request-uri":"/token-request","policy":{"a":null}}
            """
        let directory = try IssuerDirectory(json: [UInt8](json.utf8))
        #expect(directory.keys == [try key(0)])
        #expect(directory.issuerRequestURI == "/token-request")
    }

    @Test func `the client takes the first key that is not in the future`() throws {
        let directory = try IssuerDirectory(
            issuerRequestURI: Self.address,
            keys: [key(2, notBefore: 100), key(1, notBefore: 50), key(0)]
        )
        #expect(try directory.key(at: 49) == key(0).publicKey)
        #expect(try directory.key(at: 50) == key(1).publicKey)
        #expect(try directory.key(at: 99) == key(1).publicKey)
        #expect(try directory.key(at: 100) == key(2).publicKey)
        let later = try IssuerDirectory(issuerRequestURI: Self.address, keys: [key(0, notBefore: 9)])
        #expect(throws: BlindTokenError.noUsableKey) { try later.key(at: 8) }
    }

    @Test func `two live keys with one truncated id are refused at the issuer`() throws {
        let first = try Samples.issuer().publicKey
        let second = try double(of: first)
        let keys = [first, second].map { IssuerDirectory.Key($0) }
        #expect(throws: BlindTokenError.equalTruncatedIds(first.keyId, second.keyId)) {
            try IssuerDirectory(issuerRequestURI: Self.address, keys: keys)
        }
        #expect(throws: BlindTokenError.self) {
            try IssuerDirectory(issuerRequestURI: Self.address, keys: [keys[0], keys[0]])
        }
    }

    @Test func `a directory beyond its bounds is refused`() throws {
        let keys = try [key(0)]
        for address in ["", "a b", "a\"b", "é", String(repeating: "a", count: 2_049)] {
            #expect(throws: BlindTokenError.self) { try IssuerDirectory(issuerRequestURI: address, keys: keys) }
        }
        #expect(throws: BlindTokenError.self) { try IssuerDirectory(issuerRequestURI: Self.address, keys: []) }
        let json = try IssuerDirectory(issuerRequestURI: Self.address, keys: keys).json
        let space = [UInt8](repeating: 0x20, count: IssuerDirectory.byteLimit - json.count)
        #expect(throws: Never.self) { try IssuerDirectory(json: space + json) }
        #expect(throws: BlindTokenError.self) { try IssuerDirectory(json: space + [0x20] + json) }
        let entry = String(decoding: json, as: UTF8.self).split(separator: "[")[1].dropLast(2)
        let many =
            "{\"issuer-request-uri\":\"/\",\"token-keys\":["
            + [Substring](repeating: entry, count: 17).joined(separator: ",") + "]}"
        #expect(throws: BlindTokenError.self) { try IssuerDirectory(json: [UInt8](many.utf8)) }
    }

    @Test(arguments: [
        "[]",
        "{}",
        "{\"issuer-request-uri\":\"/\"}",
        "{\"issuer-request-uri\":1,\"token-keys\":[]}",
        "{\"issuer-request-uri\":\"/\",\"token-keys\":[]}",
        "{\"issuer-request-uri\":\"/\",\"token-keys\":[2]}",
        "{\"issuer-request-uri\":\"/\",\"token-keys\":[{\"token-key\":\"AAAA\"}]}",
        "{\"issuer-request-uri\":\"/\",\"token-keys\":[{\"token-type\":2}]}",
        "{\"issuer-request-uri\":\"/\",\"token-keys\":[{\"token-type\":2,\"token-key\":\"AAAA\"}]}",
        "{\"issuer-request-uri\":\"/\",\"issuer-request-uri\":\"/\",\"token-keys\":[]}",
    ]) func `a directory that is not one is refused`(json: String) throws {
        #expect(throws: BlindTokenError.self) { try IssuerDirectory(json: [UInt8](json.utf8)) }
    }

    @Test(arguments: ["-1", "1.5", "\"1\"", "null"])
    func `a not-before that is not a whole number is refused`(value: String) throws {
        let json = String(
            decoding: try IssuerDirectory(issuerRequestURI: "/", keys: [key(0, notBefore: 7)]).json,
            as: UTF8.self
        )
        let other = json.split(separator: ":7}").joined(separator: ":\(value)}")
        #expect(throws: BlindTokenError.self) { try IssuerDirectory(json: [UInt8](other.utf8)) }
    }

    @Test func `a key without its padding is refused`() throws {
        let json = String(decoding: try IssuerDirectory(issuerRequestURI: "/", keys: [key(0)]).json, as: UTF8.self)
        let text = Base64URL.encode(try Samples.issuer().publicKey.subjectPublicKeyInfo, padded: true)
        #expect(text.count.isMultiple(of: 4))
        let other = json.split(separator: "\"}").joined(separator: "=\"}")
        #expect(throws: BlindTokenError.self) { try IssuerDirectory(json: [UInt8](other.utf8)) }
    }
}

@Suite("Key consistency") struct KeyConsistencyTests {
    private func view(_ path: String, _ keys: [(index: Int, notBefore: UInt64?)]) throws -> KeyConsistency.View {
        let keys = try keys.map { IssuerDirectory.Key(try Samples.issuer($0.index).publicKey, notBefore: $0.notBefore) }
        return KeyConsistency.View(path: path, directory: try IssuerDirectory(issuerRequestURI: "/", keys: keys).json)
    }

    @Test func `equal keys over two paths pass`() throws {
        let keys = try KeyConsistency(view("issuer", [(0, nil)]), view("gateway", [(0, nil)]), at: 5)
        #expect(keys.key == (try Samples.issuer().publicKey))
        #expect(keys.keyIds == [keys.key.keyId])
    }

    @Test func `a key that differs is refused with both keys and both paths`() throws {
        let (first, second) = (try Samples.issuer(0).publicKey.keyId, try Samples.issuer(1).publicKey.keyId)
        let expected = BlindTokenError.keysDiffer(first, path: "issuer", other: second, otherPath: "gateway")
        #expect(throws: expected) {
            try KeyConsistency(view("issuer", [(0, nil)]), view("gateway", [(1, nil)]), at: 5)
        }
        for part in ["\(first)", "\(second)", "issuer", "gateway"] { #expect("\(expected)".contains(part)) }
    }

    @Test func `a copy that lacks an announced key passes until the key is used`() throws {
        let (view, copy) = (try view("issuer", [(1, 100), (0, nil)]), try view("gateway", [(0, nil)]))
        let keys = try KeyConsistency(view, copy, at: 99)
        #expect(keys.key == (try Samples.issuer(0).publicKey))
        #expect(keys.keyIds == [keys.key.keyId])
        #expect(throws: BlindTokenError.self) { try KeyConsistency(view, copy, at: 100) }
    }

    @Test func `the keys of a rotation are listed if both views have them`() throws {
        let keys = try KeyConsistency(
            view("issuer", [(1, 50), (0, nil), (2, nil)]),
            view("gateway", [(1, 50), (0, nil)]),
            at: 60
        )
        #expect(keys.keyIds == (try [1, 0].map { try Samples.issuer($0).publicKey.keyId }))
    }
}
