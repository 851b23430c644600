internal import Bytes
internal import TestSupport
internal import Testing
internal import WebAuthn

@testable internal import AuthenticatorSupport

@Suite("COSE keys") struct COSEKeyTests {
    /// The parameters of a valid key.
    private func parameters(_ algorithm: COSEAlgorithm) throws -> [CBORItem: CBORItem] {
        let encoded = try CredentialKey(algorithm).publicKey().encoded
        return try #require(CBORItem(encoded).map)
    }

    private func refused(_ parameters: [CBORItem: CBORItem], _ words: String, line: Int = #line) {
        let location = SourceLocation(fileID: #fileID, filePath: #filePath, line: line, column: 1)
        let error = #expect(throws: WebAuthnError.self, sourceLocation: location) {
            try COSEKey(CBORItem.map(parameters).encoded)
        }
        #expect(error?.description.contains(words) == true, "\(error?.description ?? "")", sourceLocation: location)
    }

    @Test(arguments: COSEAlgorithm.allCases) func `a key is read back from its bytes`(algorithm: COSEAlgorithm) throws {
        let key = try CredentialKey(algorithm)
        let publicKey = try key.publicKey()
        let read = try COSEKey(publicKey.encoded)
        #expect(read == publicKey)
        #expect(read.algorithm == algorithm)
        #expect(read.encoded == publicKey.encoded)
        #expect(try read.isValidSignature(key.signature(for: [1, 2]), for: [1, 2]))
        #expect(try !read.isValidSignature(key.signature(for: [1, 2]), for: [1, 3]))
    }

    @Test(arguments: COSEAlgorithm.allCases) func `every parameter is required`(algorithm: COSEAlgorithm) throws {
        let valid = try parameters(algorithm)
        for label in valid.keys {
            var parameters = valid
            parameters[label] = nil
            refused(parameters, "the parameter \(label.integer ?? 0) is missing")
        }
    }

    @Test(arguments: COSEAlgorithm.allCases) func `optional parameters are refused`(algorithm: COSEAlgorithm) throws {
        var parameters = try parameters(algorithm)
        parameters[.integer(2)] = .bytes([1])
        refused(parameters, "parameters besides the required ones")
    }

    @Test func `a key type or curve of another algorithm is refused`() throws {
        var parameters = try parameters(.es256)
        parameters[.integer(1)] = .integer(1)
        refused(parameters, "the key type 1 does not fit the algorithm -7")
        parameters = try self.parameters(.es256)
        parameters[.integer(-1)] = .integer(8)
        refused(parameters, "the curve 8 does not fit")
        parameters = try self.parameters(.eddsa)
        parameters[.integer(-1)] = .integer(7)
        refused(parameters, "the curve 7 does not fit")
    }

    @Test func `an unknown algorithm is refused by its number`() throws {
        var parameters = try parameters(.es256)
        parameters[.integer(3)] = .integer(-35)
        #expect(throws: WebAuthnError.algorithmNotOffered(-35)) { try COSEKey(CBORItem.map(parameters).encoded) }
    }

    @Test func `a compressed point is refused`() throws {
        var parameters = try parameters(.es256)
        parameters[.integer(-3)] = .boolean(true)
        refused(parameters, "the parameter -3 is missing or not a byte string")
    }

    @Test func `a point off the curve, and coordinates of another length, are refused`() throws {
        let valid = try parameters(.es256)
        var parameters = valid
        parameters[.integer(-3)] = .bytes([UInt8](repeating: 1, count: 32))
        refused(parameters, "not a point of the curve")
        parameters[.integer(-3)] = .bytes([UInt8](repeating: 1, count: 33))
        refused(parameters, "a coordinate has not 32 bytes")
        parameters = try self.parameters(.eddsa)
        parameters[.integer(-2)] = .bytes([UInt8](repeating: 0, count: 32))
        refused(parameters, "the public key of the passkey")
    }

    @Test(arguments: [[UInt8](), [1], [2], [0, 1, 0, 1], [1, 0, 0, 0, 1]])
    func `an exponent that is not an odd number in four bytes is refused`(exponent: [UInt8]) throws {
        var parameters = try parameters(.rs256)
        parameters[.integer(-2)] = .bytes(exponent)
        refused(parameters, "the exponent is not")
    }

    @Test func `a modulus has 2048 to 4096 bits and is odd`() throws {
        var parameters = try parameters(.rs256)
        func setModulus(_ first: UInt8, count: Int, last: UInt8 = 1) {
            parameters[.integer(-1)] = .bytes([first] + [UInt8](repeating: 0xAB, count: count - 2) + [last])
        }
        setModulus(0x7F, count: 256)
        refused(parameters, "2047 bits")
        setModulus(0x01, count: 513)
        refused(parameters, "4097 bits")
        setModulus(0x00, count: 257)
        refused(parameters, "leading zeros")
        setModulus(0x80, count: 256, last: 2)
        refused(parameters, "not odd")
        setModulus(0x80, count: 512)
        #expect(try COSEKey(CBORItem.map(parameters).encoded).algorithm == .rs256)
    }

    @Test func `another order of parameters is refused`() throws {
        let encoded = try CredentialKey(.eddsa).publicKey().encoded
        var swapped = encoded
        swapped.replaceSubrange(1...4, with: [0x03, 0x27, 0x01, 0x01])
        let error = #expect(throws: WebAuthnError.self) { try COSEKey(swapped) }
        #expect(error?.description.contains("not in order") == true)
        #expect(throws: WebAuthnError.self) { try COSEKey(encoded + [0]) }
    }

    @Test func `damaged keys never crash`() throws {
        let valid = try COSEAlgorithm.allCases.map { try CredentialKey($0).publicKey().encoded }
        neverCrash(on: valid, rounds: 3_000) { bytes in
            let key = try COSEKey(bytes)
            #expect(key.encoded == bytes)
            _ = key.isValidSignature([UInt8](repeating: 1, count: 64), for: [])
        }
    }
}
