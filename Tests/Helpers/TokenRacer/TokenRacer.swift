internal import Bytes
internal import Foundation
internal import GatewayStore
internal import Identity

/// A gateway process for tests, which spends tokens until a test kills it.
///
/// `TokenRacer race <path>` reads numbers, spends the token of each and prints the outcome. `TokenRacer redeem <path> <first>
/// <ends>` redeems the tokens from `first` on for leases that end then, and prints the number of each.
@main struct TokenRacer {
    private static let epoch: UInt64 = 7

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 3 else { exit(64) }
        let store = try GatewayStore(path: arguments[2])
        switch arguments[1] {
        case "race":
            try print("ready")
            while let number = readLine().flatMap({ Int($0) }) {
                try print(try await store.spend(digest("token \(number)"), epoch: epoch).rawValue)
            }
        case "redeem":
            guard arguments.count == 5, var number = Int(arguments[3]), let ends = UInt64(arguments[4]) else {
                exit(64)
            }
            while true {
                let request = LeaseRequest(
                    clientKey: digest("client \(number)"),
                    presharedKey: SecretBytes(copying: digest("secret \(number)").bytes),
                    ends: ends,
                    unconfirmedEnds: ends
                )
                _ = try await store.redeem(digest("token \(number)"), epoch: epoch, request)
                try print("\(number)")
                number += 1
            }
        default: exit(64)
        }
        try store.close()
    }

    private static func digest(_ text: String) -> Bytes32 { Bytes32(sha256: Array(text.utf8)) }

    private static func print(_ line: String) throws {
        try FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
    }
}
