/// Something that happens before a request is done; a line of the answer.
package enum NodeUpdate: Hashable, Sendable {
    /// A listener is registered: nothing is missed from now on.
    case listening(ListeningReport)
    /// A message; its sender learns that it is delivered when the listener confirms this number.
    case message(MessageReport, delivery: Int)
    case fileOffered(FileOfferReport)
    case offerEnded(OfferEndedReport)
    case fileArrived(FileArrivedReport)
    case fileFailed(FileFailedReport)
    case transferred(count: UInt64, total: UInt64)
    case event(EventReport)
    /// A subscription is active: no later event is missed.
    case subscribed(SubscribedReport)
    /// An event of a topic.
    case published(TopicEventReport)
    /// A service is offered from now on.
    case serving(ServingReport)
    /// A request to the offered service.
    case called(CallReport)
    /// The caller of a request has stopped waiting.
    case callEnded(Int)
    /// The invitation can be shown.
    case invited(InvitationReport)
    case joinRequested(JoinRequestReport)
    case joinPending(JoinPendingReport)
    /// The circle as it is: nothing that changes it is missed from now on.
    case circle(CircleReport)
    /// A thought arrived, or its delivery advanced.
    case thought(ThoughtReport)
    /// A registration or a sign-in advanced.
    case account(AccountStepReport)
    /// A browser can be started.
    case consoleLink(ConsoleLinkReport)
    /// A device of the local network can be paired.
    case pairing(PairingReport)
}
