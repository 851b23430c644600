internal import Bytes
internal import Certificates
public import Essentials
public import Identity
internal import Platform

// The certificate by which a person's devices recognise each other; it admits no device to a network.
extension RunarKeychain {
    /// Asks for a certificate of this device: PKCS #10 (RFC 2986) in DER, signed with the device's key.
    ///
    /// The request stays unchanged until it is answered. The device's key is made if there is none yet.
    ///
    /// - Throws: ``KeychainError``.
    public func createCertificateRequest() async throws -> Data {
        Data(try pendingRequest().certificateRequest)
    }

    /// Asks for everything that another device of the person can give: the certificate request of
    /// ``createCertificateRequest()`` and a key to which networks' keys can be sealed, signed with the device's key.
    ///
    /// - Throws: ``KeychainError``.
    public func createDeviceRequest() async throws -> Data {
        Data(try pendingRequest().binary)
    }

    /// Issues a certificate for the device that made `request` with ``createCertificateRequest()``, and returns the message
    /// for its ``installCertificate(_:)``.
    ///
    /// It certifies to every reader that the device is this person's; compare the device's id on both screens before. It is
    /// valid until `end`, or for a year.
    ///
    /// - Throws: ``RunarKeychainError/noRootKey``; ``RunarKeychainError/badCertificate(_:)`` when the request was changed
    ///   or asks for another name than its key's; ``KeychainError``.
    public func issueCertificate(for request: Data, until end: Date? = nil) async throws -> Data {
        try Data(issue(for: Self.readable { try CertificateRequest(der: request) }, until: end).binary)
    }

    /// Takes the certificate that this device asked for.
    ///
    /// - Throws: ``RunarKeychainError``: ``RunarKeychainError/badCertificate(_:)`` for a wrong name or a changed message,
    ///   `notForThisDevice`, `foreignAuthority`, `notAskedFor`, `notInForce`; ``KeychainError``.
    public func installCertificate(_ certificateMessage: Data) async throws {
        let message = try Self.readable { try CertificateMessage(binary: certificateMessage) }
        try check(message)
        try install(message)
    }

    /// Returns the status of this device's certificate.
    ///
    /// - Throws: ``KeychainError``.
    public func getCertificateStatus() async throws -> CertificateStatus {
        if try hasValidCertificate() { return .valid }
        if try storedRequest() != nil { return .pending }
        return try keys.exists(id: Self.certificateId) ? .invalid : .none
    }

    /// Returns the message that shows another device of the person that this one is, too; nil without a certificate.
    ///
    /// - Throws: ``KeychainError``.
    public func getCertificateMessage() async throws -> Data? {
        try storedMessage().map { Data($0.binary) }
    }

    /// The device that shows `certificateMessage`, if the authority of this device's own certificate issued it.
    ///
    /// The device that shows it must have proved its identity, as every peer has.
    ///
    /// - Throws: ``RunarKeychainError/badCertificate(_:)``, `notInForce`; `foreignAuthority` if it is another person's or
    ///   this device has no certificate itself; ``KeychainError``.
    public func recognizeDevice(_ certificateMessage: Data) async throws -> PeerId {
        let message = try Self.readable { try CertificateMessage(binary: certificateMessage) }
        guard try authority() == message.authority else { throw RunarKeychainError.foreignAuthority }
        guard message.isInForce(at: now()) else { throw RunarKeychainError.notInForce }
        return message.peerId
    }

    /// Removes the certificate and the request for one, so that this device can become another person's.
    ///
    /// - Throws: ``KeychainError``.
    public func removeCertificate() async throws {
        try keys.delete(id: Self.certificateId)
        try keys.delete(id: Self.requestId)
    }
}

extension RunarKeychain {
    private static let certificateId = "certificate"
    private static let requestId = "device-request"

    /// The request that is not answered yet, made if there is none.
    func pendingRequest() throws -> DeviceRequest {
        if let request = try storedRequest() { return request }
        let peer = try peerKey().privateKey
        let asked = try Self.readable { try CertificateRequest(for: peer) }
        let request = try DeviceRequest(for: peer, certificateRequest: asked.der)
        try storePublic(request.binary, id: Self.requestId)
        return request
    }

    /// The request that is not answered yet; one of an earlier key of this device does not count.
    func storedRequest() throws -> DeviceRequest? {
        guard let stored = try keys.retrieve(id: Self.requestId),
            let request = try? stored.withBytes({ try DeviceRequest(binary: $0) }),  // a damaged one is replaced
            try request.publicKey == peerKey().publicKey
        else { return nil }
        return request
    }

    /// Returns the installed certificate; nil if there is none or it can no longer be read.
    private func storedMessage() throws -> CertificateMessage? {
        guard let stored = try keys.retrieve(id: Self.certificateId) else { return nil }
        return try? stored.withBytes { try CertificateMessage(binary: $0) }  // then it is invalid, see above
    }

    /// The authority that this device belongs to: its root key's, else that of its certificate.
    private func authority() throws -> Ed25519PublicKey? {
        if let root = try keyPair(id: KeyId.root.rawValue) {
            return CertificateAuthority(masterKey: root.privateKey).publicKey
        }
        return try storedMessage()?.authority
    }

    func hasValidCertificate() throws -> Bool {
        guard let message = try storedMessage() else { return false }
        return try message.publicKey == peerKey().publicKey && message.isInForce(at: now())
            && authority() == message.authority
    }

    /// Throws unless the certificate may be installed here.
    func check(_ message: CertificateMessage) throws {
        guard try message.publicKey == peerKey().publicKey else { throw RunarKeychainError.notForThisDevice }
        if let authority = try self.authority() {
            guard authority == message.authority else { throw RunarKeychainError.foreignAuthority }
        } else {
            guard try storedRequest() != nil else { throw RunarKeychainError.notAskedFor }
        }
        guard message.isInForce(at: now()) else { throw RunarKeychainError.notInForce }
    }

    /// Stores a certificate that was checked; the request is answered.
    func install(_ message: CertificateMessage) throws {
        try storePublic(message.binary, id: Self.certificateId)
        try keys.delete(id: Self.requestId)
    }

    func issue(for request: CertificateRequest, until end: Date?) throws -> CertificateMessage {
        let authority = CertificateAuthority(masterKey: try rootKey().privateKey)
        let seconds = try end.map { try UnixTime.seconds(of: $0) } ?? now() + CertificateAuthority.standardLifeSeconds
        var random = SystemRandomNumberGenerator()
        return try Self.readable { try authority.issue(for: request, until: seconds, using: &random) }
    }

    /// Runs `body` and translates certificate errors to ``RunarKeychainError``.
    static func readable<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as NodeCertificateError {
            throw RunarKeychainError.badCertificate("\(error)")
        }
    }
}
