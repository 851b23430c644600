internal import Foundation
internal import Identity
internal import Node
internal import RunarNode

// One scan instead of two texts.
extension RequestHandler {
    /// Shows an invitation, has whoever comes with it confirmed, and returns who was admitted.
    ///
    /// The invitation is taken back when anything else ends this.
    func invite(_ terms: ControlRequest.Inviting, _ reply: @escaping Reply) async throws -> AdmissionReport {
        let network = try resolve(NetworkName(resolveOwned(terms.network).base64Encoded))
        if let label = terms.label { try NameRule.check(label) }
        let given = try terms.addresses.map { try Settings.address($0) }
        let events = node.eventStream
        let invitation = try node.invite(to: network.networkId, addresses: given.isEmpty ? nil : given)
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
            reply: reply
        )
        return try await course.run(events)
    }

    /// Becomes a member by an invitation; the digits are told while its person decides.
    func join(by text: SecretText, _ reply: @escaping Reply) async throws -> JoinReport {
        let invitation = try Invitation(text: text.text)
        let (digits, queue) = AsyncStream.makeStream(of: String.self)
        let isConnected = try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                defer { queue.finish() }
                return try await self.node.join(by: invitation) { queue.yield($0) }.isConnected
            }
            for await digits in digits {
                await reply(.update(.joinPending(JoinPendingReport(invitation, digits))))
            }
            return try await group.next() ?? false
        }
        var report = try joinReport(of: invitation.networkId)
        report.isConnected = isConnected
        return report
    }
}
