internal import Identity

/// Decides which handshake messages are worth four agreements of keys (the paper, section 5.3).
///
/// While more handshakes arrive than ``WireGuardInterface/Limits/handshakesPerSecond``, or while the caller reports load,
/// a message needs the second code, which only a sender that receives at its address can make, and each source has a
/// budget. The replies with cookies have a budget too: a flood that exceeds it costs one hash for each message.
struct HandshakeLoad: Sendable {
    /// The result for one message.
    enum Verdict: Equatable, Sendable {
        case process
        case replyWithCookie
        case drop
    }

    /// The time for which a measured load lasts.
    private static let duration = Duration.seconds(1)

    private let rate: RateLimit
    private let sourceRate: RateLimit
    private let replyRate: RateLimit
    private var handshakes = TokenBucket()
    private var replies = TokenBucket()
    private var sources: RecentlyUsed<IPAddress, TokenBucket>
    private var loadedUntil = Duration.zero
    /// Whether the caller reports load.
    var isReported = false

    init(limits: WireGuardInterface.Limits) {
        rate = RateLimit(perSecond: limits.handshakesPerSecond, atOnce: limits.handshakesAtOnce)
        sourceRate = RateLimit(perSecond: limits.handshakesPerSourcePerSecond, atOnce: limits.handshakesPerSourceAtOnce)
        replyRate = RateLimit(perSecond: limits.cookieRepliesPerSecond, atOnce: limits.cookieRepliesPerSecond)
        sources = RecentlyUsed(limit: limits.handshakeSources)
    }

    /// The sources with an entry.
    var sourceCount: Int { sources.count }

    /// Whether messages need the second code.
    func isLoaded(at now: Duration) -> Bool { isReported || now < loadedUntil }

    /// Counts a message with a valid first code.
    mutating func judge(from source: IPAddress, at now: Duration, hasValidSecondCode: () -> Bool) -> Verdict {
        if !handshakes.take(under: rate, at: now) { loadedUntil = now + Self.duration }
        guard isLoaded(at: now) else { return .process }
        guard hasValidSecondCode() else {
            return replies.take(under: replyRate, at: now) ? .replyWithCookie : .drop
        }
        // The host may have many addresses: an IPv6 block counts as one source.
        let host = AddressSource(source).host
        var bucket = sources[host] ?? TokenBucket()
        let isAllowed = bucket.take(under: sourceRate, at: now)
        sources[host] = bucket
        return isAllowed ? .process : .drop
    }
}
