internal import Bytes
internal import ExitModel
internal import Identity
internal import TestSupport

/// Documents that a program in another language wrote and signed, and X-Wing values of a third implementation.
struct ExitVectors: Decodable {
    struct Document: Decodable {
        let json: String
        let payload: String
    }

    struct XWing: Decodable {
        let seed: String
        let publicKey: String
        let encapsulated: String
        let secret: String
    }

    let now: UInt64
    let operatorSeed: String
    let gatewaySeeds: [String]
    let documents: [String: Document]
    let directory: String
    let form: String
    let report: String
    let xWing: XWing

    static func load() throws -> ExitVectors { try vectors(named: "ExitModel/exit.json") }

    func document(_ name: String) throws -> Document {
        guard let document = documents[name] else { throw MissingVector(name: name) }
        return document
    }

    var operatorKey: Ed25519PrivateKey {
        get throws { try Ed25519PrivateKey(rawRepresentation: Hex.decode(operatorSeed)) }
    }

    var gatewayKeys: [Ed25519PrivateKey] {
        get throws { try gatewaySeeds.map { try Ed25519PrivateKey(rawRepresentation: Hex.decode($0)) } }
    }

    func roster() throws -> ExitRoster {
        try SignedDocument<ExitRoster>(json: Array(document("roster").json.utf8))
            .roster(of: operatorKey.publicKey, at: now)
    }

    func description(_ name: String) throws -> GatewayDescription {
        try SignedDocument<GatewayDescription>(json: Array(document(name).json.utf8))
            .description(listedIn: roster(), at: now)
    }
}

/// A name that the file of vectors lacks.
struct MissingVector: Error {
    let name: String
}

extension GatewayDescription {
    /// Returns the description with another time, key or exit.
    func with(time: UInt64? = nil, gateway: Ed25519PublicKey? = nil, exit: ExitName? = nil) throws -> GatewayDescription
    {
        try GatewayDescription(
            gateway: gateway ?? self.gateway,
            exit: exit ?? self.exit,
            location: location,
            place: place,
            redemptionURL: redemptionURL,
            keyDigest: keyDigest,
            certificate: certificate,
            time: time ?? self.time,
            isDraining: isDraining
        )
    }
}
