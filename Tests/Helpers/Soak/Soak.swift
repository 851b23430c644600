internal import Foundation
internal import RunarNode

/// Twenty processes that work together for a while: requests, events, records, and members that leave, crash and join.
///
/// `Soak SECONDS` conducts: it starts the members, replaces one every other second, prints a line now and then and a
/// table at the end, and fails when an answer was wrong or a process grew. `Soak member TICKET SEED…` is one member.
@main struct Soak {
    static func main() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        do {
            if words.first == "member", words.count >= 2 {
                try await Member.run(Ticket(text: words[1]), seeds: Array(words.dropFirst(2)))
            } else if words.count == 1, let seconds = Int(words[0]), seconds >= 20 {
                let isGood = try await Conductor(seconds: seconds).run()
                exit(isGood ? 0 : 1)
            } else {
                throw SoakError("usage: Soak SECONDS (at least 20) | Soak member TICKET SEED…")
            }
        } catch {
            FileHandle.standardError.write(Data("soak: \(error)\n".utf8))
            exit(1)
        }
    }
}

/// The reason why a run has no result.
struct SoakError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The network key of a run, with which each member signs its own token.
struct Ticket {
    let network: Ed25519KeyPair

    var networkId: NetworkId { NetworkId(publicKey: network.publicKey) }
    var text: String { network.privateKey.rawRepresentation.base64EncodedString() }

    init() { network = deriveNetworkKey(masterKey: generateMasterKey(), networkIndex: 0) }

    init(text: String) throws {
        guard let raw = Data(base64Encoded: text) else { throw SoakError("no ticket: \(text)") }
        network = Ed25519KeyPair(privateKey: try Ed25519PrivateKey(rawRepresentation: raw))
    }
}

/// The figures of a member so far, reported in a line each second.
struct Figures: Codable, Sendable {
    var requests = 0
    /// Requests that failed although a provider was available.
    var failures = 0
    var events = 0
    var published = 0
    var puts = 0
    var gets = 0
    /// Wrong answers, events and records.
    var wrong = 0
    var lastWrong = ""
    var lastFailure = ""
    var residentKibibytes = 0

    mutating func add(_ other: Figures) {
        requests += other.requests
        failures += other.failures
        events += other.events
        published += other.published
        puts += other.puts
        gets += other.gets
        wrong += other.wrong
        if !other.lastWrong.isEmpty { lastWrong = other.lastWrong }
        if !other.lastFailure.isEmpty { lastFailure = other.lastFailure }
    }
}
