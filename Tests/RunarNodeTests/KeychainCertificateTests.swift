internal import Foundation
internal import Testing

@testable internal import RunarNode

/// Certificates of a person's devices, by the calls of the keychain.
@Suite("Keychain certificates") struct KeychainCertificateTests {
    private let owner = RunarKeychain(keyStorage: InMemoryKeyStorage())
    private let storage = InMemoryKeyStorage()
    private let device: RunarKeychain

    init() async throws {
        device = RunarKeychain(keyStorage: storage)
        try await owner.initializeUserRootKey()
    }

    /// Returns the device's keychain at another time.
    private func device(at seconds: UInt64) -> RunarKeychain {
        RunarKeychain(storage, AccessControl(), owner: nil) { seconds }
    }

    @Test func `a device requests a certificate and is recognised by the person's other devices`() async throws {
        #expect(try await device.getCertificateStatus() == .none)
        #expect(try await device.getCertificateMessage() == nil)
        let request = try await device.createCertificateRequest()
        #expect(try await device.getCertificateStatus() == .pending)
        #expect(try await device.createCertificateRequest() == request, "it asks for the same until it is answered")
        let message = try await owner.issueCertificate(for: request)
        try await device.installCertificate(message)
        #expect(try await device.getCertificateStatus() == .valid)
        #expect(try await device.getCertificateMessage() == message)
        let peer = try PeerId(publicKey: device.peerKey().publicKey)
        #expect(try await owner.recognizeDevice(message) == peer)
        let second = RunarKeychain(keyStorage: InMemoryKeyStorage())
        await #expect(throws: RunarKeychainError.foreignAuthority) { try await second.recognizeDevice(message) }
        try await second.installCertificate(owner.issueCertificate(for: second.createCertificateRequest()))
        #expect(try await second.recognizeDevice(message) == peer)
        try await device.removeCertificate()
        #expect(try await device.getCertificateStatus() == .none)
    }

    @Test func `an unrequested certificate and one for another device are refused`() async throws {
        let request = try await device.createCertificateRequest()
        let message = try await owner.issueCertificate(for: request)
        let other = RunarKeychain(keyStorage: InMemoryKeyStorage())
        _ = try await other.createCertificateRequest()
        await #expect(throws: RunarKeychainError.notForThisDevice) { try await other.installCertificate(message) }
        try await device.removeCertificate()
        await #expect(throws: RunarKeychainError.notAskedFor) { try await device.installCertificate(message) }
        #expect(try await device.getCertificateStatus() == .none)
    }

    @Test func `another person's authority is refused with a certificate and with a root key`()
        async throws
    {
        let nonMember = RunarKeychain(keyStorage: InMemoryKeyStorage())
        try await nonMember.initializeUserRootKey()
        let request = try await device.createCertificateRequest()
        try await device.installCertificate(owner.issueCertificate(for: request))
        let foreign = try await nonMember.issueCertificate(for: device.createCertificateRequest())
        await #expect(throws: RunarKeychainError.foreignAuthority) { try await device.installCertificate(foreign) }
        #expect(try await device.getCertificateStatus() == .valid)
        let forOwner = try await nonMember.issueCertificate(for: owner.createCertificateRequest())
        await #expect(throws: RunarKeychainError.foreignAuthority) { try await owner.installCertificate(forOwner) }
        try await owner.installCertificate(owner.issueCertificate(for: owner.createCertificateRequest()))
        #expect(try await owner.getCertificateStatus() == .valid)
    }

    @Test func `a changed request and a changed message are refused`() async throws {
        let request = try await device.createCertificateRequest()
        let message = try await owner.issueCertificate(for: request)
        for (index, isRequest) in [(request.count - 1, true), (60, true), (message.count - 1, false), (80, false)] {
            var changed = isRequest ? request : message
            changed[index] ^= 1
            let damaged = changed
            let error = await #expect(throws: RunarKeychainError.self) {
                if isRequest {
                    _ = try await owner.issueCertificate(for: damaged)
                } else {
                    try await device.installCertificate(damaged)
                }
            }
            guard case .badCertificate? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        #expect(try await device.getCertificateStatus() == .pending)
    }

    @Test func `a certificate expires and is renewed by another request`() async throws {
        let now = UInt64(Date().timeIntervalSince1970)
        let request = try await device.createCertificateRequest()
        let end = Date(timeIntervalSince1970: Double(now + 100))
        try await device.installCertificate(owner.issueCertificate(for: request, until: end))
        #expect(try await device(at: now + 100).getCertificateStatus() == .valid)
        let later = device(at: now + 101)
        #expect(try await later.getCertificateStatus() == .invalid)
        let again = try await later.createCertificateRequest()
        #expect(try await later.getCertificateStatus() == .pending)
        let short = try await owner.issueCertificate(for: again, until: end)
        await #expect(throws: RunarKeychainError.notInForce) { try await later.installCertificate(short) }
        try await later.installCertificate(owner.issueCertificate(for: again))
        #expect(try await later.getCertificateStatus() == .valid)
        await #expect(throws: RunarKeychainError.foreignAuthority) {
            try await RunarKeychain(keyStorage: InMemoryKeyStorage()).recognizeDevice(short)
        }
        await #expect(throws: RunarKeychainError.notInForce) { try await later.recognizeDevice(short) }
    }

    @Test func `a certificate of an earlier key of the device is invalid, and a damaged one too`() async throws {
        try await device.installCertificate(owner.issueCertificate(for: device.createCertificateRequest()))
        try storage.store(SecretBytes(copying: [1, 2, 3]), id: "certificate")
        #expect(try await device.getCertificateStatus() == .invalid)
        let other = RunarKeychain(keyStorage: storage)
        try await other.removeCertificate()
        try await other.installCertificate(owner.issueCertificate(for: other.createCertificateRequest()))
        try storage.store(generatePeerKey().privateKey.secret, id: "peer")
        #expect(try await other.getCertificateStatus() == .invalid)
    }

    @Test func `only the root key issues certificates`() async throws {
        let request = try await device.createCertificateRequest()
        await #expect(throws: RunarKeychainError.noRootKey) { try await device.issueCertificate(for: request) }
    }
}
