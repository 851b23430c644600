internal import CommandModel
internal import Foundation
internal import IdentityServer
internal import Logging

/// The identity server, and the load on it or on another server with the same four requests.
enum IdentitySide {
    private static let connectionCount = 64
    /// The time for which a run at half load lasts.
    private static let halfLoadSeconds = 5.0

    /// Serves a data directory until the input of the process ends.
    static func serve(_ folder: String) async throws {
        let configuration = try IdentityServerConfiguration(
            SettingValues(
                flags: [
                    .port: ["0"], .rpId: [BenchPasskey.rpId], .origin: [BenchPasskey.origin],
                    .requestLimits: [IdentitySetting.off],
                ],
                environment: { _ in nil },
                file: [:],
                named: "identity.json"
            )
        )
        let server = try IdentityServer(configuration, directory: folder, logger: Logger(label: "runar-bench"))
        Output.endWithInput()
        try await server.run { port in Output.result(["id": "identity", "address": "127.0.0.1:\(port)"]) }
    }

    /// The count of registrations, then of sign-ins with their passkeys.
    struct Load {
        let registrations: Int
        let signIns: Int

        init(_ words: ArraySlice<String>) throws {
            let counts = words.compactMap { Int($0) }
            guard counts.count == 2, counts.allSatisfy({ $0 > 0 }) else {
                throw BenchError("usage: identity client ADDRESS REGISTRATIONS SIGN-INS")
            }
            (registrations, signIns) = (counts[0], counts[1])
        }
    }

    /// Registers and signs in as fast as the server answers, and then at half of that.
    static func measure(_ address: String, _ load: Load) throws {
        guard let port = address.split(separator: ":").last.flatMap({ UInt16($0) }) else {
            throw BenchError("no port in \(address)")
        }
        let passkeys = try (0..<load.registrations).map { try BenchPasskey(number: $0) }
        let client = try LoadClient(port: port, connectionCount: connectionCount)
        let registered = try client.run(passkeys.map { BenchPasskey.Registration(passkey: $0) })
        let signIns = (0..<load.signIns).map { BenchPasskey.SignIn(passkey: passkeys[$0 % passkeys.count]) }
        let signedIn = try client.run(signIns)

        let signInRate = signedIn.perSecond / 2
        let signInCount = min(Int(signInRate * halfLoadSeconds) + 1, load.signIns)
        let calm = try client.run(Array(signIns.prefix(signInCount)), perSecond: signInRate)
        let registrationRate = registered.perSecond / 2
        let registrationCount = min(Int(registrationRate * halfLoadSeconds) + 1, load.registrations)
        let numbers = load.registrations..<(load.registrations + registrationCount)
        let further = try numbers.map { BenchPasskey.Registration(passkey: try BenchPasskey(number: $0)) }
        let growth = try client.run(further, perSecond: registrationRate)
        Output.result([
            "registrations": registered.perSecond, "registrationClient": registered.ownCores,
            "registrationP99": growth.latencies.milliseconds(below: 0.99),
            "registrationP50": growth.latencies.milliseconds(below: 0.5),
            "signIns": signedIn.perSecond, "signInClient": signedIn.ownCores,
            "signInP99": calm.latencies.milliseconds(below: 0.99),
            "signInP50": calm.latencies.milliseconds(below: 0.5),
            "fullSignInP99": signedIn.latencies.milliseconds(below: 0.99),
        ])
    }
}
