internal import Foundation
package import Identity
internal import Node
internal import RunarNode

// One scan instead of two texts.
extension RequestHandler {
    /// Shows an invitation, has whoever comes with it confirmed, and returns who was admitted.
    ///
    /// The invitation is taken back when anything else ends this.
    package func invite(_ terms: InvitationTerms, _ tell: @escaping Tell) async throws -> AdmissionReport {
        let network = try resolve(NetworkName(terms.network.base64Encoded))
        if let label = terms.label { try NameRule.check(label) }
        let events = node.eventStream
        let invitation = try node.invite(
            to: network.networkId,
            addresses: terms.addresses.isEmpty ? nil : terms.addresses
        )
        defer { node.withdraw(invitation.id) }
        guard !invitation.addresses.isEmpty else {
            throw CommandFailure(
                "no-address",
                .unavailable,
                "this machine has no address that another device could dial: say one with --address IP:PORT"
            )
        }
        let course = InvitationCourse(
            node: node,
            desk: joins,
            terms: terms,
            invitation: invitation,
            network: network,
            tell: tell
        )
        return try await course.run(events)
    }

    /// Becomes a member by an invitation; the digits are told while its person decides.
    package func join(by invitation: Invitation, _ tell: @escaping Tell) async throws -> JoinReport {
        let (digits, queue) = AsyncStream.makeStream(of: String.self)
        let isConnected = try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                defer { queue.finish() }
                return try await self.node.join(by: invitation) { queue.yield($0) }.isConnected
            }
            for await digits in digits {
                await tell(.joinPending(JoinPendingReport(invitation, digits)))
            }
            return try await group.next() ?? false
        }
        var report = try joinReport(of: invitation.networkId)
        report.isConnected = isConnected
        return report
    }
}
