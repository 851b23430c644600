internal import Bytes
internal import Foundation
internal import Identity
internal import RegistrationModel
internal import TestSupport
internal import Testing
internal import WebAuthn

@Suite("Forms of the registration") struct FormTests {
    private static let did = "did:key:zDnaerx9CtbPJ1q36T5Ln5wYt3MQYeGRG5ehnPAmxcf5mDZpv"
    private static let proof = Base64URL.encode([UInt8](repeating: 7, count: 64))

    private let assertion = AuthenticationResponse(
        rawId: [1, 2],
        clientDataJSON: Array("{}".utf8),
        authenticatorData: [3],
        signature: [4],
        userHandle: [5]
    )

    private func read<Value: Decodable>(_ json: String, as type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: Data(json.utf8))
    }

    private func members(of value: some Encodable) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(value))
        return try #require(object as? [String: Any])
    }

    private func checkRoundTrip<Value: Codable & Equatable>(_ value: Value, members names: [String]) throws {
        #expect(try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value)) == value)
        #expect(try members(of: value).keys.sorted() == names.sorted())
    }

    private static func registration(
        handle: String = "alice",
        did: String = did,
        proof: String = proof
    ) -> String {
        """
        {"id":"AQI","rawId":"AQI","type":"public-key","authenticatorAttachment":"platform",
         "response":{"clientDataJSON":"e30","attestationObject":"oA","transports":["internal"],"publicKey":"AA"},
         "clientExtensionResults":{"credProps":{"rk":true},"other":1},
         "handle":"\(handle)","did":"\(did)","didProof":"\(proof)","unknown":[]}
        """
    }

    @Test func `a registration is one object with the members of the response`() throws {
        let form: RegisterForm = try read(Self.registration())
        #expect(form.response.rawId == [1, 2])
        #expect(form.response.clientDataJSON == Array("{}".utf8))
        #expect(form.response.attestationObject == [0xA0])
        #expect(form.response.transports == ["internal"])
        #expect(form.handle.text == "alice" && form.did.description == Self.did)
        #expect(form.didProof.signature == [UInt8](repeating: 7, count: 64))
        let names = ["id", "rawId", "type", "response", "clientExtensionResults", "handle", "did", "didProof"]
        try checkRoundTrip(form, members: names)
    }

    @Test func `a registration with a wrong value is refused with the rule of that value`() throws {
        #expect(throws: HandleError.capitalLetter("A")) {
            try read(Self.registration(handle: "Alice"), as: RegisterForm.self)
        }
        #expect(throws: HandleError.reserved("admin")) {
            try read(Self.registration(handle: "admin"), as: RegisterForm.self)
        }
        #expect(throws: DIDKeyError.ed25519) {
            let did = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"
            return try read(Self.registration(did: did), as: RegisterForm.self)
        }
        #expect(throws: DIDProofError.wrongLength(found: 63)) {
            let proof = Base64URL.encode([UInt8](repeating: 7, count: 63))
            return try read(Self.registration(proof: proof), as: RegisterForm.self)
        }
    }

    @Test func `a query reads the flat shape`() throws {
        let query: RegisterQuery = try read(#"{"handle":"alice","did":"\#(Self.did)","shape":"flat"}"#)
        #expect(query.shape == .flat)
        try checkRoundTrip(query, members: ["handle", "did", "shape"])
        try checkRoundTrip(RegisterQuery(handle: query.handle, did: query.did), members: ["handle", "did"])
        #expect(throws: DecodingError.self) {
            try read(#"{"handle":"alice","did":"\#(Self.did)","shape":"round"}"#, as: RegisterQuery.self)
        }
    }

    private static let creation = """
        {"publicKey":{"rp":{"id":"localhost","name":"Runar"},
         "user":{"id":"C588Xn4A","name":"alice","displayName":"alice"},"challenge":"AAEC",
         "pubKeyCredParams":[{"type":"public-key","alg":-7}],"timeout":300000,"excludeCredentials":[],
         "authenticatorSelection":{"residentKey":"required","requireResidentKey":true,"userVerification":"required"},
         "attestation":"none","extensions":{"credProps":true}}}
        """

    @Test func `the flat challenge repeats two values of the options`() throws {
        let report: CreationOptionsReport = try read(Self.creation)
        let flat = FlatChallenge(report.publicKey)
        #expect(flat.challenge == "AAEC" && flat.userID == "C588Xn4A")
        try checkRoundTrip(flat, members: ["challenge", "userID"])
        try checkRoundTrip(report, members: ["publicKey"])
    }

    @Test func `the options of an authentication are in publicKey`() throws {
        let report: RequestOptionsReport = try read(
            #"{"publicKey":{"challenge":"AAEC","timeout":1,"rpId":"localhost","userVerification":"required"}}"#
        )
        #expect(report.publicKey.challenge == [0, 1, 2])
        try checkRoundTrip(report, members: ["publicKey"])
        try checkRoundTrip(
            assertion as AuthenticateForm,
            members: ["id", "rawId", "type", "response", "clientExtensionResults"]
        )
    }

    @Test func `a session's report prints without its token`() throws {
        let report = try SignedInReport(
            userId: UserId(text: "0b9f3c5e-7a41-4f0e-9d52-6c1a8e2b7f30"),
            handle: QualifiedHandle("alice.arkavo.social"),
            did: DIDKey(Self.did),
            token: "TDFMsecret",
            expires: 1_800_000_000,
            session: UniqueId(text: "a1b2c3d4-e5f6-4789-8abc-def012345678")
        )
        try checkRoundTrip(report, members: ["userId", "handle", "did", "token", "expires", "session"])
        var dumped = ""
        dump(report, to: &dumped)
        for text in ["\(report)", String(reflecting: report), dumped, "\([report])"] {
            #expect(!text.contains("TDFMsecret"))
            #expect(text.contains("SignedInReport(alice.arkavo.social, token: redacted)"))
        }
        let values = try members(of: report)
        #expect(values["token"] as? String == "TDFMsecret" && values["expires"] as? Int == 1_800_000_000)
    }

    @Test func `a program signs in to an account whose handle was reserved later`() throws {
        let form: BeginCeremonyForm = try read(#"{"purpose":"authenticate","handle":"admin"}"#)
        #expect(form.handle?.text == "admin")
        try checkRoundTrip(form, members: ["purpose", "handle"])
        try checkRoundTrip(BeginCeremonyForm(purpose: .authenticate), members: ["purpose"])
        #expect(throws: HandleError.capitalLetter("A")) {
            try read(#"{"purpose":"authenticate","handle":"Admin"}"#, as: BeginCeremonyForm.self)
        }
        let registration = try BeginCeremonyForm(
            purpose: .register,
            handle: Handle("alice"),
            did: DIDKey(Self.did),
            challenge: "AAEC",
            didProof: DIDProof(text: Self.proof)
        )
        try checkRoundTrip(registration, members: ["purpose", "handle", "did", "challenge", "didProof"])
    }

    @Test func `the report of a ceremony prints without its secret`() throws {
        let report = CeremonyReport(id: "a1", secret: "hidden", number: "123456", link: "https://a/a1", expires: 1)
        try checkRoundTrip(report, members: ["id", "secret", "number", "link", "expires"])
        var dumped = ""
        dump(report, to: &dumped)
        for text in ["\(report)", String(reflecting: report), dumped, "\([report])"] {
            #expect(!text.contains("hidden"))
            #expect(text.contains("CeremonyReport(a1, secret: redacted)"))
        }
    }

    @Test func `passkeys carry their ids in base64url`() throws {
        let zero = try UniqueId(text: "00000000-0000-0000-0000-000000000000")
        let passkey = PasskeyReport(
            id: CredentialId([0xFB, 0xFF]),
            label: "phone",
            created: 1,
            lastUsed: 2,
            transports: ["internal", "hybrid"],
            isBackedUp: true,
            isBackupEligible: true,
            aaguid: zero
        )
        #expect(try members(of: passkey)["id"] as? String == "-_8")
        let names = ["id", "label", "created", "lastUsed", "transports", "isBackedUp", "isBackupEligible", "aaguid"]
        try checkRoundTrip(passkey, members: names)
        try checkRoundTrip(PasskeysReport(passkeys: [passkey]), members: ["passkeys"])
        try checkRoundTrip(RemovePasskeyForm(id: passkey.id, assertion: assertion), members: ["id", "assertion"])
        try checkRoundTrip(DeleteAccountForm(assertion: assertion), members: ["assertion"])
        try checkRoundTrip(RevokeForm(everywhere: true), members: ["everywhere"])
        #expect(try read("{}", as: RevokeForm.self).everywhere == nil)
        try checkRoundTrip(ResolveReport(did: DIDKey(Self.did)), members: ["did"])
    }

    @Test func `an id of a passkey has 1 to 1023 bytes`() throws {
        #expect(throws: BytesError.invalidLength(0)) { try CredentialId(text: "") }
        let longest = Base64URL.encode([UInt8](repeating: 1, count: 1023))
        #expect(try CredentialId(text: longest).bytes.count == 1023)
        #expect(throws: BytesError.tooLong(limit: 1364, found: 1366)) {
            try CredentialId(text: Base64URL.encode([UInt8](repeating: 1, count: 1024)))
        }
        #expect(throws: BytesError.self) { try CredentialId(text: "-_8=") }
    }

    @Test func `no JSON crashes the readers`() {
        neverCrash(onTexts: [Self.registration(), Self.creation], rounds: 1_000) { text in
            _ = try? read(text, as: CreationOptionsReport.self)  // most are refused
            _ = try read(text, as: RegisterForm.self)
        }
    }
}
