internal import Bytes
internal import TestSupport
internal import Testing

@testable internal import BlindTokens

@Suite("Messages of Privacy Pass") struct CodecTests {
    @Test(arguments: [
        "0002" + "0000" + "00" + "0000",
        "0002" + "0001" + "61" + "01" + "00" + "0000",
        "0002" + "0001" + "61" + "1f" + String(repeating: "00", count: 31) + "0000",
        "0002" + "0001" + "61" + "00" + "0001" + "80",
        "0002" + "0001" + "0a" + "00" + "0000",
        "0002" + "0001" + "61" + "00" + "0000" + "00",
        "0002" + "0002" + "61",
        "0002",
        "00",
        "",
    ]) func `a challenge that breaks a rule is refused`(hex: String) throws {
        let bytes = try Hex.decode(hex)
        let error = #expect(throws: BlindTokenError.self) { try TokenChallenge(bytes) }
        guard case .malformed(.challenge, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `a challenge for another type is refused by its type`() throws {
        let bytes = try Hex.decode("0001" + "0001" + "61" + "00" + "0000")
        #expect(throws: BlindTokenError.unsupportedType(1)) { try TokenChallenge(bytes) }
    }

    @Test func `names of a challenge must be printable ASCII of at most 65535 bytes`() throws {
        let long = String(repeating: "a", count: 65_536)
        for name in ["é", "a\n", "\u{7F}", long] {
            #expect(throws: BlindTokenError.self) {
                try TokenChallenge(issuerName: name, redemptionContext: [], originInfo: "")
            }
            #expect(throws: BlindTokenError.self) {
                try TokenChallenge(issuerName: "a", redemptionContext: [], originInfo: name)
            }
        }
        let name = String(long.dropLast())
        let challenge = try TokenChallenge(issuerName: name, redemptionContext: [], originInfo: name)
        #expect(try TokenChallenge(challenge.bytes) == challenge)
    }

    @Test func `an origin must be in the list of a challenge that has one`() throws {
        let challenge = try TokenChallenge(
            issuerName: "i",
            redemptionContext: [],
            originInfo: "a.example,B.example"
        )
        #expect(challenge.admits(origin: "A.example"))
        #expect(challenge.admits(origin: "b.example"))
        #expect(!challenge.admits(origin: "c.example"))
        #expect(!challenge.admits(origin: "example"))
        let open = try TokenChallenge(issuerName: "i", redemptionContext: [], originInfo: "")
        #expect(open.admits(origin: "c.example"))
    }

    @Test func `requests and tokens of another size or type are refused`() throws {
        let request = [0, 2] + [UInt8](repeating: 7, count: 257)
        #expect(try TokenRequest(request).bytes == request)
        #expect(throws: BlindTokenError.wrongSize(.request, expected: 259, found: 258)) {
            try TokenRequest(request.dropLast())
        }
        #expect(throws: BlindTokenError.wrongSize(.request, expected: 259, found: 260)) {
            try TokenRequest(request + [0])
        }
        #expect(throws: BlindTokenError.unsupportedType(3)) { try TokenRequest(request.changed(at: 1)) }
        #expect(throws: BlindTokenError.wrongSize(.token, expected: 354, found: 1)) { try Token([0]) }
        #expect(throws: BlindTokenError.wrongSize(.response, expected: 256, found: 0)) { try TokenResponse([]) }
    }

    @Test func `a batch has 1 to 128 requests`() throws {
        let request = try TokenRequest(truncatedKeyId: 9, blindedMessage: [UInt8](repeating: 7, count: 256))
        for count in [1, 2, 63, 64, 128] {
            let batch = try TokenBatchRequest([TokenRequest](repeating: request, count: count))
            #expect(try TokenBatchRequest(batch.bytes) == batch)
            #expect(batch.bytes.count <= TokenBatchRequest.byteLimit)
        }
        #expect(throws: BlindTokenError.self) { try TokenBatchRequest([TokenRequest]()) }
        #expect(throws: BlindTokenError.self) { try TokenBatchRequest([TokenRequest](repeating: request, count: 129)) }
        var writer = ByteWriter()
        writer.writeVarintPrefixed([[UInt8]](repeating: request.bytes, count: 129).flatMap(\.self))
        #expect(throws: BlindTokenError.self) { try TokenBatchRequest(writer.bytes) }
        #expect(throws: BlindTokenError.self) { try TokenBatchRequest([0] as [UInt8]) }
    }

    @Test func `a length of a batch that is not in its shortest form is refused`() throws {
        let request = [0, 2] + [UInt8](repeating: 7, count: 257)
        #expect(throws: Never.self) { try TokenBatchRequest([0x41, 0x03] + request) }
        #expect(throws: BlindTokenError.self) { try TokenBatchRequest([0x80, 0x00, 0x01, 0x03] + request) }
        #expect(throws: BlindTokenError.self) { try TokenBatchRequest([0x41, 0x03] + request + [0]) }
        #expect(throws: BlindTokenError.self) { try TokenBatchRequest([0x41, 0x02] + request.dropLast()) }
    }

    @Test func `a batch of responses keeps the place of a refused request`() throws {
        let response = try TokenResponse([UInt8](repeating: 5, count: 256))
        let batch = try TokenBatchResponse([nil, response, nil])
        #expect(try TokenBatchResponse(batch.bytes) == batch)
        #expect(!batch.isWhole)
        #expect(try TokenBatchResponse([response]).isWhole)
        let whole = try TokenBatchResponse([TokenResponse?](repeating: response, count: 128))
        #expect(try TokenBatchResponse(whole.bytes) == whole)
        #expect(whole.bytes.count <= TokenBatchResponse.byteLimit)
        #expect(throws: BlindTokenError.self) { try TokenBatchResponse([1, 2] as [UInt8]) }
        #expect(throws: BlindTokenError.self) {
            try TokenBatchResponse([0x40, 129] + [UInt8](repeating: 0, count: 129))
        }
        #expect(throws: BlindTokenError.self) { try TokenBatchResponse([TokenResponse?]()) }
    }
}
