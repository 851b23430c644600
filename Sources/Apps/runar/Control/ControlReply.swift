/// What the node answers: any number of updates, then one result or failure.
enum ControlReply: Codable, Sendable {
    case update(ControlUpdate)
    /// The JSON of the report that the request asks for.
    case result(String)
    case failure(CommandFailure)
}

/// Something that happens before a request is done.
enum ControlUpdate: Codable, Hashable, Sendable {
    /// A listener is registered: nothing is missed from now on.
    case listening(ListeningReport)
    case message(MessageReport)
    case fileOffered(FileOfferReport)
    case fileArrived(FileArrivedReport)
    case transferred(count: UInt64, total: UInt64)
    case event(EventReport)
    /// A subscription is there: nothing is missed from now on.
    case subscribed(SubscribedReport)
    /// An event of a topic.
    case published(TopicEventReport)
    /// A service is offered from now on.
    case serving(ServingReport)
    /// Somebody asks it something.
    case called(CallReport)
    /// Whoever asked does not wait any more.
    case callEnded(Int)
    /// The invitation can be shown.
    case invited(InvitationReport)
    case joinRequested(JoinRequestReport)
    case joinPending(JoinPendingReport)
    /// A browser can be started.
    case consoleLink(ConsoleLinkReport)
    /// A device of the local network can be paired.
    case pairing(PairingReport)
}
