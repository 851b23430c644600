internal import Bytes
internal import Testing

@Suite("SecretBytes") struct SecretBytesTests {
    private struct Holder {
        let name = "key"
        let secret = SecretBytes(copying: [0xDE, 0xAD, 0xBE, 0xEF])
    }

    @Test func `no way of printing shows the bytes`() {
        let secret = SecretBytes(copying: [0xDE, 0xAD, 0xBE, 0xEF])
        #expect("\(secret)" == "SecretBytes(redacted)")
        #expect(secret.description == "SecretBytes(redacted)")
        #expect(secret.debugDescription == "SecretBytes(redacted)")
        #expect(String(describing: secret) == "SecretBytes(redacted)")
        #expect(String(reflecting: secret) == "SecretBytes(redacted)")
        #expect("\(Optional(secret) as Any)" == "Optional(SecretBytes(redacted))")
        #expect("\([secret])" == "[SecretBytes(redacted)]")
        #expect(Mirror(reflecting: secret).children.isEmpty)
    }

    @Test func `what contains a secret does not show it either`() {
        let holder = Holder()
        #expect("\(holder)" == #"Holder(name: "key", secret: SecretBytes(redacted))"#)
        var dumped = ""
        dump(holder, to: &dumped)
        #expect(dumped.contains("secret: SecretBytes(redacted)"))
        for spelling in ["222", "173", "190", "239", "de", "DE", "count"] {
            #expect(!dumped.contains(spelling + ",") && !dumped.contains(spelling + "\n"))
        }
    }

    @Test func `equality looks at all bytes`() {
        let secret = SecretBytes(copying: [1, 2, 3])
        #expect(secret == SecretBytes(copying: [1, 2, 3]))
        #expect(secret != SecretBytes(copying: [1, 2, 4]))
        #expect(secret != SecretBytes(copying: [1, 2]))
        #expect(SecretBytes(copying: []) == SecretBytes(copying: [UInt8]()[...]))
    }

    @Test func `consumed bytes are gone from their source`() {
        var source: [UInt8] = [1, 2, 3]
        let secret = SecretBytes(consuming: &source)
        #expect(source.isEmpty)
        #expect(secret.count == 3)
        #expect(secret.withBytes { $0 == [1, 2, 3] })
    }

    @Test func `a secret is filled in place, over zeros`() {
        let secret = unsafe SecretBytes(count: 4) { memory in
            unsafe memory[1] = 7
        }
        #expect(secret.withBytes { $0 } == [0, 7, 0, 0])
        let copy = unsafe secret.withUnsafeBytes { unsafe [UInt8]($0) }
        #expect(copy == [0, 7, 0, 0])
    }

    @Test func `an error while filling is passed on`() {
        struct NoRandomness: Error {}
        #expect(throws: NoRandomness.self) {
            _ = try unsafe SecretBytes(count: 4) { (_) throws(NoRandomness) in throw NoRandomness() }
        }
    }

    @Test func `an error while reading is passed on`() {
        let secret = SecretBytes(copying: [1])
        #expect(throws: BytesError.badChecksum) {
            try secret.withBytes { (_) throws(BytesError) in throw .badChecksum }
        }
    }

    @Test func `wiping leaves zeros only`() {
        var bytes = [UInt8](repeating: 0xFF, count: 1_000)
        unsafe bytes.withUnsafeMutableBytes { memory in
            unsafe wipe(UnsafeMutableRawBufferPointer(rebasing: memory[100..<900]))
        }
        #expect(bytes.allSatisfy { $0 == 0 } == false)
        #expect(bytes[100..<900].allSatisfy { $0 == 0 })
        #expect(bytes[..<100].allSatisfy { $0 == 0xFF } && bytes[900...].allSatisfy { $0 == 0xFF })
    }

    @Test func `wiping a shared array leaves the other owner's bytes`() {
        let kept: [UInt8] = [1, 2, 3]
        var wiped = kept
        wiped.wipe()
        #expect(wiped.isEmpty)
        #expect(kept == [1, 2, 3])
    }
}
