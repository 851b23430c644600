internal import Identity
internal import TestSupport

@testable internal import IssuerStore

extension IssuerStore {
    /// The name of the file in tests.
    static let fileName = "issuer.sqlite"

    static func open(_ directory: TemporaryDirectory) throws -> IssuerStore {
        try IssuerStore(path: directory.file(fileName))
    }

    /// Takes tokens; returns the number that remains, or that a refusal states, and whether the call was refused.
    func attempt(
        _ count: Int,
        of allowance: Int,
        for entitlement: Bytes32,
        in epoch: UInt64 = 2_900
    ) async throws -> (remaining: Int, isRefused: Bool) {
        do throws(IssuerStoreError) {
            return (try await take(count, of: allowance, for: entitlement, in: epoch), false)
        } catch {
            guard case .allowanceUsed(let remaining) = error else { throw error }
            return (remaining, true)
        }
    }
}

extension Bytes32 {
    /// The hash of an entitlement's id, which no other number has.
    static func entitlement(_ number: UInt8) -> Bytes32 { Bytes32(sha256: [number]) }
}
