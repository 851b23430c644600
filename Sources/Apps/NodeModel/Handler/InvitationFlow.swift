internal import CommandModel
internal import Foundation
package import Identity
internal import Node
internal import RunarNode

/// The person's answer to a join request.
package struct JoinAnswer: Sendable {
    let isAllowed: Bool
    /// Nil for the label in the invitation.
    var label: String?
    /// The duration of the membership in seconds; nil for the duration in the invitation.
    var lifeSeconds: UInt64?

    package init(isAllowed: Bool, label: String? = nil, lifeSeconds: UInt64? = nil) {
        self.isAllowed = isAllowed
        self.label = label
        self.lifeSeconds = lifeSeconds
    }
}

/// The terms of an invitation.
package struct InvitationTerms: Sendable {
    let network: NetworkId
    /// The addresses that the joiner dials; the node's own if there are none.
    let addresses: [SocketAddress]
    /// The duration of the membership; nil for no end.
    let lifeSeconds: UInt64?
    let label: String?
    /// Whether the first joiner is admitted without a question.
    let isPreallowed: Bool

    package init(
        network: NetworkId,
        addresses: [SocketAddress],
        lifeSeconds: UInt64?,
        label: String?,
        isPreallowed: Bool
    ) {
        self.network = network
        self.addresses = addresses
        self.lifeSeconds = lifeSeconds
        self.label = label
        self.isPreallowed = isPreallowed
    }
}

/// Follows one invitation from its display to its end: the join requests, the person's answers, the admission.
struct InvitationFlow: Sendable {
    /// A member that was just admitted connects well within this; it may also be done with the network at once.
    private static let arrivalPatience = Duration.seconds(30)

    private enum Step: Sendable {
        case event(NodeEvent)
        case answered(JoinAnswer)
        case isLate
    }

    let node: RunarNode
    let pendingRequests: PendingRequests<JoinAnswer>
    let terms: InvitationTerms
    let invitation: Invitation
    let network: NetworkInfo
    let tell: RequestHandler.Tell

    /// Returns the admitted peer; `events` began before the invitation did.
    ///
    /// - Throws: ``CommandFailure`` when the invitation or the request ended without an admission.
    func run(_ events: AsyncStream<NodeEvent>) async throws -> AdmissionReport {
        await tell(.invited(InvitationReport(invitation, networkName: network.name)))
        let (steps, queue) = AsyncStream.makeStream(of: Step.self)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                for await event in events where concerns(event) { queue.yield(.event(event)) }
            }
            var request: JoinRequest?
            var label = terms.label
            let number = pendingRequests.add { queue.yield(.answered($0)) }
            defer { pendingRequests.remove(number) }
            for await step in steps {
                switch step {
                case .event(.joinRequested(let found)):
                    request = found
                    await tell(.joinRequested(JoinRequestReport(found, number, terms.isPreallowed)))
                    if terms.isPreallowed { try pendingRequests.answer(number, JoinAnswer(isAllowed: true)) }
                case .event(let event):
                    if let report = try await evaluate(event, request, label) { return report }
                case .answered(let answer):
                    guard let request else { continue }
                    label = answer.label ?? label
                    try pass(on: answer, about: request, label)
                    guard answer.isAllowed else { continue }
                    // A joiner that was a member before is connected already.
                    if isConnected(request) { return admission(of: request, label) }
                    group.addTask {
                        try await Task.sleep(for: Self.arrivalPatience)
                        queue.yield(.isLate)
                    }
                case .isLate: if let request { return admission(of: request, label) }
                }
            }
            throw CancellationError()
        }
    }

    private func concerns(_ event: NodeEvent) -> Bool {
        switch event {
        case .joinRequested(let request): request.invitation == invitation.id
        case .invitationEnded(let id, _, _): id == invitation.id
        case .joinRequestEnded(_, let ended, _): ended == network.networkId
        case .peerJoined(_, let joined): joined == network.networkId
        case .refused(_, nil, _): true
        default: false
        }
    }

    /// Handles an event: returns the admission, throws the failure, or passes the event on to the person.
    private func evaluate(_ event: NodeEvent, _ request: JoinRequest?, _ label: String?) async throws
        -> AdmissionReport?
    {
        switch event {
        case .invitationEnded(_, _, let reason): throw CommandFailure(ofInvitation: reason)
        case .joinRequestEnded(let peer, _, let reason):
            if peer == request?.peer { throw CommandFailure(ofRequest: reason) }
        case .peerJoined(let peer, _):
            if let request, peer == request.peer { return admission(of: request, label, isConnected: true) }
        default: await tell(.event(EventReport(event)))
        }
        return nil
    }

    private func pass(on answer: JoinAnswer, about request: JoinRequest, _ label: String?) throws {
        // From the consent on, not from the invitation on.
        let now = node.clock.now().wallSeconds
        try node.answer(
            request,
            allow: answer.isAllowed,
            expiration: (answer.lifeSeconds ?? terms.lifeSeconds).map { UnixTime.date($0, after: now) },
            label: label
        )
    }

    private func isConnected(_ request: JoinRequest) -> Bool {
        node.connectedPeers(in: network.networkId).contains(request.peer)
    }

    private func admission(of request: JoinRequest, _ label: String?, isConnected: Bool? = nil) -> AdmissionReport {
        AdmissionReport(
            networkId: network.networkId.base64Encoded,
            name: network.name,
            peerId: request.peer.base64Encoded,
            label: label,
            digits: request.digits,
            isConnected: isConnected ?? self.isConnected(request)
        )
    }
}

extension CommandFailure {
    /// Creates the failure of an invitation that was shown and admitted no joiner.
    fileprivate init(ofInvitation reason: JoinFailure) {
        switch reason {
        case .expired:
            self.init(
                "invitation-expired",
                .tryAgain,
                "no device used the invitation within its ten minutes: make a new one"
            )
        case .burnt:
            self.init(
                "invitation-burnt",
                .notPermitted,
                "five wrong proofs ended the invitation: make a new one. If that happens again, someone is guessing the"
                    + " secret"
            )
        case .used:
            self.init(
                "revoked",
                .notPermitted,
                "a revoked device used the invitation, which cannot be used again: that device needs a new key"
                    + " (`runar keys renew-device` there)"
            )
        default:
            self.init("invitation-withdrawn", .tryAgain, "the invitation was taken back: make a new one")
        }
    }

    /// Creates the failure of a joiner that waited for consent and was not admitted.
    fileprivate init(ofRequest reason: JoinFailure) {
        let rest = "the invitation is used up, make a new one"
        switch reason {
        case .declined:
            self.init("declined", .notPermitted, "declined: no device was admitted, and \(rest) for another device")
        case .undecided:
            self.init(
                "join-undecided",
                .tryAgain,
                "the question was not answered within two minutes, so the joiner was declined; \(rest)"
            )
        case .gone: self.init("joiner-gone", .unavailable, "the joiner disconnected before it was admitted; \(rest)")
        case .revoked:
            self.init(
                "revoked",
                .notPermitted,
                "the joiner was revoked meanwhile: it can join only with a new key (`runar keys renew-device` there)"
            )
        default: self.init("invitation-withdrawn", .tryAgain, "the invitation was taken back: make a new one")
        }
    }
}
